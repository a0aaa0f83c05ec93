#include "command.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/path.h"
#include "cache/cache_options.h"
#include "cache/sound_cache.h"
#include "cli/cli.h"
#include "cli/cli_explain.h"
#include "match.h"
#include "output/dump.h"

const struct cli_command cli_commands[] = {
    {"align", "compare two versions of a film", command_align, align_options},
    {"find", "find the film of a clip", command_find, find_options},
};
const size_t cli_command_count = sizeof cli_commands / sizeof *cli_commands;

bool command_run(int argc, char **argv, int *status)
{
    for (size_t i = 0; i < cli_command_count; i++)
        if (argc > 1 && strcmp(argv[1], cli_commands[i].name) == 0) {
            interrupt_install();
            *status = cli_commands[i].run(argc, argv);
            return true;
        }
    return false;
}

/* ---- Parsing ---- */

enum { KEY_USAGE = COMMAND_COMMON - 1 };

/* Passed on to cli_parse by their names, which are in its table too. */
const struct argp_option cli_command_options[] = {
    {NULL, 0, NULL, 0, "Run:", 100},
    {"cache", COMMAND_COMMON, "DIR", 0, "cache folder, - for none (~/.cache/barcode)", 0},
    {"no-cache", COMMAND_COMMON + 1, NULL, 0, "do not read or write the cache", 0},
    {"refresh", COMMAND_COMMON + 2, NULL, 0, "decode again and replace what is cached", 0},
    {"cache-limit", COMMAND_COMMON + 3, "SIZE", 0, "limit of the cache", 0},
    {"threads", COMMAND_COMMON + 4, "N", 0, "number of threads (one per core)", 0},
    {"jobs", 'j', "N", 0, "films at once (enough to keep the cores busy)", 0},
    {"memory", COMMAND_COMMON + 5, "SIZE", 0, "memory for all films at once", 0},
    {"film-timeout", COMMAND_COMMON + 6, "TIME", 0, "give up a film that takes longer", 0},
    {"progress", COMMAND_COMMON + 7, "WHEN", 0, "auto (default), always, never", 0},
    {"sandbox", COMMAND_COMMON + 8, "WHEN", 0, "auto (default), require, off", 0},
    {"quiet", 'q', NULL, 0, "print errors only", 0},
    {"verbose", 'v', NULL, 0, "print more; twice for debugging", 0},
    {"help", 'h', NULL, 0, "show these options", -1},
    {"usage", KEY_USAGE, NULL, OPTION_HIDDEN, NULL, 0},
    {0}};

struct parse {
    const struct command *command;
    const struct argp_option *table;
    struct command_line *line;
    void *user;
    struct err *e;
    bool answered;
};

static bool is_answer(int key) { return key == 'h' || key == KEY_USAGE; }

static bool answer(struct parse *p, int key, struct argp_state *state)
{
    enum { WHOLE = ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC };
    char name[32];
    snprintf(name, sizeof name, "barcode %s", p->command->name);
    state->name = name;
    state->flags &= ~(unsigned)ARGP_NO_ERRS; /* argp prints nothing with it */
    p->answered = true;
    errno = 0;
    argp_state_help(state, stdout, key == KEY_USAGE ? ARGP_HELP_USAGE : WHOLE);
    return (fflush(stdout) == 0 && !ferror(stdout)) ||
           err_set(p->e, ERR_FAILED, "cannot write to stdout: %s", strerror(errno ? errno : EIO));
}

/* Keeps "--name=value" for cli_parse. */
static bool pass_on(struct parse *p, const char *name, const char *value)
{
    struct command_line *l = p->line;
    char *word = NULL;
    if (!err_reserve(&l->common, l->commons + 1, &l->room, sizeof *l->common, p->e))
        return false;
    if (asprintf(&word, "--%s%s%s", name, value ? "=" : "", value ? value : "") < 0)
        return err_memory(p->e, strlen(name));
    l->common[l->commons++] = word;
    return true;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct parse *p = state->input;
    const struct argp_option *o;
    bool ok;
    if (key == ARGP_KEY_ARGS) {
        p->line->word = state->argv + state->next;
        p->line->words = (size_t)(state->argc - state->next);
        return 0;
    }
    if (is_answer(key)) {
        (void)answer(p, key, state);
        return ECANCELED;
    }
    if (key == ARGP_KEY_ARG || !(o = cli_find_key(p->table, key)))
        return ARGP_ERR_UNKNOWN;
    if (cli_find_key(p->command->options, key) && key < COMMAND_COMMON)
        ok = p->command->set(p->user, key, arg, p->e);
    else
        ok = pass_on(p, o->name, arg);
    return ok ? 0 : EINVAL;
}

/* Suppresses argp's note about short options, as in cli.c. */
static char *help_filter(int key, const char *text, void *input)
{
    (void)input;
    return key == ARGP_KEY_HELP_DUP_ARGS_NOTE || !text ? NULL : strdup(text);
}

