/*
 * find.c - `barcode find CLIP LIBRARY` and `barcode find --same LIBRARY`: the films of a library,
 * their index, the films that share sound, and the output.
 */
#include "find.h"
#include "find_same.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/film_id.h"
#include "base/interrupt.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "barcode/sound/spectrogram.h"
#include "match/match.h"
#include "output/formats/json.h"

/* ---- The films of a library ---- */

struct library {
    struct command_films films;
    struct hash128 *id; /* [films.in.count]: of the files as they are now; 0: none */
    bool *has;          /* [films.in.count]: the film is in the index */
    struct find_index index;
    size_t known; /* films that are in the index */
};

/* Films are decoded in parts, so that the cache need not hold the sound of all of them. */
enum { FILMS_AT_ONCE = 256 };

/*
 * Identifies a film by its files as they are, without reading them, and by all that its landmarks
 * depend on.
 */
static struct hash128 identify(const struct library *l, size_t i)
{
    const struct inputs *in = &l->films.in;
    uint64_t part[] = {film_stamp(in->path[i], in->parts[i]), SOUND_VERSION, LANDMARK_FAN,
                       (uint64_t)(int64_t)l->films.options.plan.film.sound_stream};
    return part[0] ? hash_128(part, sizeof part) : (struct hash128){0, 0};
}

/* Lists the films of the files and folders word[words] in an empty library. The caller calls
 * close_library. */
static bool open_library(struct library *l, const struct options *o, char **word, size_t words,
                         bool recursive, struct err *e)
{
    if (!command_films_open(&l->films, o, word, words, recursive, e))
        return false;
    const struct inputs *in = &l->films.in;
    l->id = err_calloc(in->count + 1, sizeof *l->id, e);
    l->has = err_calloc(in->count + 1, sizeof *l->has, e);
    for (size_t i = 0; l->id && i < in->count; i++)
        l->id[i] = identify(l, i);
    return l->id && l->has;
}

typedef bool visit_sound(void *user, size_t i, const struct film_sound *sound, struct err *e);

