#include "align_offsets.h"

#include <stdlib.h>
#include <string.h>

#include "sound/landmarks.h"
#include "barcode/sound/spectrogram.h"

enum {
    KEYS = 1 << LANDMARK_KEY_BITS,
    KEY_FREQUENT = 100,
    BLOCK = 256,     /* frames; blocks overlap by half */
    BLOCK_BEST = 4,  /* offsets a block */
    BLOCK_LEAST = 5, /* votes of an offset in a block */
    DT = LANDMARK_DT_MOST
};

struct align_index {
    uint32_t *start; /* [KEYS + 2] of each key's frames */
    uint32_t *frame;
    uint32_t frames; /* of film A */
};

struct finder {
    const struct align_index *index;
    bool near;
    struct landmark *landmark; /* [landmarks] of B, by frame */
    size_t landmarks;
    int32_t *vote; /* [votes] offsets of the block */
    size_t votes, vote_room;
    int32_t least;   /* of all offsets */
    uint32_t *count; /* votes of each offset, 0 between blocks */
    struct align_offset *found;
    size_t founds, room;
};

/* ---- Film A ---- */

static struct landmark *make_landmarks(const struct align_peaks *p, size_t *n, struct err *e)
{
    struct landmark *made = err_calloc(p->count * LANDMARK_FAN + 1, sizeof *made, e);
    *n = made ? landmarks_make(p->point, p->count, false, LANDMARK_FAN, made) : 0;
    return made;
}

struct align_index *align_index_open(const struct align_peaks *a, struct err *e)
{
    size_t n;
    struct landmark *made = make_landmarks(a, &n, e);
    struct align_index *index = made ? err_calloc(1, sizeof *index, e) : NULL;
    if (index) {
        index->frames = a->frames;
        index->start = err_calloc(KEYS + 2, sizeof *index->start, e);
        index->frame = index->start ? err_calloc(n + 1, sizeof *index->frame, e) : NULL;
    }
    if (!index || !index->frame) {
        align_index_free(&index);
        free(made);
        return NULL;
    }
    /* A counting sort: next[key], the beginning of the key's frames, becomes their end. */
    uint32_t *next = index->start + 1;
    for (size_t i = 0; i < n; i++)
        next[made[i].key + 1]++;
    for (size_t key = 0; key < KEYS; key++)
        next[key + 1] += next[key];
    for (size_t i = 0; i < n; i++)
        index->frame[next[made[i].key]++] = made[i].frame;
    free(made);
    return index;
}

void align_index_free(struct align_index **index)
{
    if (*index) {
        free((*index)->start);
        free((*index)->frame);
    }
    free(*index);
    *index = NULL;
}

/* ---- Votes ---- */

static bool add_votes(struct finder *f, uint32_t frame, uint32_t key, struct err *e)
{
    uint32_t from = f->index->start[key], to = f->index->start[key + 1];
    if (to - from > KEY_FREQUENT)
        return true;
    if (!err_reserve(&f->vote, f->votes + (to - from), &f->vote_room, sizeof *f->vote, e))
        return false;
    for (; from < to; from++)
        f->vote[f->votes++] = (int32_t)f->index->frame[from] - (int32_t)frame;
    return true;
}

/* Adds the votes of the keys around a landmark's. */
static bool add_near(struct finder *f, struct landmark l, struct err *e)
{
    int bin = (int)(l.key >> 14), df = (int)(l.key >> 6 & 255) - 128, dt = (int)(l.key & DT);
    for (int b = bin > 0 ? bin - 1 : 0; b <= bin + 1 && b < SPECTROGRAM_BINS; b++)
        for (int d = df - 1; d <= df + 1; d++)
            for (int t = dt > 1 ? dt - 1 : 1; t <= dt + 1 && t <= DT; t++) {
                if (abs(d) <= LANDMARK_DF_MOST &&
                    !add_votes(f, l.frame, landmark_key((uint32_t)b, d, (uint32_t)t), e))
                    return false;
            }
    return true;
}

/* Of equal ones the first in time comes first. */
static int compare_votes(const void *x, const void *y)
{
    const struct align_offset *a = x, *b = y;
    if (a->votes != b->votes)
        return a->votes > b->votes ? -1 : 1;
    return a->frames < b->frames ? -1 : a->frames > b->frames;
}

static int compare_frames(const void *x, const void *y)
{
    const struct align_offset *a = x, *b = y;
    return a->frames < b->frames ? -1 : a->frames > b->frames;
}

/* Returns true if one of offset[n] is the same as `frames` or next to it. */
static bool is_known(const struct align_offset *offset, size_t n, int32_t frames)
{
    for (size_t i = 0; i < n; i++)
        if (abs(offset[i].frames - frames) <= 1)
            return true;
    return false;
}

/* Adds the offsets with the most votes of the block, with those of the offsets next to them. */
static bool choose_best(struct finder *f, struct err *e)
{
    struct align_offset best[BLOCK_BEST + 1];
    size_t n = 0;
    for (size_t i = 0; i < f->votes; i++)
        f->count[f->vote[i] - f->least]++;
    for (size_t i = 0; i < f->votes; i++) {
        const uint32_t *at = f->count + (f->vote[i] - f->least);
        uint32_t sum = at[-1] + at[0] + at[1];
        if (sum < BLOCK_LEAST || at[0] < at[-1] || at[0] < at[1] || is_known(best, n, f->vote[i]))
            continue;
        best[n++] = (struct align_offset){f->vote[i], sum};
        qsort(best, n, sizeof *best, compare_votes);
        n = n > BLOCK_BEST ? BLOCK_BEST : n;
    }
    for (size_t i = 0; i < f->votes; i++)
        f->count[f->vote[i] - f->least] = 0;
    if (!err_reserve(&f->found, f->founds + n, &f->room, sizeof *best, e))
        return false;
    if (n > 0)
        memcpy(f->found + f->founds, best, n * sizeof *best);
    f->founds += n;
    return true;
}

static bool find_all(struct finder *f, uint32_t frames, struct err *e)
{
    size_t from = 0;
    for (uint32_t begin = 0; begin < frames; begin += BLOCK / 2) {
        while (from < f->landmarks && f->landmark[from].frame < begin)
            from++;
        f->votes = 0;
        for (size_t i = from; i < f->landmarks && f->landmark[i].frame < begin + BLOCK; i++) {
            struct landmark l = f->landmark[i];
            if (!(f->near ? add_near(f, l, e) : add_votes(f, l.frame, l.key, e)))
                return false;
        }
        if (!choose_best(f, e))
            return false;
    }
    return true;
}

bool align_offsets_find(const struct align_index *index, const struct align_peaks *b, size_t most,
                        struct align_offset *out, size_t *n, struct err *e)
{
    struct finder f = {.index = index, .near = b->reach > 0};
    f.least = -(int32_t)b->frames - 1;
    f.landmark = make_landmarks(b, &f.landmarks, e);
    f.count =
        f.landmark ? err_calloc((size_t)index->frames + b->frames + 3, sizeof *f.count, e) : NULL;
    bool ok = f.count && find_all(&f, b->frames, e);
    *n = 0;
    if (f.founds > 0)
        qsort(f.found, f.founds, sizeof *f.found, compare_votes);
    for (size_t i = 0; i < f.founds && *n < most; i++)
        if (!is_known(out, *n, f.found[i].frames))
            out[(*n)++] = f.found[i];
    qsort(out, *n, sizeof *out, compare_frames);
    free(f.landmark);
    free(f.count);
    free(f.vote);
    free(f.found);
    return ok;
}
