/* find.c - `barcode find CLIP LIBRARY` and `barcode find --same LIBRARY`. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "find.h"
#include "output/formats/json.h"

static bool end_output(FILE *out, bool ok, struct err *e)
{
    if (ok && fflush(out) == 0 && !ferror(out))
        return true;
    return err_set(e, ERR_FAILED, "cannot write to stdout: %s", strerror(errno ? errno : EIO));
}

/* ---- JSON ---- */

static json_t *seconds_value(int64_t us) { return json_real((double)us / 1e6); }

/* Returns the thousandths that are shared: parts of two films differ by some hundredths of a
 * second. */
static int64_t share(int64_t part, int64_t all)
{
    int64_t thousandths = all > 0 ? (2000 * part + all) / (2 * all) : 0;
    return thousandths < 1000 ? thousandths : 1000;
}

static json_t *share_value(int64_t part, int64_t all)
{
    return json_real((double)share(part, all) / 1000);
}

static int64_t common_of_b(const struct find_same_pair *p)
{
    return p->common_us * p->speed_den / p->speed_num;
}

static bool print_value(FILE *out, json_t *value, struct err *e)
{
    if (!value)
        return err_memory(e, 1);
    errno = 0;
    bool ok = json_dumpf(value, out, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) == 0 &&
              fputc('\n', out) != EOF;
    json_decref(value);
    return end_output(out, ok, e);
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
        json_object_set_new(best, "speed", json_pack("[ii]", r->speed.num, r->speed.den)) == 0;
    for (size_t i = 1; i < r->found; i++)
        ok = ok && json_array_append_new(others, place_value(&r->place[i], path)) == 0;
    if (json_object_set_new(best, "others", others) == 0 && ok)
        return best;
    json_decref(best);
    return NULL;
}

static bool print_places(FILE *out, const struct find_result *r, char *const *path, bool json,
                         struct err *e)
{
    char start[TEXT_CLOCK], speed[64] = "";
    bool ok = true;
    if (json)
        return print_value(out, places_value(r, path), e);
    if (r->speed.num != r->speed.den)
        snprintf(speed, sizeof speed, ", at %d/%d of its speed", r->speed.num, r->speed.den);
    errno = 0;
    for (size_t i = 0; ok && i < r->found; i++) {
        const struct find_place *p = &r->place[i];
        text_clock((int64_t)p->sixteenth * 2000, TEXT_HOURS, true, start);
        ok = fprintf(out, "%s (score %" PRIu32 "%s)  ", start, p->votes, speed) > 0 &&
             put_path(out, path[p->film]);
    }
    return end_output(out, ok, e);
}

static json_t *pair_value(const struct find_same_pair *p, char *const *path)
{
    return json_pack("{so so so so so s[ii]}", "a", writer_json_bytes(path[p->a]), "b",
                     writer_json_bytes(path[p->b]), "common", seconds_value(p->common_us), "of_a",
                     share_value(p->common_us, p->a_us), "of_b",
                     share_value(common_of_b(p), p->b_us), "speed", p->speed_num, p->speed_den);
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
    fprintf(out, "  %s in common", common);
    if (p->speed_num != p->speed_den)
        fprintf(out, ", at %d/%d of the speed", p->speed_num, p->speed_den);
    fprintf(out, "\n   %5.1f %% of  ", (double)share(p->common_us, p->a_us) / 10);
    if (!put_path(out, path[p->a]))
        return false;
    fprintf(out, "   %5.1f %% of  ", (double)share(common_of_b(p), p->b_us) / 10);
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
    return end_output(out, ok, e);
}

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
static bool read_clip(struct find *f, struct err *e)
{
    if (!find_library_open(&f->clip, &f->options, f->options.plan.inputs.argument, 1, false, e))
        return false;
    if (f->clip.films.in.count != 1)
        return err_set(e, ERR_USAGE, "'%s' is a folder; find needs one clip",
                       f->options.plan.inputs.argument[0]);
    if (!find_library_each(&f->clip, NULL, keep_sound, f, &f->status, e) || f->status != 0)
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
    if (r->found == 0 && f->wanted.json && !print_places(stdout, r, path, true, e))
        return false;
    if (r->found == 0)
        return err_set(e, ERR_FAILED,
                       "'%s' is from no film of the library (%zu film%s, score %u, needed %u)",
                       f->clip.films.in.path[0], f->library.known, f->library.known == 1 ? "" : "s",
                       r->place[0].votes, r->needed);
    return find_refine_offsets(r, &f->sound, load_sound, f, e) &&
           print_places(stdout, r, path, f->wanted.json, e);
}

/* Looks the clip up. What is damaged of the index is made again, once. */
static bool look_up(struct find *f, char *const *word, size_t words, struct err *e)
{
    for (int tries = 0;; tries++) {
        struct find_result r;
        struct err reason = ERR_INIT;
        if (!find_library_index(&f->library, word, words, &f->status, e))
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
        if (reason.code != ERR_INPUT || tries > 0) {
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
    return read_clip(f, e) && find_library_open(&f->library, &f->options, word, words, true, e) &&
           look_up(f, word, words, e);
}

static bool find_same_in(struct find *f, struct err *e)
{
    struct find_same same = {0};
    if (f->options.plan.inputs.count < 1)
        return err_set(e, ERR_USAGE,
                       "find --same needs a library; usage: barcode find --same LIBRARY");
    if (!find_library_open(&f->library, &f->options, f->options.plan.inputs.argument,
                           f->options.plan.inputs.count, true, e))
        return false;
    bool ok = find_same_films(&f->library, &same, &f->status, e);
    if (ok && same.pairs == 0)
        log_msg(LOG_INFO, "no films of the library share their sound");
    ok = ok && print_same(stdout, &same, f->library.films.in.path, f->wanted.json, e);
    find_same_free(&same);
    return ok;
}

static int command_find(int argc, char **argv)
{
    struct err e = ERR_INIT;
    struct find f = {0};
    if (cli_parse_command(&find_command, argc, argv, &f.wanted, &f.options, &e) == CLI_RUN)
        (void)(f.wanted.same ? find_same_in(&f, &e) : find_clip_in(&f, &e));
    find_library_close(&f.library);
    find_library_close(&f.clip);
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
