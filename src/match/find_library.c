#include "find_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/base/file.h"
#include "barcode/base/film_id.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/path.h"
#include "barcode/base/log.h"
#include "barcode/batch/batch_run.h"
#include "barcode/cache/sound_cache.h"

/* Films are decoded and added in parts, so that the cache need not hold the sound of all. */
enum { FILMS_AT_ONCE = 256, SOUND_STREAM = -1 };

/*
 * Identifies a film by its files as they are, without reading them. The index has nothing of films
 * of another definition of peaks.
 */
static struct hash128 identify(const struct inputs *in, size_t i)
{
    uint64_t part[] = {film_stamp(in->path[i], in->parts[i]), SOUND_VERSION, LANDMARK_FAN};
    struct hash128 none = {0, 0};
    return part[0] ? hash_128(part, sizeof part) : none;
}

static bool is_film(const struct find_library *l, size_t i)
{
    const struct inputs *in = &l->batch.in;
    return in->problem[i].code == ERR_NONE && (l->id[i].low || l->id[i].high);
}

/* Returns the beginning of the names of the library's files in the cache: HASH of its folders. */
static bool name_library(char name[33], char *const *word, size_t words, struct err *e)
{
    struct hash_stream *s = hash_stream_open();
    if (!s)
        return err_memory(e, sizeof s);
    for (size_t i = 0; i < words; i++) {
        char *path = realpath(word[i], NULL);
        const char *text = path ? path : word[i];
        hash_stream_add(s, text, strlen(text) + 1);
        free(path);
    }
    hash_hex(hash_stream_end(&s), name);
    return true;
}

static bool open_index(struct find_library *l, char *const *word, size_t words, struct err *e)
{
    char folder[4096], name[33];
    if (!cache_options_folder(&l->batch.options.cache, folder, sizeof folder))
        return err_set(e, ERR_FAILED, "no folder for a cache; give one with --cache");
    return name_library(name, word, words, e) && find_index_open(&l->index, folder, name, e);
}

/* Adds film i to the index. A film without sound is added too, so that it is not read again. */
static bool add_film(struct find_library *l, size_t i, struct err *e)
{
    struct film_sound sound;
    if (!find_library_sound(&l->batch, i, &sound))
        return true;
    uint32_t frames = sound.peaks > 0 ? sound.point[sound.peaks - 1].frame + 1 : 0;
    struct landmark *mark = err_calloc(sound.peaks * LANDMARK_FAN + 1, sizeof *mark, e);
    size_t n = mark ? landmarks_make(sound.point, sound.peaks, true, LANDMARK_FAN, mark) : 0;
    bool ok = mark && find_index_add(&l->index, l->id[i], frames, mark, n, e);
    free(mark);
    film_sound_free(&sound);
    return ok;
}

/* Decodes the films that are to do, of which inputs.duty has a part, and adds them. */
static enum find_library_state add_part(struct find_library *l, int *status, struct err *e)
{
    struct inputs *in = &l->batch.in;
    *status = batch_render(&l->batch.options, in);
    if (batch_run_is_worker())
        return FIND_LIBRARY_WORKER;
    bool ok = !interrupted() || interrupt_error(e);
    for (size_t i = 0; ok && i < in->count; i++)
        if (in->duty[i] == INPUT_TO_DO && is_film(l, i))
            ok = add_film(l, i, e);
    return ok && find_index_save(&l->index, e) ? FIND_LIBRARY_READY : FIND_LIBRARY_FAILED;
}

static enum find_library_state add_missing(struct find_library *l, int *status, struct err *e)
{
    struct inputs *in = &l->batch.in;
    enum find_library_state state = FIND_LIBRARY_READY;
    for (size_t next = 0; state == FIND_LIBRARY_READY && next < in->count;) {
        size_t due = 0;
        for (size_t i = 0; i < in->count; i++) {
            bool take = i >= next && due < FILMS_AT_ONCE && !l->has[i];
            in->duty[i] = take ? INPUT_TO_DO : INPUT_OTHERS;
            due += take;
            if (due == FILMS_AT_ONCE && take)
                next = i + 1;
        }
        if (due < FILMS_AT_ONCE)
            next = in->count;
        if (due > 0)
            state = add_part(l, status, e);
    }
    return state;
}

/* Adds what is missing, and counts what is there. */
static enum find_library_state update(struct find_library *l, int *status, struct err *e)
{
    struct inputs *in = &l->batch.in;
    if (!find_index_want(&l->index, l->id, in->count, l->has, e))
        return FIND_LIBRARY_FAILED;
    enum find_library_state state = add_missing(l, status, e);
    if (state != FIND_LIBRARY_READY)
        return state;
    if (!find_index_want(&l->index, l->id, in->count, l->has, e))
        return FIND_LIBRARY_FAILED;
    l->known = 0;
    for (size_t i = 0; i < in->count; i++)
        l->known += l->has[i];
    return FIND_LIBRARY_READY;
}

enum find_library_state find_library_open(struct find_library *l, const struct command_line *line,
                                          char *const *word, size_t words, int *status,
                                          struct err *e)
{
    static const char *const extra[] = {"-r", NULL};
    *l = (struct find_library){0};
    if (!command_batch_open(&l->batch, line, word, words, extra, e))
        return FIND_LIBRARY_FAILED;
    struct inputs *in = &l->batch.in;
    l->batch.options.sound_only = true;
    if (!inputs_expand(&l->batch.options, in, e))
        return FIND_LIBRARY_FAILED;
    l->id = err_calloc(in->count + 1, sizeof *l->id, e);
    l->has = err_calloc(in->count + 1, sizeof *l->has, e);
    if (!l->id || !l->has)
        return FIND_LIBRARY_FAILED;
    for (size_t i = 0; i < in->count; i++)
        l->id[i] = identify(in, i);
    return open_index(l, word, words, e) ? update(l, status, e) : FIND_LIBRARY_FAILED;
}

bool find_library_sound(const struct command_batch *b, size_t i, struct film_sound *sound)
{
    return sound_cache_load(&b->options.cache, b->in.path[i], b->in.parts[i], SOUND_STREAM, sound);
}

enum find_library_state find_library_mend(struct find_library *l, int *status, struct err *e)
{
    return find_index_check(&l->index, e) ? update(l, status, e) : FIND_LIBRARY_FAILED;
}

void find_library_close(struct find_library *l)
{
    find_index_close(&l->index);
    command_batch_close(&l->batch);
    free(l->id);
    free(l->has);
    *l = (struct find_library){0};
}
