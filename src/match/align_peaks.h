/* align_peaks.h - the peaks of a film's sound, to be compared with those of another. */
#ifndef BARCODE_MATCH_ALIGN_PEAKS_H
#define BARCODE_MATCH_ALIGN_PEAKS_H

#include "align_map.h"

/* num frames of A take as long as den of B: 25/24 if B runs faster by that. */
struct align_speed {
    uint16_t num, den;
    bool same_pitch; /* B's speed was changed without its pitch */
};

/* Returns the *n known changes of speed; the first is none. */
const struct align_speed *align_speeds(size_t *n);

struct align_peaks {
    struct peak *point; /* [count] in peaks_list's order */
    size_t count;
    uint32_t frames; /* of the spectrogram; all points are in it */
    uint32_t *start; /* [frames + 1] index of each frame's first point */
    int reach;       /* a point is the same as another whose bin is this near */
};

/*
 * Copies a film's peaks, or its wide peaks only, at another speed: times are multiplied by it, and
 * frequencies divided by it unless the pitch is the same. Returns false if out of memory. The
 * caller calls align_peaks_free in any case.
 */
bool align_peaks_make(const struct align_sound *sound, bool wide, struct align_speed speed,
                      struct align_peaks *out, struct err *e);
void align_peaks_free(struct align_peaks *p);

/* Returns true if there is a point in this frame whose bin is at most `reach` away. */
bool align_peaks_has(const struct align_peaks *p, int64_t frame, int bin, int reach);

/* Returns true if b->point[i] is in `a` too, `offset` frames later, at most one frame away. */
bool align_peaks_shared(const struct align_peaks *a, const struct align_peaks *b, size_t i,
                        int32_t offset);

/* Returns the index of the first point whose frame is `frame` or later. */
size_t align_peaks_first(const struct align_peaks *p, int64_t frame);

#endif
