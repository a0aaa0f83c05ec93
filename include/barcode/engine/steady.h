/*
 * steady.h - which of its frame's colours each column shows, chosen for all columns together so
 * that neighbours do not flicker.
 *
 * Two clusters of nearly the same size swap first place from frame to frame, and the largest one's
 * colour jumps. Of all ways to choose one colour a column this takes the one whose value is the
 * greatest:
 *
 *     value     = sum of count over the chosen colours - sum of cost over neighbouring choices
 *     cost(a,b) = floor(T * p * min(D, C) / (100 * C))
 *     D         = 2 dr^2 + 4 dg^2 + 3 db^2, of the two colours' channels; C = 96^2 = 9216
 *
 * T is the pixels of a staged frame, p the per cent that the user allows. Found exactly by dynamic
 * programming (Viterbi, IEEE Transactions on Information Theory 13(2), 1967), k^2 steps a column:
 *
 *     best_0(j) = count_0(j);  best_t(j) = count_t(j) + max over i of (best_t-1(i) - cost(i, j))
 *
 * Ties go to the lower i, in the end to the lower j, and the way back follows the stored i. All in
 * integers: |value| < 2^62.
 *
 * Bound: no choice lies more than 2 floor(T p / 100) pixels below the largest of its frame, that is
 * 2p points of share; the first and the last, which have one neighbour, half of that. Changing one
 * choice alone to the largest gains the difference and changes two costs, each of which is at least
 * 0 and at most floor(T p / 100); were the difference more, the value would not be the greatest.
 * With p = 0 every choice is the largest, index 0.
 *
 * A column without colours (no picture came) is passed over: those on either side of the gap are
 * neighbours, as they are in the picture, where a missing column repeats the one before it.
 * Neighbours with the very same list are one frame, which fills several columns: they get one
 * choice, whose count counts for each of them, and the bound holds for it too.
 *
 * D is Riemersma's weighted Euclidean distance for colours of low red, squared ("Colour metric",
 * compuphase.com/cmetric.htm: 2, 4, 3). At C a difference is a jump, however much greater it is: a
 * cut to another subject costs no more than that.
 */
#ifndef BARCODE_STEADY_H
#define BARCODE_STEADY_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/column.h"

#ifdef __cplusplus
extern "C" {
#endif

/* per cent: of a bare --steady; the most, beyond which nothing is bounded */
enum { STEADY_USUAL = 10, STEADY_MOST = 50 };

/* What one column may show, largest count first. `count` 0: no picture came. */
struct steady_list {
    /* [count], the caller's; the same pointer in neighbours means the same frame */
    const struct cluster *cluster;
    int count; /* 0..CLUSTERS_MAX */
};

/* The list of `column`; the same one whenever it is asked. */
typedef struct steady_list steady_ask(const void *user, uint64_t column);

/*
 * The choice above for `columns` columns (1 or more) in film order, into chosen[columns], indices
 * into the lists, 0 where a list is empty. `pixels` is T (1..2^28), `percent` p (0..STEADY_MOST).
 * Memory: columns * the longest list, in bytes. Any thread. False: memory, or ERR_INTERRUPTED when
 * interrupted() turned true.
 */
bool steady_choose(steady_ask *ask, const void *user, uint64_t columns, uint64_t pixels,
                   int percent, uint8_t *chosen, struct err *e);

/*
 * The same over every column's own clusters, into column.chosen, and apart from that over every
 * column's own modes, into column.mode_chosen and column.dominant, as far as columns have them;
 * after columns_finish. One thread.
 */
bool steady_columns(struct columns *c, uint64_t pixels, int percent, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
