/*
 * align.c - `barcode align A B`: reads the sound of both films through the batch and the cache,
 * makes the map (align_map.h), and their strips if an output shows them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "align.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/path.h"

enum { FILMS = 2, OUTPUTS_MOST = 16 };

struct align {
    const char *path[OUTPUTS_MOST]; /* -o */
    size_t outputs;
    bool exact; /* --exact */
    struct options options;
    struct command_films films;
    struct film_sound sound[FILMS];
    struct align_map map;
    struct align_film film[FILMS];
    int status; /* of a batch that failed, or of a worker process */
};

#define OPTION_STRUCT struct align

static bool set_output(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct align *a = options;
    (void)row;
    if (a->outputs == OUTPUTS_MOST)
        return err_set(e, ERR_USAGE, "-o: at most %d outputs", OUTPUTS_MOST);
    if (!align_format_of(arg))
        return err_set(e, ERR_USAGE, "-o: '%s' does not end in .html, .csv, .edl or .json", arg);
    a->path[a->outputs++] = arg;
    return true;
}

static const struct option_row rows[] = {
    {"output", "FILE",
     ".html: both barcodes on one axis; .csv, .json: the parts; .edl: how B is made of A; may be "
     "repeated (CSV to stdout)",
     'o', .group = 1, OPTION_CUSTOM(set_output)},
    {"exact", NULL, "place edits to the frame, by the pictures around them", .group = 2,
     OPTION_FLAG(exact)},
    {"sound-stream", "N", "stream of sound N, from 0 (the default one)", .group = 2},
    {0}};

/* ---- Sound ---- */

static bool load_sound(struct align *a, int i, struct err *e)
{
    const char *path = a->films.in.path[i];
    if (!command_films_sound(&a->films, (size_t)i, &a->sound[i]))
        return err_set(e, ERR_FAILED,
                       "cannot read the sound of '%s' from the cache (is it a pipe, or does it "
                       "change?)",
                       path);
    if (a->sound[i].stream < 0)
        return err_set(e, ERR_FAILED, "'%s' has no sound", path);
    return true;
}

static bool read_sounds(struct align *a, struct err *e)
{
    struct command_films *f = &a->films;
    if (!command_films_open(f, &a->options, a->options.plan.inputs.argument, FILMS, false, e))
        return false;
    if (f->in.count != FILMS)
        return err_set(e, ERR_USAGE, "align needs two films, not %zu", f->in.count);
    a->status = command_films_render(f, &f->options.plan, true, NULL);
    if (a->status != 0 || batch_is_worker())
        return false;
    return load_sound(a, 0, e) && load_sound(a, 1, e);
}

static struct align_sound sound_of(const struct film_sound *s)
{
    return (struct align_sound){s->point, s->peaks, s->samples, s};
}

static bool make_map(struct align *a, struct err *e)
{
    const struct align_sound first = sound_of(&a->sound[0]), second = sound_of(&a->sound[1]);
    const struct align_map *map = &a->map;
    if (!align_map_make(&first, &second, &a->map, e))
        return false;
    double percent = 100.0 * map->score / ALIGN_SCORE_MOST;
    if (map->score < ALIGN_SCORE_LEAST)
        return err_set(e, ERR_FAILED,
                       "'%s' is another film than '%s': its score is %.1f %%, and versions of a "
                       "film have %.1f %% or more",
                       a->film[1].path, a->film[0].path, percent,
                       100.0 * ALIGN_SCORE_LEAST / ALIGN_SCORE_MOST);
    log_msg(LOG_INFO, "%.1f s of %.1f s and %.1f s in both, speed %d/%d, score %.1f %%",
            (double)map->common_us / 1e6, (double)map->a_us / 1e6, (double)map->b_us / 1e6,
            map->speed_num, map->speed_den, percent);
    return true;
}

/* ---- The command ---- */

/* Refuses what would fail after the films were read. */
static bool check_words(const struct align *a, struct err *e)
{
    if (a->options.plan.inputs.count != FILMS)
        return err_set(e, ERR_USAGE, "align needs two films; usage: barcode align [OPTION...] A B");
    for (size_t i = 0; i < FILMS; i++) {
        struct stat st;
        if (stat(a->options.plan.inputs.argument[i], &st) == 0 && S_ISDIR(st.st_mode))
            return err_set(e, ERR_USAGE, "align needs two films; '%s' is a folder",
                           a->options.plan.inputs.argument[i]);
    }
    for (size_t i = 0; i < a->outputs; i++) {
        char *folder = path_beside(a->path[i], ".", e);
        if (!folder)
            return false;
        bool ok = strcmp(a->path[i], "-") == 0 || access(folder, W_OK) == 0;
        free(folder);
        if (!ok)
            return err_set(e, ERR_FAILED, "cannot write '%s': %s", a->path[i], strerror(errno));
    }
    return true;
}

static bool run(struct align *a, struct err *e)
{
    bool strips = false, rate = a->exact;
    if (!check_words(a, e))
        return false;
    if (a->outputs == 0)
        a->path[a->outputs++] = "-";
    for (size_t i = 0; i < a->outputs; i++) {
        strips |= align_format_of(a->path[i])->strips;
        rate |= align_format_of(a->path[i])->rate;
    }
    for (size_t i = 0; i < FILMS; i++) {
        a->film[i].path = a->options.plan.inputs.argument[i];
        a->film[i].name = align_film_name(a->film[i].path, e);
        if (!a->film[i].name)
            return false;
    }
    if (!read_sounds(a, e) || !make_map(a, e))
        return false;
    if ((strips || rate) && !align_pictures_read(&a->films, strips, a->film, &a->status, e))
        return false;
    if (a->exact && !align_exact(&a->films, a->film, &a->map, &a->status, e))
        return false;
    const struct align_result result = {&a->map, {a->film[0], a->film[1]}};
    for (size_t i = 0; i < a->outputs; i++) {
        if (interrupted())
            return interrupt_error(e);
        if (!align_output_save(align_format_of(a->path[i]), &result, a->path[i], e))
            return false;
    }
    return true;
}

static int command_align(int argc, char **argv)
{
    struct err e = ERR_INIT;
    struct align a = {0};
    if (cli_parse_command(&align_command, argc, argv, &a, &a.options, &e) == CLI_RUN)
        (void)run(&a, &e);
    for (size_t i = 0; i < FILMS; i++) {
        film_sound_free(&a.sound[i]);
        free(a.film[i].png);
        free(a.film[i].name);
    }
    align_map_free(&a.map);
    command_films_close(&a.films);
    return e.code != ERR_NONE ? log_error(&e) : a.status;
}

const struct cli_command align_command = {
    .name = "align",
    .what = "compare two versions of a film",
    .run = command_align,
    .args = "A B",
    .doc = "Aligns two versions of a film by their sound: which times of B are which times of A, "
           "and what only one of them has. A film that is another one is refused (exit status 1).",
    .row = rows,
    .heading = {[1] = "Outputs:", [2] = "Films:"}};
