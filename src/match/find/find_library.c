#include "find.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/film_id.h"
#include "base/interrupt.h"

/* Films are decoded in parts, so that the cache need not hold the sound of all of them. */
enum { FILMS_AT_ONCE = 256 };

/*
 * Identifies a film by its files as they are, without reading them, and by all that its landmarks
 * depend on.
 */
static struct hash128 identify(const struct find_library *l, size_t i)
{
    const struct inputs *in = &l->films.in;
    uint64_t part[] = {film_stamp(in->path[i], in->parts[i]), SOUND_VERSION, LANDMARK_FAN,
                       (uint64_t)(int64_t)l->films.options.plan.film.sound_stream};
    return part[0] ? hash_128(part, sizeof part) : (struct hash128){0, 0};
}

bool find_library_open(struct find_library *l, const struct options *o, char **word, size_t words,
                       bool recursive, struct err *e)
{
    *l = (struct find_library){0};
    if (!command_films_open(&l->films, o, word, words, recursive, e))
        return false;
    const struct inputs *in = &l->films.in;
    l->id = err_calloc(in->count + 1, sizeof *l->id, e);
    l->has = err_calloc(in->count + 1, sizeof *l->has, e);
    for (size_t i = 0; l->id && i < in->count; i++)
        l->id[i] = identify(l, i);
    return l->id && l->has;
}

/* What is called for the sounds of films from `next` on. */
struct walk {
    struct find_library *library;
    const bool *skip;
    find_visit *visit;
    void *user;
    int *status;
    size_t next;
};

/* Visits film i if its sound is in the cache, and sets *found. */
static bool visit_cached(const struct walk *w, size_t i, bool *found, struct err *e)
{
    struct film_sound sound;
    *found = command_films_sound(&w->library->films, i, &sound);
    bool ok = !*found || w->visit(w->user, i, &sound, e);
    film_sound_free(&sound);
    if (ok && interrupted())
        return interrupt_error(e);
    return ok;
}

/* Decodes the films with duty INPUT_TO_DO, and visits them. */
static bool decode_part(const struct walk *w, struct err *e)
{
    struct command_films *films = &w->library->films;
    bool found;
    int status = command_films_render(films, &films->options.plan, false, NULL);
    if (status != 0 || batch_is_worker())
        *w->status = status;
    if (batch_is_worker())
        return false;
    films->options.plan.cache.refresh = false;
    for (size_t i = 0; i < films->in.count; i++)
        if (films->in.duty[i] == INPUT_TO_DO && !visit_cached(w, i, &found, e))
            return false;
    return !interrupted() || interrupt_error(e);
}

/* Visits films that are cached until enough others are known to decode. */
static bool walk_part(struct walk *w, struct err *e)
{
    struct inputs *in = &w->library->films.in;
    bool refresh = w->library->films.options.plan.cache.refresh;
    size_t due = 0;
    for (size_t i = 0; i < in->count; i++)
        in->duty[i] = INPUT_OTHERS;
    for (; w->next < in->count && due < FILMS_AT_ONCE; w->next++) {
        bool found = false;
        if (w->skip && w->skip[w->next])
            continue;
        if (!refresh && in->problem[w->next].code == ERR_NONE &&
            !visit_cached(w, w->next, &found, e))
            return false;
        if (!found) {
            in->duty[w->next] = INPUT_TO_DO;
            due++;
        }
    }
    return due == 0 || decode_part(w, e);
}

bool find_library_each(struct find_library *l, const bool *skip, find_visit *visit, void *user,
                       int *status, struct err *e)
{
    struct walk w = {l, skip, visit, user, status, 0};
    bool ok = true;
    while (ok && w.next < l->films.in.count)
        ok = walk_part(&w, e);
    return ok;
}

/* ---- The index ---- */

/* Hashes the paths of the library's folders. */
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

/* Adds a film to the index; also one without sound, so that it is not read again. */
static bool add_film(void *user, size_t i, const struct film_sound *sound, struct err *e)
{
    struct find_library *l = user;
    size_t peaks = sound->peaks;
    while (peaks > 0 && sound->point[peaks - 1].frame > FIND_FRAMES_MOST + LANDMARK_DT_MOST)
        peaks--; /* of no landmark that the index takes */
    uint32_t frames = peaks > 0 ? sound->point[peaks - 1].frame + 1 : 0;
    struct landmark *mark = err_calloc(peaks * LANDMARK_FAN + 1, sizeof *mark, e);
    if (!mark)
        return false;
    size_t n = landmarks_make(sound->point, peaks, true, LANDMARK_FAN, mark);
    struct hash128 id = l->id[i];
    bool ok = (!id.low && !id.high) || find_index_add(&l->index, id, frames, mark, n, e);
    free(mark);
    return ok;
}

/* Opens the index, or the second time removes what is damaged of it. */
static bool open_index(struct find_library *l, char *const *word, size_t words, struct err *e)
{
    char folder[PATH_MAX], name[33];
    if (l->index.folder)
        return find_index_check(&l->index, e);
    if (!cache_options_folder(&l->films.options.plan.cache, folder, sizeof folder))
        return err_set(e, ERR_FAILED, "no folder for a cache; give one with --cache");
    return name_library(name, word, words, e) && find_index_open(&l->index, folder, name, e);
}

bool find_library_index(struct find_library *l, char *const *word, size_t words, int *status,
                        struct err *e)
{
    size_t films = l->films.in.count;
    if (!open_index(l, word, words, e) || !find_index_want(&l->index, l->id, films, l->has, e))
        return false;
    bool ok = find_library_each(l, l->has, add_film, l, status, e);
    if (batch_is_worker())
        return false;
    /* also after an interruption: what is known need not be decoded again */
    struct err unsaved = ERR_INIT;
    if (!find_index_save(&l->index, &unsaved) && ok) {
        *e = unsaved;
        return false;
    }
    if (!ok)
        return false;
    find_index_has(&l->index, l->has);
    l->known = 0;
    for (size_t i = 0; i < films; i++)
        l->known += l->has[i];
    return true;
}

void find_library_close(struct find_library *l)
{
    find_index_close(&l->index);
    command_films_close(&l->films);
    free(l->id);
    free(l->has);
    *l = (struct find_library){0};
}
