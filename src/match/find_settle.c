#include "find_settle.h"

#include <stdlib.h>

#include "barcode/sound/spectrogram.h"

enum {
    PEAKS_MOST = 20000, /* of a clip, five minutes: later ones are left out */
    REACH = 1           /* bins that a peak may be away, half a frame off its place in the film */
};

/* The clip's peaks by bin. */
struct clip {
    uint32_t first[SPECTROGRAM_BINS + 1];
    uint32_t *frame; /* of bin b's peaks: frame[first[b] .. first[b + 1]) */
    uint32_t frames; /* of the clip */
};

static bool sort_peaks(struct clip *c, const struct align_peaks *p, struct err *e)
{
    size_t n = p->count < PEAKS_MOST ? p->count : PEAKS_MOST, placed = 0;
    *c = (struct clip){.frame = err_calloc(n + 1, sizeof *c->frame, e), .frames = p->frames};
    for (uint32_t bin = 0; c->frame && bin < SPECTROGRAM_BINS; bin++) {
        for (size_t i = 0; i < n; i++)
            if (p->point[i].bin == bin)
                c->frame[placed++] = p->point[i].frame;
        c->first[bin + 1] = (uint32_t)placed;
    }
    return c->frame != NULL;
}

/* Counts at [offset + c->frames] the peaks of the clip that the film has at that offset. */
static void count_peaks(const struct clip *c, const struct film_sound *film, uint32_t *count)
{
    for (size_t i = 0; i < film->peaks; i++) {
        const struct peak *p = &film->point[i];
        int from = p->bin - REACH, to = p->bin + REACH + 1;
        from = from < 0 ? 0 : from;
        to = to > SPECTROGRAM_BINS ? SPECTROGRAM_BINS : to;
        for (uint32_t k = c->first[from]; k < c->first[to]; k++)
            count[p->frame + c->frames - c->frame[k]]++;
    }
}

/* Moves the place to the offset with the most peaks, also a frame before or after it. */
static bool settle_place(struct find_place *place, const struct clip *c,
                         const struct film_sound *film, struct err *e)
{
    size_t offsets = spectrogram_frames(film->samples) + c->frames;
    uint32_t *count = err_calloc(offsets + 1, sizeof *count, e);
    if (!count)
        return false;
    count_peaks(c, film, count);
    for (size_t i = 1; i < offsets; i++) {
        uint32_t n = count[i - 1] + count[i] + count[i + 1];
        if (n <= place->peaks)
            continue;
        int32_t after = (int32_t)count[i + 1] - (int32_t)count[i - 1];
        place->peaks = n;
        place->offset = (int32_t)i - (int32_t)c->frames;
        place->sixteenth = 16 * place->offset + 16 * after / (int32_t)n;
    }
    free(count);
    return true;
}

static int compare_places(const void *x, const void *y)
{
    const struct find_place *a = x, *b = y;
    if (a->peaks != b->peaks)
        return a->peaks < b->peaks ? 1 : -1;
    if (a->votes != b->votes)
        return a->votes < b->votes ? 1 : -1;
    return a->film < b->film ? -1 : 1;
}

bool find_settle(struct find_result *r, const struct align_sound *clip, find_load *load, void *user,
                 struct err *e)
{
    struct align_peaks peaks;
    struct clip c = {0};
    bool all = true;
    bool ok = align_peaks_make(clip, false, r->speed, &peaks, e) && sort_peaks(&c, &peaks, e);
    for (size_t i = 0; ok && i < r->found; i++) {
        struct film_sound film;
        bool loaded = load(user, r->place[i].film, &film);
        ok = !loaded || settle_place(&r->place[i], &c, &film, e);
        if (loaded)
            film_sound_free(&film);
        all = all && loaded;
    }
    if (ok && all)
        qsort(r->place, r->found, sizeof *r->place, compare_places);
    align_peaks_free(&peaks);
    free(c.frame);
    return ok;
}
