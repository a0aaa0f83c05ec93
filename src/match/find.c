/* find.c - `barcode find CLIP LIBRARY` and `barcode find --same LIBRARY`. */
#include <stdlib.h>
#include <string.h>

#include "barcode/base/interrupt.h"
#include "barcode/base/log.h"
#include "barcode/batch/batch_run.h"
#include "command.h"
#include "find_library.h"
#include "find_print.h"
#include "find_same.h"
#include "find_votes.h"

enum { KEY_SAME = COMMAND_OWN, KEY_JSON };

static const struct argp_option options[] = {
    {"same", KEY_SAME, NULL, 0, "list the films of a library that share their sound", 1},
    {"json", KEY_JSON, NULL, 0, "print JSON", 1},
    {0}};

struct find_options {
    bool same, json;
};

static bool set_option(void *user, int key, const char *arg, struct err *e)
{
    struct find_options *o = user;
    (void)arg;
    (void)e;
    if (key == KEY_SAME)
        o->same = true;
    else
        o->json = true;
    return true;
}

static const struct command command = {
    "find", "CLIP LIBRARY...\n--same LIBRARY...",
    "Finds by its sound which film of a library a clip is from, and when. With --same, finds the "
    "films of a library that share their sound. The sound of each film is read once and kept in "
    "the cache.",
    options, set_option};

struct find {
    struct find_options options;
    struct command_line line;
    struct command_batch clip;
    struct film_sound sound; /* the clip's */
    struct find_library library;
    int status; /* of a worker process, or of the batch */
};

/* Reads the clip's sound. A state is returned as find_library_open does. */
static enum find_library_state read_clip(struct find *f, struct err *e)
{
    struct command_batch *b = &f->clip;
    if (!command_batch_open(b, &f->line, f->line.word, 1, NULL, e))
        return FIND_LIBRARY_FAILED;
    b->options.sound_only = true;
    if (!inputs_expand(&b->options, &b->in, e))
        return FIND_LIBRARY_FAILED;
    if (b->in.count != 1) {
        err_set(e, ERR_USAGE, "'%s' is a folder; find needs one clip", f->line.word[0]);
        return FIND_LIBRARY_FAILED;
    }
    f->status = batch_render(&b->options, &b->in);
    if (batch_run_is_worker() || f->status != 0)
        return FIND_LIBRARY_WORKER;
    if (find_library_sound(b, 0, &f->sound) && f->sound.peaks > 0)
        return FIND_LIBRARY_READY;
    err_set(e, ERR_FAILED, "'%s' has no sound by which it could be found", b->in.path[0]);
    return FIND_LIBRARY_FAILED;
}

static bool print_best(const struct find *f, const struct find_result *r, struct err *e)
{
    if (r->best.votes < r->needed)
        return err_set(e, ERR_FAILED,
                       "'%s' is from none of the %zu films with sound (score %u, needed %u)",
                       f->clip.in.path[0], f->library.known, r->best.votes, r->needed);
    return find_print_place(f->library.batch.in.path[r->best.film], r, f->options.json, e);
}

/* Looks the clip up. A damaged index is made again, once. */
static enum find_library_state look_up(struct find *f, struct err *e)
{
    struct find_result r;
    struct err first = ERR_INIT;
    struct find_library *l = &f->library;
    if (!find_clip(&l->index, &f->sound, &r, &first)) {
        enum find_library_state state = FIND_LIBRARY_FAILED;
        if (first.code == ERR_INPUT)
            state = find_library_mend(l, &f->status, e);
        else
            *e = first;
        if (state != FIND_LIBRARY_READY || !find_clip(&l->index, &f->sound, &r, e))
            return state == FIND_LIBRARY_READY ? FIND_LIBRARY_FAILED : state;
    }
    return print_best(f, &r, e) ? FIND_LIBRARY_READY : FIND_LIBRARY_FAILED;
}

static enum find_library_state find_clip_in(struct find *f, struct err *e)
{
    if (f->line.words < 2) {
        err_set(e, ERR_USAGE, "find needs a clip and a library; usage: barcode find CLIP LIBRARY");
        return FIND_LIBRARY_FAILED;
    }
    enum find_library_state state = read_clip(f, e);
    if (state == FIND_LIBRARY_READY)
        state = find_library_open(&f->library, &f->line, f->line.word + 1, f->line.words - 1,
                                  &f->status, e);
    return state == FIND_LIBRARY_READY ? look_up(f, e) : state;
}

static enum find_library_state find_same_in(struct find *f, struct err *e)
{
    struct find_same same = {0};
    if (f->line.words < 1) {
        err_set(e, ERR_USAGE, "find --same needs a library; usage: barcode find --same LIBRARY");
        return FIND_LIBRARY_FAILED;
    }
    enum find_library_state state =
        find_library_open(&f->library, &f->line, f->line.word, f->line.words, &f->status, e);
    if (state != FIND_LIBRARY_READY)
        return state;
    bool ok = find_same_films(&f->library, &same, e) &&
              find_print_same(&same, f->library.batch.in.path, f->options.json, e);
    find_same_free(&same);
    return ok ? FIND_LIBRARY_READY : FIND_LIBRARY_FAILED;
}

int command_find(int argc, char **argv)
{
    struct err e = ERR_INIT;
    struct find f = {.sound = {.stream = -1}};
    enum command_result parsed = command_parse(&command, argc, argv, &f.options, &f.line, &e);
    enum find_library_state state = FIND_LIBRARY_READY;
    if (parsed == COMMAND_RUN)
        state = f.options.same ? find_same_in(&f, &e) : find_clip_in(&f, &e);
    find_library_close(&f.library);
    command_batch_close(&f.clip);
    film_sound_free(&f.sound);
    command_line_free(&f.line);
    if (state == FIND_LIBRARY_WORKER)
        return f.status;
    return e.code != ERR_NONE ? err_report(&e) : 0;
}