/* What is called for the sounds of films from `next` on. */
struct walk {
    struct library *library;
    const bool *skip;
    visit_sound *visit;
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

/*
 * Calls `visit` with the sound of each film i for which skip[i] is not set (NULL: all), from the
 * cache or decoded. Films that fail are reported and left out; then *status is not 0. Returns false
 * with `e`, or in a worker process, which must end with *status.
 */
static bool visit_sounds(struct library *l, const bool *skip, visit_sound *visit, void *user,
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
    struct library *l = user;
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

static bool open_index(struct library *l, char *const *word, size_t words, struct err *e)
{
    char folder[PATH_MAX], name[33];
    if (l->index.folder)
        return true;
    if (!cache_options_folder(&l->films.options.plan.cache, folder, sizeof folder))
        return err_set(e, ERR_FAILED, "no folder for a cache; give one with --cache");
    return name_library(name, word, words, e) && find_index_open(&l->index, folder, name, e);
}

/*
 * Opens the index of the library word[words], unless it is open, and adds the films that are not in
 * it. Returns false as visit_sounds.
 */
static bool update_index(struct library *l, char *const *word, size_t words, int *status,
                         struct err *e)
{
    size_t films = l->films.in.count;
    if (!open_index(l, word, words, e) || !find_index_want(&l->index, l->id, films, l->has, e))
        return false;
    bool ok = visit_sounds(l, l->has, add_film, l, status, e);
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

static void close_library(struct library *l)
{
    find_index_close(&l->index);
    command_films_close(&l->films);
    free(l->id);
    free(l->has);
    *l = (struct library){0};
}

/* ---- Films that share their sound: candidates by landmarks.h, compared by align_map.h ---- */

struct find_same {
    struct find_same_pair *pair; /* [pairs] by group, a, b */
    size_t pairs;
};

/*
 * A pair with fewer votes at an offset is not looked at: one for FRAMES_A_VOTE of the shorter film,
 * within these. Other films have up to 5, so that a few short ones are aligned and refused.
 */
enum { VOTES_LEAST = 4, VOTES_MOST = 12, FRAMES_A_VOTE = 937 /* 30 s */ };

struct collect {
    uint64_t *word;
    size_t words, room;
    uint32_t *base; /* [films + 1] of shared_films */
    size_t *film;   /* [films]: which of the library */
    size_t films;
    size_t *silent; /* [silents]: films of the library without peaks */
    size_t silents;
};

static bool add_words(void *user, size_t i, const struct film_sound *sound, struct err *e)
{
    struct collect *c = user;
    uint32_t at = c->base[c->films];
    uint64_t frames = spectrogram_frames(sound->samples);
    if (sound->peaks == 0) {
        c->silent[c->silents++] = i;
        return true;
    }
    if (frames > SHARED_FRAMES_MOST)
        frames = SHARED_FRAMES_MOST;
    if (at + frames > UINT32_MAX || c->films + 1 >= SHARED_FILMS_MOST)
        return err_set(e, ERR_FAILED, "the library is too large to be compared as a whole");
    if (!err_reserve(&c->word, c->words + sound->peaks, &c->room, sizeof *c->word, e))
        return false;
    c->words += shared_words_make(sound->point, sound->peaks, at, c->word + c->words);
    c->film[c->films++] = i;
    c->base[c->films] = at + (uint32_t)frames;
    return true;
}

static bool find_candidates(struct collect *c, struct shared_pair **pair, size_t *pairs,
                            struct err *e)
{
    const struct shared_films films = {c->base, (uint32_t)c->films};
    uint64_t *vote = NULL;
    size_t votes = 0, most = (size_t)(limits_memory() / 4 / sizeof *vote);
    bool ok = shared_votes(c->word, c->words, &films, most, &vote, &votes, e) &&
              shared_pairs(vote, votes, VOTES_LEAST, pair, pairs, e);
    log_msg(LOG_VERBOSE, "%zu films have %zu words and %zu votes; %zu pairs are compared", c->films,
            c->words, votes, *pairs);
    free(vote);
    return ok;
}

/* Returns true if films with so many votes may share a tenth of the shorter one. */
static bool may_share(const struct collect *c, const struct shared_pair *p)
{
    uint32_t a = c->base[p->a + 1] - c->base[p->a], b = c->base[p->b + 1] - c->base[p->b];
    uint32_t needed = (a < b ? a : b) / FRAMES_A_VOTE;
    return p->votes >= (needed < VOTES_MOST ? needed : VOTES_MOST);
}

/* Adds a pair if the sound of both is still in the cache. */
static bool add_pair(const struct library *l, const struct collect *c, struct find_same *s,
                     const struct shared_pair *p, struct err *e)
{
    struct find_same_pair *to = &s->pair[s->pairs];
    struct film_sound x, y;
    bool found = false, loaded;
    size_t a = c->film[p->a], b = c->film[p->b];
    *to = (struct find_same_pair){.a = a < b ? a : b, .b = a < b ? b : a};
    loaded = command_films_sound(&l->films, to->a, &x);
    loaded = command_films_sound(&l->films, to->b, &y) && loaded;
    bool ok = !loaded || find_same_sound(&x, &y, to, &found, e);
    film_sound_free(&x);
    film_sound_free(&y);
    s->pairs += found;
    return ok;
}

/* ---- Films that have the same bytes ---- */

/* Adds pairs of each silent film and the first one that has the same bytes. */
static bool add_identical(const struct library *l, const struct collect *c, struct find_same *s,
                          struct err *e)
{
    const struct inputs *in = &l->films.in;
    for (size_t j = 0; j < c->silents; j++) {
        size_t b = c->silent[j];
        for (size_t i = 0; i < j && !in->parts[b] && in->file[b].regular; i++) {
            size_t a = c->silent[i];
            if (in->parts[a] || in->file[a].bytes != in->file[b].bytes ||
                !find_same_bytes(in->path[a], in->path[b]))
                continue;
            s->pair[s->pairs++] = (struct find_same_pair){.a = a < b ? a : b,
                                                          .b = a < b ? b : a,
                                                          .identical = true,
                                                          .of_a = 1000,
                                                          .of_b = 1000,
                                                          .speed_num = 1,
                                                          .speed_den = 1};
            break;
        }
        if (interrupted())
            return interrupt_error(e);
    }
    if (c->silents > 0)
        log_msg(LOG_INFO, "films without sound: %zu, compared by their bytes only", c->silents);
    return true;
}

static size_t root_of(size_t *parent, size_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static int compare_pairs(const void *x, const void *y)
{
    const struct find_same_pair *p = x, *q = y;
    if (p->group != q->group)
        return p->group < q->group ? -1 : 1;
    return p->a != q->a ? (p->a < q->a ? -1 : 1) : (p->b > q->b) - (p->b < q->b);
}

/* Numbers the groups of films that are connected by pairs, by their first films. */
static bool set_groups(struct find_same *s, size_t films, struct err *e)
{
    size_t *parent = err_calloc(films + 1, sizeof *parent, e);
    uint32_t groups = 0, *group = err_calloc(films + 1, sizeof *group, e);
    for (size_t i = 0; parent && i < films; i++)
        parent[i] = i;
    if (s->pairs > 0)
        qsort(s->pair, s->pairs, sizeof *s->pair, compare_pairs);
    for (size_t i = 0; parent && group && i < s->pairs; i++) {
        size_t a = root_of(parent, s->pair[i].a), b = root_of(parent, s->pair[i].b);
        parent[a > b ? a : b] = a < b ? a : b;
    }
    for (size_t i = 0; parent && group && i < s->pairs; i++) {
        size_t root = root_of(parent, s->pair[i].a);
        group[root] = group[root] ? group[root] : ++groups;
        s->pair[i].group = group[root];
    }
    bool ok = parent && group;
    free(parent);
    free(group);
    if (ok && s->pairs > 0)
        qsort(s->pair, s->pairs, sizeof *s->pair, compare_pairs);
    return ok;
}

/* A file of the library. */
struct file_name {
    uint64_t device, inode;
    size_t film;
};

static int compare_files(const void *x, const void *y)
{
    const struct file_name *a = x, *b = y;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return a->film < b->film ? -1 : 1;
}

/* Sets skip[i] of each film whose file has another name before it in the library: a link. */
static bool skip_links(const struct inputs *in, bool *skip, struct err *e)
{
    struct file_name *file = err_calloc(in->count + 1, sizeof *file, e);
    size_t n = 0;
    for (size_t i = 0; file && i < in->count; i++)
        if (in->file[i].regular && !in->parts[i])
            file[n++] = (struct file_name){in->file[i].device, in->file[i].inode, i};
    if (n > 0)
        qsort(file, n, sizeof *file, compare_files);
    for (size_t i = 1; i < n; i++)
        skip[file[i].film] =
            file[i].device == file[i - 1].device && file[i].inode == file[i - 1].inode;
    bool ok = file != NULL;
    free(file);
    return ok;
}

/*
 * Finds the films of which at least a tenth of the shorter one's sound is in the other, and those
 * without sound that are the same. Returns false as visit_sounds. The caller frees s->pair in any
 * case.
 */
static bool find_same_films(struct library *l, struct find_same *s, int *status, struct err *e)
{
    size_t films = l->films.in.count, pairs = 0;
    struct collect c = {.base = err_calloc(films + 1, sizeof *c.base, e),
                        .film = err_calloc(films + 1, sizeof *c.film, e),
                        .silent = err_calloc(films + 1, sizeof *c.silent, e)};
    struct shared_pair *pair = NULL;
    bool *skip = err_calloc(films + 1, sizeof *skip, e);
    bool ok = c.base && c.film && c.silent && skip && skip_links(&l->films.in, skip, e) &&
              visit_sounds(l, skip, add_words, &c, status, e) &&
              find_candidates(&c, &pair, &pairs, e) &&
              (s->pair = err_calloc(pairs + c.silents + 1, sizeof *s->pair, e));
    for (size_t i = 0; ok && i < pairs; i++)
        ok = !may_share(&c, &pair[i]) || add_pair(l, &c, s, &pair[i], e);
    ok = ok && add_identical(l, &c, s, e) && set_groups(s, films, e);
    free(pair);
    free(skip);
    free(c.word);
    free(c.base);
    free(c.film);
    free(c.silent);
    return ok;
}

/* ---- JSON ---- */

static json_t *seconds_value(int64_t us) { return json_real((double)us / 1e6); }

static bool print_value(FILE *out, json_t *value, struct err *e)
{
    if (!value)
        return err_memory(e, 1);
    errno = 0;
    bool ok = json_dumpf(value, out, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) == 0 &&
              fputc('\n', out) != EOF;
    json_decref(value);
    return file_end_stdout(out, ok, e);
}

/* ---- Text ---- */

/* Prints a path made plain, and a newline. */
static bool put_path(FILE *out, const char *path)
{
    char *plain = strdup(path);
    if (plain)
        text_make_plain(plain);
    bool ok = plain && fprintf(out, "%s\n", plain) > 0;
    free(plain);
    return ok;
}

static json_t *place_value(const struct find_place *p, char *const *path)
{
    return json_pack("{so so si}", "film", writer_json_bytes(path[p->film]), "start",
                     seconds_value((int64_t)p->sixteenth * 2000), "score", (int)p->votes);
}

/* The best place, and the others in a list of it; without one, no film. */
static json_t *places_value(const struct find_result *r, char *const *path)
{
    if (r->found == 0)
        return json_pack("{sn si si}", "film", "score", (int)r->place[0].votes, "needed",
                         (int)r->needed);
    json_t *best = place_value(&r->place[0], path), *others = json_array();
    bool ok =
        json_object_set_new(best, "needed", json_integer(r->needed)) == 0 &&
        json_object_set_new(best, "speed",
                            json_pack("[ii]", r->place[0].speed.num, r->place[0].speed.den)) == 0;
    for (size_t i = 1; i < r->found; i++)
        ok = ok && json_array_append_new(others, place_value(&r->place[i], path)) == 0;
    if (json_object_set_new(best, "others", others) == 0 && ok)
        return best;
    json_decref(best);
    return NULL;
}

/* Returns the times [from, to] of a part in the clip. */
static json_t *part_value(const struct find_part *p, char *const *path)
{
    json_t *value = places_value(&p->result, path);
    bool ok =
        value &&
        json_object_set_new(value, "from", seconds_value((int64_t)p->from * ALIGN_FRAME_US)) == 0 &&
        json_object_set_new(value, "to", seconds_value((int64_t)p->to * ALIGN_FRAME_US)) == 0;
    if (ok)
        return value;
    json_decref(value);
    return NULL;
}

/* Prints the films of a result in a line each; with `part`, after its times in the clip. */
static bool put_places(FILE *out, const struct find_result *r, const struct find_part *part,
                       char *const *path)
{
    char start[TEXT_CLOCK], speed[64];
    bool ok = true;
    for (size_t i = 0; ok && i < r->found; i++) {
        const struct find_place *p = &r->place[i];
        *speed = 0;
        if (p->speed.num != p->speed.den)
            snprintf(speed, sizeof speed, ", at %d/%d of its speed", p->speed.num, p->speed.den);
        if (part) {
            text_clock((int64_t)part->from * ALIGN_FRAME_US, TEXT_HOURS, true, start);
            fprintf(out, "%s-", start);
            text_clock((int64_t)part->to * ALIGN_FRAME_US, TEXT_HOURS, true, start);
            fprintf(out, "%s of the clip: ", start);
        }
        text_clock((int64_t)p->sixteenth * 2000, TEXT_HOURS, true, start);
        ok = fprintf(out, "%s (score %" PRIu32 ", needed %" PRIu32 "%s)  ", start, p->votes,
                     r->needed, speed) > 0 &&
             put_path(out, path[p->film]);
    }
    return ok;
}

/* A clip with more than one part has their places instead of its own; in JSON, beside it. */
static bool print_places(FILE *out, const struct find_result *r, const struct find_part *part,
                         size_t parts, char *const *path, bool json, struct err *e)
{
    bool ok = true;
    if (json) {
        json_t *value = places_value(r, path), *list = json_array();
        for (size_t i = 0; ok && parts > 1 && i < parts; i++)
            ok = json_array_append_new(list, part_value(&part[i], path)) == 0;
        ok = (!part || json_object_set_new(value, "parts", json_incref(list)) == 0) && ok;
        json_decref(list);
        if (!ok) {
            json_decref(value);
            value = NULL;
        }
        return print_value(out, value, e);
    }
    errno = 0;
    if (parts < 2)
        ok = put_places(out, r, NULL, path);
    for (size_t i = 0; ok && parts > 1 && i < parts; i++)
        ok = put_places(out, &part[i].result, &part[i], path);
    return file_end_stdout(out, ok, e);
}

static json_t *pair_value(const struct find_same_pair *p, char *const *path)
{
    return json_pack("{so so so sf sf s[ii] sb}", "a", writer_json_bytes(path[p->a]), "b",
                     writer_json_bytes(path[p->b]), "common", seconds_value(p->common_us), "of_a",
                     p->of_a / 1000.0, "of_b", p->of_b / 1000.0, "speed", p->speed_num,
                     p->speed_den, "identical", p->identical);
}

static bool print_pairs_json(FILE *out, const struct find_same *s, char *const *path, struct err *e)
{
    json_t *groups = json_array(), *group = NULL;
    bool ok = groups != NULL;
    for (size_t i = 0; ok && i < s->pairs; i++) {
        if (i == 0 || s->pair[i].group != s->pair[i - 1].group) {
            group = json_array();
            ok = json_array_append_new(groups, group) == 0;
        }
        ok = ok && json_array_append_new(group, pair_value(&s->pair[i], path)) == 0;
    }
    json_t *all = ok ? json_pack("{so}", "groups", groups) : NULL;
    if (!ok)
        json_decref(groups);
    return print_value(out, all, e);
}

static bool print_pair(FILE *out, const struct find_same_pair *p, char *const *path)
{
    char common[TEXT_CLOCK];
    text_clock(p->common_us, TEXT_HOURS, true, common);
    if (p->identical)
        fputs("  identical files, without sound", out);
    else
        fprintf(out, "  %s in common", common);
    if (p->speed_num != p->speed_den)
        fprintf(out, ", at %d/%d of the speed", p->speed_num, p->speed_den);
    fprintf(out, "\n   %5.1f %% of  ", p->of_a / 10.0);
    if (!put_path(out, path[p->a]))
        return false;
    fprintf(out, "   %5.1f %% of  ", p->of_b / 10.0);
    return put_path(out, path[p->b]);
}

static bool print_same(FILE *out, const struct find_same *s, char *const *path, bool json,
                       struct err *e)
{
    bool ok = true;
    if (json)
        return print_pairs_json(out, s, path, e);
    errno = 0;
    for (size_t i = 0; ok && i < s->pairs; i++) {
        if (i == 0 || s->pair[i].group != s->pair[i - 1].group)
            fprintf(out, "%sgroup %" PRIu32 "\n", i == 0 ? "" : "\n", s->pair[i].group);
        ok = print_pair(out, &s->pair[i], path);
    }
    return file_end_stdout(out, ok, e);
}

/* ---- The command ---- */

struct find_options {
    bool same, json;
};

#define OPTION_STRUCT struct find_options

static const struct option_row rows[] = {
    {"same", NULL, "list the films of a library that share their sound", .group = 1,
     OPTION_FLAG(same)},
    {"json", NULL, "print JSON", .group = 1, OPTION_FLAG(json)},
    {0}};

struct find {
    struct find_options wanted;
    struct options options;
    struct library clip, library;
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
    f->sound = (struct align_sound){f->peak, sound->peaks, sound->samples, NULL};
    return true;
}

/* Reads the clip's sound. */
static bool read_clip(struct find *f, struct err *e)
{
    if (!open_library(&f->clip, &f->options, f->options.plan.inputs.argument, 1, false, e))
        return false;
    if (f->clip.films.in.count != 1)
        return err_set(e, ERR_USAGE, "'%s' is a folder; find needs one clip",
                       f->options.plan.inputs.argument[0]);
    if (!visit_sounds(&f->clip, NULL, keep_sound, f, &f->status, e) || f->status != 0)
        return false;
    if (f->sound.peaks > 0)
        return true;
    const char *path = f->clip.films.in.path[0];
    if (f->peak)
        return err_set(e, ERR_FAILED, "'%s' has no sound by which it could be found", path);
    return err_set(
        e, ERR_FAILED,
        "cannot read the sound of '%s' from the cache (is it a pipe, or does it change?)", path);
}

static bool load_sound(void *user, uint32_t film, struct film_sound *sound)
{
    const struct find *f = user;
    return command_films_sound(&f->library.films, film, sound);
}

static bool print_found(struct find *f, struct find_result *r, struct err *e)
{
    char *const *path = f->library.films.in.path;
    bool tried = r->found == 0;
    if (tried && !find_by_peaks(r, &f->sound, load_sound, f, e))
        return false;
    if (r->found == 0 && f->wanted.json && !print_places(stdout, r, NULL, 0, path, true, e))
        return false;
    if (r->found == 0)
        return err_set(e, ERR_FAILED,
                       "'%s' is from no film of the library (%zu film%s, score %u, needed %u)",
                       f->clip.films.in.path[0], f->library.known, f->library.known == 1 ? "" : "s",
                       r->place[0].votes, r->needed);
    struct find_part part[FIND_PARTS];
    size_t parts = 0;
    if (!tried && (!find_refine_offsets(r, &f->sound, load_sound, f, e) ||
                   !find_parts(&f->library.index, &f->sound, r, load_sound, f, part, &parts, e)))
        return false;
    return print_places(stdout, r, part, parts, path, f->wanted.json, e);
}

/* Looks the clip up. What is damaged of the index is made again. */
static bool look_up(struct find *f, char *const *word, size_t words, struct err *e)
{
    const int tries_most = 16; /* each may find other damaged files */
    for (int tries = 1;; tries++) {
        struct find_result r;
        struct err reason = ERR_INIT;
        if (!update_index(&f->library, word, words, &f->status, e))
            return false;
        if (f->library.known == 0 && f->status != 0) /* the reason is reported */
            return true;
        if (f->library.known == 0)
            return err_set(e, ERR_FAILED, "there are no films in which to find '%s'",
                           f->clip.films.in.path[0]);
        if (find_clip(&f->library.index, &f->sound, &r, &reason)) {
            f->status = 0;
            return print_found(f, &r, e);
        }
        if (reason.code != ERR_INPUT || tries == tries_most) {
            *e = reason;
            return false;
        }
    }
}

static bool find_clip_in(struct find *f, struct err *e)
{
    char **word = f->options.plan.inputs.argument + 1;
    size_t words = f->options.plan.inputs.count - 1;
    if (f->options.plan.inputs.count < 2)
        return err_set(e, ERR_USAGE,
                       "find needs a clip and a library; usage: barcode find CLIP LIBRARY");
    return read_clip(f, e) && open_library(&f->library, &f->options, word, words, true, e) &&
           look_up(f, word, words, e);
}

static bool find_same_in(struct find *f, struct err *e)
{
    struct find_same same = {0};
    if (f->options.plan.inputs.count < 1)
        return err_set(e, ERR_USAGE,
                       "find --same needs a library; usage: barcode find --same LIBRARY");
    if (!open_library(&f->library, &f->options, f->options.plan.inputs.argument,
                      f->options.plan.inputs.count, true, e))
        return false;
    bool ok = find_same_films(&f->library, &same, &f->status, e);
    if (ok && same.pairs == 0)
        log_msg(LOG_INFO, "no films of the library share their sound");
    ok = ok && print_same(stdout, &same, f->library.films.in.path, f->wanted.json, e);
    free(same.pair);
    return ok;
}

static int command_find(int argc, char **argv)
{
    struct err e = ERR_INIT;
    struct find f = {0};
    if (cli_parse_command(&find_command, argc, argv, &f.wanted, &f.options, &e) == CLI_RUN)
        (void)(f.wanted.same ? find_same_in(&f, &e) : find_clip_in(&f, &e));
    close_library(&f.library);
    close_library(&f.clip);
    free(f.peak);
    return e.code != ERR_NONE ? log_error(&e) : f.status;
}

const struct cli_command find_command = {
    .name = "find",
    .what = "find the film of a clip",
    .run = command_find,
    .args = "CLIP LIBRARY...\n--same LIBRARY...",
    .doc = "Finds by its sound which film of a library a clip is from, and when. The clip may be "
           "sound alone, such as an MP3; 10 seconds are enough. Subfolders are searched, too. The "
           "exit status is 1 if the clip is in no film. With --same, finds the films of a library "
           "that share their sound. The sound of each film is read once and kept in the cache.",
    .row = rows};
