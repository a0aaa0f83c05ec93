/*
 * find_parts.c - a clip that spans a cut: the part that its best place explains, and what is before
 * and after it, which is looked up as clips of its own.
 */
#include "find.h"

#include <stdlib.h>

enum {
    LEAST_FRAMES = 156, /* of a part: 5 s */
    /*
     * A shared peak wins, each other one loses 1. At its place a clip shares a seventh or more, at
     * any other a thirtieth.
     */
    SHARED = 10
};

struct search {
    struct find_index *index;
    const struct align_sound *clip;
    find_load *load;
    void *user;
    struct find_part *part;
    size_t *parts;
};

/* Copies frames [from, to) of the clip. Returns false if out of memory; the caller frees *peak. */
static bool cut_clip(const struct align_sound *clip, uint32_t from, uint32_t to, struct peak **peak,
                     struct align_sound *out, struct err *e)
{
    *peak = err_calloc(clip->peaks + 1, sizeof **peak, e);
    *out = (struct align_sound){.peak = *peak, .samples = (uint64_t)(to - from) * SPECTROGRAM_HOP};
    for (size_t i = 0; *peak && i < clip->peaks; i++)
        if (clip->peak[i].frame >= from && clip->peak[i].frame < to) {
            (*peak)[out->peaks] = clip->peak[i];
            (*peak)[out->peaks++].frame -= from;
        }
    return *peak != NULL;
}

static uint32_t unscale(uint32_t frame, struct align_speed speed)
{
    return (uint32_t)((uint64_t)frame * speed.den / speed.num);
}

/* Finds the frames [*from, *to) of the clip that win most at a place; none if its film is gone. */
static bool explain(const struct search *s, const struct align_sound *clip,
                    const struct find_place *place, uint32_t *from, uint32_t *to, struct err *e)
{
    static const struct align_speed own = {1, 1, false};
    struct film_sound film;
    struct align_peaks a = {0}, b = {0};
    int64_t sum = 0, most = 0;
    uint32_t begin = 0;
    *from = *to = 0;
    if (!s->load(s->user, place->film, &film))
        return true;
    const struct align_sound whole = {film.point, film.peaks, film.samples, NULL};
    bool ok = align_peaks_make(&whole, false, own, &a, e) &&
              align_peaks_make(clip, false, place->speed, &b, e);
    for (size_t i = 0; ok && i < b.count; i++) {
        if (sum <= 0) {
            sum = 0;
            begin = b.point[i].frame;
        }
        sum += align_peaks_shared(&a, &b, i, place->offset) ? SHARED : -1;
        if (sum > most) {
            most = sum;
            *from = unscale(begin, place->speed);
            *to = unscale(b.point[i].frame + 1, place->speed);
        }
    }
    align_peaks_free(&a);
    align_peaks_free(&b);
    film_sound_free(&film);
    return ok;
}

static bool search(const struct search *s, uint32_t from, uint32_t to, struct err *e);

/* Adds the parts of frames [from, to), which are `clip` and have the places `r`. */
static bool split(const struct search *s, const struct align_sound *clip, uint32_t from,
                  uint32_t to, const struct find_result *r, struct err *e)
{
    uint32_t begin, end;
    if (!explain(s, clip, &r->place[0], &begin, &end, e))
        return false;
    bool whole = begin < LEAST_FRAMES && end + LEAST_FRAMES > to - from;
    if (!whole && begin < end)
        return search(s, from, from + begin, e) && search(s, from + begin, from + end, e) &&
               search(s, from + end, to, e);
    if (*s->parts < FIND_PARTS)
        s->part[(*s->parts)++] = (struct find_part){from, to, *r};
    return true;
}

/* Looks frames [from, to) up, and adds their parts. */
static bool search(const struct search *s, uint32_t from, uint32_t to, struct err *e)
{
    struct peak *peak = NULL;
    struct align_sound clip;
    struct find_result r = {0};
    if (to < from + LEAST_FRAMES)
        return true;
    bool ok = cut_clip(s->clip, from, to, &peak, &clip, e) && find_clip(s->index, &clip, &r, e) &&
              find_refine_offsets(&r, &clip, s->load, s->user, e);
    if (ok && r.found > 0)
        ok = split(s, &clip, from, to, &r, e);
    free(peak);
    return ok;
}

bool find_parts(struct find_index *x, const struct align_sound *clip, const struct find_result *r,
                find_load *load, void *user, struct find_part *part, size_t *parts, struct err *e)
{
    const struct search s = {x, clip, load, user, part, parts};
    *parts = 0;
    return split(&s, clip, 0, (uint32_t)spectrogram_frames(clip->samples), r, e);
}
