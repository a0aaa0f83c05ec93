#include "find_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/formats/json.h"

static bool end_output(FILE *out, bool ok, struct err *e)
{
    if (ok && fflush(out) == 0 && !ferror(out))
        return true;
    return err_set(e, ERR_FAILED, "cannot write to stdout: %s", strerror(errno ? errno : EIO));
}

/* ---- JSON ---- */

static json_t *seconds(int64_t us) { return json_real((double)us / 1e6); }

/* Returns round(1000 part / all) / 1000. */
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
                     seconds((int64_t)p->sixteenth * 2000), "score", (int)p->votes);
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

bool find_print_places(FILE *out, const struct find_result *r, char *const *path, bool json,
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
                     writer_json_bytes(path[p->b]), "common", seconds(p->common_us), "of_a",
                     share_value(p->common_us, p->a_us), "of_b",
                     share_value(common_of_b(p), p->b_us), "speed", p->speed_num, p->speed_den);
}

static bool print_same_json(FILE *out, const struct find_same *s, char *const *path, struct err *e)
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

bool find_print_same(FILE *out, const struct find_same *s, char *const *path, bool json,
                     struct err *e)
{
    bool ok = true;
    if (json)
        return print_same_json(out, s, path, e);
    errno = 0;
    for (size_t i = 0; ok && i < s->pairs; i++) {
        if (i == 0 || s->pair[i].group != s->pair[i - 1].group)
            fprintf(out, "%sgroup %" PRIu32 "\n", i == 0 ? "" : "\n", s->pair[i].group);
        ok = print_pair(out, &s->pair[i], path);
    }
    return end_output(out, ok, e);
}
