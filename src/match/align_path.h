/*
 * align_path.h - the best path through the offsets (align_offsets.h) that B may have in A.
 *
 * B's time is divided into windows. In each, B is at one of the offsets or is not in A. A path wins
 * a point for each peak that both films have at its offset, at most POINTS_MOST a window, and a
 * share of a point for each peak of B where it is not in A. A change of offset has a price. Time
 * never goes back in A, but by a few frames for a small price, as where a clock drifts. The best
 * path is found by dynamic programming (Viterbi).
 */
#ifndef BARCODE_MATCH_ALIGN_PATH_H
#define BARCODE_MATCH_ALIGN_PATH_H

#include "align_offsets.h"

enum {
    ALIGN_WINDOW = 32,       /* frames: 1.024 s */
    ALIGN_DRIFT = 3,         /* frames: offsets this near are a clock's drift */
    ALIGN_POINT = 64,        /* a point's unit */
    ALIGN_ABSENT_SHARE = 16, /* peaks that are worth a point where B is not in A */
    ALIGN_CHANGE = 24,       /* points: price of a change */
    ALIGN_DRIFT_PRICE = 4    /* points */
};

/* Windows of B at one offset: frames [from, to). */
struct align_run {
    int32_t offset; /* in frames */
    uint32_t from, to;
};

struct align_path {
    struct align_run *run; /* [runs] by time in both films */
    size_t runs;
    int64_t points;
};

/*
 * Finds the path through offset[n], which are in order. Returns false if out of memory. The caller
 * frees out->run in any case.
 */
bool align_path_find(const struct align_peaks *a, const struct align_peaks *b,
                     const struct align_offset *offset, size_t n, struct align_path *out,
                     struct err *e);

#endif
