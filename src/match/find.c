/* find.c - `barcode find CLIP LIBRARY` and `barcode find --same LIBRARY`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "batch/batch_run.h"
#include "command.h"
#include "find_library.h"
#include "find_print.h"
#include "find_same.h"
#include "find_settle.h"

enum { KEY_SAME = COMMAND_OWN, KEY_JSON };

const struct argp_option find_options[] = {
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
    "Finds by its sound which film of a library a clip is from, and when. The clip may be "
    "sound alone, such as an MP3; 10 seconds are enough. Subfolders are searched, too. The "
    "exit status is 1 if the clip is in no film. With --same, finds the films of a library that "
    "share their sound. The sound of each film is read once and kept in the cache.",
    find_options, set_option};

struct find {
    struct find_options options;
    struct command_line line;
    struct find_library clip, library;
    struct peak *peak;        /* of the clip */
    struct align_sound sound; /* the same */
    int status;               /* of a worker process, or of the batch */
};

static bool keep_sound(void *user, size_t i, const struct film_sound *sound, struct err *e)
{
    struct find *f = user;
    (void)i;
    f->peak = err_calloc(sound->peaks + 1, sizeof *f->peak, e);
    if (!f->peak)
        return false;
    memcpy(f->peak, sound->point, sound->peaks * sizeof *f->peak);
    f->sound = (struct align_sound){f->peak, sound->peaks, sound->samples};
    return true;
}

/* Reads the clip's sound. */
static enum find_state read_clip(struct find *f, struct err *e)
{
    if (!find_library_open(&f->clip, &f->line, f->line.word, 1, false, e))
        return FIND_FAILED;
    if (f->clip.batch.in.count != 1) {
        err_set(e, ERR_USAGE, "'%s' is a folder; find needs one clip", f->line.word[0]);
        return FIND_FAILED;
    }
    enum find_state state = find_library_each(&f->clip, NULL, keep_sound, f, &f->status, e);
    if (state != FIND_DONE || f->status != 0 || f->sound.peaks > 0)
        return state == FIND_DONE && f->status != 0 ? FIND_FAILED : state;
    const char *path = f->clip.batch.in.path[0];
    if (f->peak)
        err_set(e, ERR_FAILED, "'%s' has no sound by which it could be found", path);
    else
        err_set(e, ERR_FAILED,
                "cannot read the sound of '%s' from the cache (is it a pipe, or does it change?)",
                path);
    return FIND_FAILED;
}

static bool load_sound(void *user, uint32_t film, struct film_sound *sound)
{
    const struct find *f = user;
    return command_batch_sound(&f->library.batch, film, sound);
}

static bool print_found(struct find *f, struct find_result *r, struct err *e)
{
    char *const *path = f->library.batch.in.path;
    if (r->found == 0 && f->options.json && !find_print_places(stdout, r, path, true, e))
        return false;
    if (r->found == 0)
        return err_set(e, ERR_FAILED,
                       "'%s' is from no film of the library (%zu film%s, score %u, needed %u)",
                       f->clip.batch.in.path[0], f->library.known, f->library.known == 1 ? "" : "s",
                       r->place[0].votes, r->needed);
    return find_settle(r, &f->sound, load_sound, f, e) &&
           find_print_places(stdout, r, path, f->options.json, e);
}

/* Looks the clip up. What is damaged of the index is made again, once. */
static enum find_state look_up(struct find *f, char *const *word, size_t words, struct err *e)
{
    for (int tries = 0;; tries++) {
        struct find_result r;
        struct err reason = ERR_INIT;
        enum find_state state = find_library_index(&f->library, word, words, &f->status, e);
        if (state != FIND_DONE)
            return state;
        if (f->library.known == 0) /* the reason is reported */
            return f->status != 0 ||
                           err_set(e, ERR_FAILED, "there are no films in which to find '%s'",
                                   f->clip.batch.in.path[0])
                       ? FIND_DONE
                       : FIND_FAILED;
        if (find_clip(&f->library.index, &f->sound, &r, &reason)) {
            f->status = 0;
            return print_found(f, &r, e) ? FIND_DONE : FIND_FAILED;
        }
        if (reason.code != ERR_INPUT || tries > 0) {
            *e = reason;
            return FIND_FAILED;
        }
    }
}

static enum find_state find_clip_in(struct find *f, struct err *e)
{
    char **word = f->line.word + 1;
    size_t words = f->line.words - 1;
    if (f->line.words < 2) {
        err_set(e, ERR_USAGE, "find needs a clip and a library; usage: barcode find CLIP LIBRARY");
        return FIND_FAILED;
    }
    enum find_state state = read_clip(f, e);
    if (state != FIND_DONE)
        return state;
    return find_library_open(&f->library, &f->line, word, words, true, e)
               ? look_up(f, word, words, e)
               : FIND_FAILED;
}

static enum find_state find_same_in(struct find *f, struct err *e)
{
    struct find_same same = {0};
    if (f->line.words < 1) {
        err_set(e, ERR_USAGE, "find --same needs a library; usage: barcode find --same LIBRARY");
        return FIND_FAILED;
    }
    if (!find_library_open(&f->library, &f->line, f->line.word, f->line.words, true, e))
        return FIND_FAILED;
    enum find_state state = find_same_films(&f->library, &same, &f->status, e);
    if (state == FIND_DONE && same.pairs == 0)
        log_msg(LOG_INFO, "no films of the library share their sound");
    if (state == FIND_DONE &&
        !find_print_same(stdout, &same, f->library.batch.in.path, f->options.json, e))
        state = FIND_FAILED;
    find_same_free(&same);
    return state;
}

int command_find(int argc, char **argv)
{
    struct err e = ERR_INIT;
    struct find f = {0};
    enum command_result parsed = command_parse(&command, argc, argv, &f.options, &f.line, &e);
    enum find_state state = FIND_DONE;
    if (parsed == COMMAND_RUN)
        state = f.options.same ? find_same_in(&f, &e) : find_clip_in(&f, &e);
    find_library_close(&f.library);
    find_library_close(&f.clip);
    command_line_free(&f.line);
    free(f.peak);
    if (state == FIND_WORKER || e.code == ERR_NONE)
        return f.status;
    return log_error(&e);
}