/* Returns the command's options and the common ones; the caller frees the table. */
static struct argp_option *join_tables(const struct command *c, struct err *e)
{
    size_t own = 0, all = sizeof cli_command_options / sizeof *cli_command_options;
    while (c->options[own].name || c->options[own].doc)
        own++;
    struct argp_option *table = err_calloc(own + all, sizeof *table, e);
    if (!table)
        return NULL;
    memcpy(table, c->options, own * sizeof *table);
    memcpy(table + own, cli_command_options, sizeof cli_command_options);
    return table;
}

enum command_result command_parse(const struct command *c, int argc, char **argv, void *user,
                                  struct command_line *line, struct err *e)
{
    *line = (struct command_line){0};
    struct argp_option *table = join_tables(c, e);
    struct parse p = {c, table, line, user, e, false};
    const struct argp argp = {.options = table,
                              .parser = parse_option,
                              .args_doc = c->args,
                              .doc = c->doc,
                              .help_filter = help_filter};
    /* argv[1], the command's name, takes the place of argv[0]. */
    if (!table || !cli_check_words(table, is_answer, argc - 1, argv + 1, e)) {
        free(table);
        return COMMAND_BAD;
    }
    error_t failed =
        argp_parse(&argp, argc - 1, argv + 1, ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT, NULL, &p);
    free(table);
    if (failed == ENOMEM)
        err_memory(e, (size_t)argc * sizeof(char *));
    else if (failed && !p.answered && e->code == ERR_NONE)
        err_set(e, ERR_USAGE, "cannot parse the command line; see barcode %s --help", c->name);
    return e->code != ERR_NONE ? COMMAND_BAD : p.answered ? COMMAND_ANSWERED : COMMAND_RUN;
}

void command_line_free(struct command_line *line)
{
    for (size_t i = 0; i < line->commons; i++)
        free(line->common[i]);
    free(line->common);
    *line = (struct command_line){0};
}

/* ---- The films ---- */

/* Removes the folder of a temporary cache with its files. */
static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (const struct dirent *d; folder && (d = readdir(folder));)
        (void)unlinkat(dirfd(folder), d->d_name, 0);
    if (folder) {
        closedir(folder);
        (void)rmdir(path);
    }
}

/* Makes a temporary cache if the user has none, or wants none. */
static bool choose_cache(struct command_films *f, struct err *e)
{
    struct cache_options *cache = &f->options.cache;
    char folder[PATH_MAX];
    if (!cache->off && cache_options_folder(cache, folder, sizeof folder))
        return true;
    char *made = path_join(dump_scratch_folder(), "barcode-XXXXXX", "", e);
    if (!made)
        return false;
    if (!mkdtemp(made)) {
        err_set(e, ERR_FAILED, "cannot make a folder in '%s': %s", dump_scratch_folder(),
                strerror(errno));
        free(made);
        return false;
    }
    cache->off = false;
    cache->temporary = true;
    cache->folder = f->folder = made;
    return true;
}

/* Parses the options that are passed on, for the films word[words]. */
static bool parse_common(struct command_films *f, const struct command_line *line,
                         char *const *word, size_t words, struct err *e)
{
    size_t n = 1;
    f->argv = err_calloc(1 + line->commons + 1 + words + 1, sizeof *f->argv, e);
    if (!f->argv)
        return false;
    f->argv[0] = (char *)"barcode";
    for (size_t i = 0; i < line->commons; i++)
        f->argv[n++] = line->common[i];
    f->argv[n++] = (char *)"--";
    for (size_t i = 0; i < words; i++)
        f->argv[n++] = word[i];
    return cli_parse((int)n, f->argv, &f->options, e) == CLI_RUN;
}

bool command_films_open(struct command_films *f, const struct command_line *line, char *const *word,
                        size_t words, bool recursive, struct err *e)
{
    *f = (struct command_films){0};
    if (!parse_common(f, line, word, words, e) || !choose_cache(f, e))
        return false;
    f->options.outputs.sound_only = true;
    f->options.inputs.recursive = recursive;
    return inputs_expand(&f->options, &f->in, e);
}

int command_films_render(struct options *o, const struct inputs *in, const struct batch_sink *sink)
{
    bool usual = log_enabled(LOG_INFO) && !log_enabled(LOG_VERBOSE);
    if (usual)
        log_set_level(LOG_WARNING);
    int status = batch_render(o, in, sink);
    if (usual)
        log_set_level(LOG_INFO);
    return status;
}

bool command_films_sound(const struct command_films *f, size_t i, struct film_sound *sound)
{
    const struct options *o = &f->options;
    struct cache_options cache = o->cache;
    cache.refresh = false;
    cache.limit = UINT64_MAX - 1; /* nothing is written; the default would be computed */
    return sound_cache_load(&cache, f->in.path[i], f->in.parts[i], o->film.stream,
                            o->film.sound_stream, sound);
}

void command_films_close(struct command_films *f)
{
    inputs_free(&f->in);
    if (f->folder && !batch_run_is_worker())
        remove_folder(f->folder);
    free(f->folder);
    free(f->argv);
    *f = (struct command_films){0};
}
