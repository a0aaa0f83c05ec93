#include "cli_rows.h"

#include <string.h>

/* Where the options of each room are in struct options. The order is that of the completions. */
static const struct room {
    const struct option_table *table;
    size_t offset;
} rooms[] = {
    {&inputs_options, offsetof(struct options, plan.inputs)},
    {&outputs_options, offsetof(struct options, plan.outputs)},
    {&picture_options, offsetof(struct options, plan.picture)},
    {&poster_options, offsetof(struct options, plan.poster)},
    {&kmeans_options, offsetof(struct options, plan.kmeans)},
    {&film_options, offsetof(struct options, plan.film)},
    {&format_options, offsetof(struct options, plan.formats)},
    {&live_options, offsetof(struct options, live)},
    {&cache_options, offsetof(struct options, plan.cache)},
    {&engine_options, offsetof(struct options, engine)},
    {&batch_options, offsetof(struct options, batch)},
    {&process_options, offsetof(struct options, process)},
};

enum { ROOMS = sizeof rooms / sizeof *rooms };

/* The answers that the program gives instead of reading films. */
static const struct option_row answers[] = {
    {"generate", "KIND", "print complete-bash, complete-zsh, complete-fish", .group = OPTION_ANSWER,
     .words = OPTION_WORDS("complete-bash", "complete-zsh", "complete-fish")},
    {NULL, NULL, "show the most useful options", 'h', OPTION_ANSWER, .common = TASK_OUTPUT},
    {"help", NULL, "show all options", .group = OPTION_ANSWER, .common = TASK_OUTPUT},
    {"version", NULL, "show the versions of barcode and its libraries", 'V',
     .group = OPTION_ANSWER},
    {"usage", NULL, NULL, .group = OPTION_ANSWER, .hidden = true},
    {0}};

/* The options of films that all commands have beside their own. */
static const struct option_row command_rows[] = {
    {"cache", "DIR", "cache folder, - for none (~/.cache/barcode)", .group = OPTION_RUN},
    {"no-cache", NULL, "do not read or write the cache", .group = OPTION_RUN},
    {"refresh", NULL, "decode again and replace what is cached", .group = OPTION_RUN},
    {"cache-limit", "SIZE", "limit of the cache", .group = OPTION_RUN},
    {"threads", "N", "number of threads (one per core)", .group = OPTION_RUN},
    {"jobs", "N", "films at once (enough to keep the cores busy)", .group = OPTION_RUN},
    {"memory", "SIZE", "memory for all films at once", .group = OPTION_RUN},
    {"film-timeout", "TIME", "give up a film that takes longer", .group = OPTION_RUN},
    {"progress", "WHEN", "auto (default), always, never", .group = OPTION_RUN},
    {"sandbox", "WHEN", "auto (default), require, off", .group = OPTION_RUN},
    {"quiet", NULL, "print errors only", .group = OPTION_RUN},
    {"verbose", NULL, "print more; twice for debugging", .group = OPTION_RUN},
    {"help", NULL, "show these options", 'h', .group = OPTION_ANSWER},
    {"usage", NULL, NULL, .group = OPTION_ANSWER, .hidden = true},
    {0}};

static bool is_end(const struct option_row *row) { return !row->name && !row->letter; }

static void add(struct cli_rows *rows, const struct option_row *row, void *options)
{
    if (rows->count < CLI_ROWS_MOST)
        rows->at[rows->count++] = (struct cli_row){.row = *row, .options = options};
}

static void *room_of(struct options *o, size_t i) { return o ? (char *)o + rooms[i].offset : NULL; }

void cli_set_defaults(struct options *o)
{
    *o = (struct options){.plan.kmeans.k = 0};
    for (size_t i = 0; i < ROOMS; i++)
        memcpy(room_of(o, i), rooms[i].table->defaults, rooms[i].table->size);
}

void cli_rows_of_films(struct cli_rows *rows, struct options *o)
{
    rows->count = 0;
    for (int group = OPTION_FILMS; group < OPTION_GROUPS; group++)
        for (size_t i = 0; i < ROOMS; i++)
            for (const struct option_row *row = rooms[i].table->row; !is_end(row); row++)
                if ((int)row->group == group)
                    add(rows, row, room_of(o, i));
    for (const struct option_row *row = answers; !is_end(row); row++)
        add(rows, row, NULL);
}

/* Adds an option of films under this help and in this group. */
static void add_of_films(struct cli_rows *rows, const struct option_row *like, struct options *o)
{
    for (size_t i = 0; i < ROOMS; i++)
        for (const struct option_row *row = rooms[i].table->row; !is_end(row); row++)
            if (row->name && strcmp(row->name, like->name) == 0) {
                struct option_row copy = *row;
                copy.help = like->help;
                copy.group = like->group;
                add(rows, &copy, room_of(o, i));
            }
}

void cli_rows_of_command(struct cli_rows *rows, const struct cli_command *c, void *own,
                         struct options *o)
{
    const struct option_row *const table[] = {c->row, command_rows};
    rows->count = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (const struct option_row *row = table[i]; !is_end(row); row++)
            if (row->size == 0 && !row->set && row->group != OPTION_ANSWER)
                add_of_films(rows, row, o);
            else
                add(rows, row, own);
}

struct cli_row *cli_row_by_letter(struct cli_rows *rows, char letter)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->at[i].row.letter == letter)
            return &rows->at[i];
    return NULL;
}

struct cli_row *cli_row_by_name(struct cli_rows *rows, const char *name, size_t length)
{
    for (size_t i = 0; i < rows->count; i++) {
        const char *known = rows->at[i].row.name;
        if (known && strlen(known) == length && memcmp(known, name, length) == 0)
            return &rows->at[i];
    }
    return NULL;
}

const char *cli_given(const struct cli_rows *rows, const char *name)
{
    for (size_t i = 0; rows && i < rows->count; i++)
        if (rows->at[i].row.name && strcmp(rows->at[i].row.name, name) == 0)
            return rows->at[i].given;
    return NULL;
}
