#include "find_same.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "match/align/align_path.h"

/* ---- Sound ---- */

/* Peaks that are farther apart have silence between them. */
enum { PAUSE_MOST_US = 2000000 };

/* Returns how long a film sounds within the parts of a map that both films have; in b if `of_b`. */
static int64_t sounding_us(const struct film_sound *sound, const struct align_map *map, bool of_b)
{
    int64_t sum = 0;
    for (size_t i = 1, k = 0; i < sound->peaks; i++) {
        int64_t from = (int64_t)sound->point[i - 1].frame * ALIGN_FRAME_US;
        int64_t to = (int64_t)sound->point[i].frame * ALIGN_FRAME_US;
        if (to - from > PAUSE_MOST_US)
            continue;
        for (size_t j = k; j < map->segments; j++) {
            const struct align_segment *g = &map->segment[j];
            int64_t begin = of_b ? g->b_from_us : g->a_from_us;
            int64_t end = of_b ? g->b_to_us : g->a_to_us;
            if (begin >= to)
                break;
            k = end <= from ? j + 1 : k;
            if (g->kind == ALIGN_BOTH && end > from)
                sum += (end < to ? end : to) - (begin > from ? begin : from);
        }
    }
    return sum;
}

/* Returns how long a film sounds. */
static int64_t all_sounding_us(const struct film_sound *sound)
{
    struct align_segment all = {.kind = ALIGN_BOTH, .a_to_us = INT64_MAX};
    return sounding_us(sound, &(struct align_map){.segment = &all, .segments = 1}, false);
}

/* Returns the thousandths that are shared. */
static int share(int64_t part, int64_t all)
{
    return all > 0 ? (int)((2000 * part + all) / (2 * all)) : 0;
}

bool find_same_sound(const struct film_sound *a, const struct film_sound *b,
                     struct find_same_pair *p, bool *found, struct err *e)
{
    struct align_sound first = {a->point, a->peaks, a->samples, a},
                       second = {b->point, b->peaks, b->samples, b};
    struct align_map map;
    bool ok = align_map_make(&first, &second, &map, e);
    p->common_us = ok ? sounding_us(a, &map, false) : 0;
    p->of_a = ok ? share(p->common_us, all_sounding_us(a)) : 0;
    p->of_b = ok ? share(sounding_us(b, &map, true), all_sounding_us(b)) : 0;
    p->speed_num = map.speed_num;
    p->speed_den = map.speed_den;
    *found = map.score >= ALIGN_SCORE_LEAST && p->common_us > 0;
    align_map_free(&map);
    return ok;
}

/* ---- Bytes ---- */

bool find_same_bytes(const char *a, const char *b)
{
    static char x[1 << 16], y[sizeof x];
    FILE *f = file_open_regular(a), *g = file_open_regular(b);
    size_t n = 0, m = 0;
    bool same = f && g;
    while (same && !interrupted() && (n = fread(x, 1, sizeof x, f)) > 0) {
        m = fread(y, 1, sizeof y, g);
        same = m == n && memcmp(x, y, n) == 0;
    }
    same = same && n == 0 && !ferror(f);
    if (f)
        fclose(f);
    if (g)
        fclose(g);
    return same;
}
