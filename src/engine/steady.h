/*
 * steady.h - chooses each column's displayed colour for all columns together, so that neighbours do
 * not flicker.
 *
 * Two clusters of nearly equal size may swap ranks from frame to frame, and then the largest
 * cluster's colour jumps. Of all ways to choose one colour a column, this chooses the one of
 * greatest value:
 *
 *   value     = sum of count over the chosen colours - sum of cost over neighbouring choices
 *   cost(a,b) = floor(T * p * min(D, C) / (100 * C))
 *   D         = 2 dr^2 + 4 dg^2 + 3 db^2 of the two colours' channels; C = 96^2 = 9216
 *
 * T is the number of pixels of an analysis frame and p the percentage that the user allows. Dynamic
 * programming finds the exact solution (Viterbi, IEEE Transactions on Information Theory 13(2),
 * 1967) in k^2 steps a column:
 *
 *   best_0(j) = count_0(j);  best_t(j) = count_t(j) + max over i of (best_t-1(i) - cost(i, j))
 *
 * Ties go to the lower i, at the end to the lower j, and backtracking follows the stored i. All in
 * integers: |value| < 2^62.
 *
 * Bound: every chosen colour has at most 2 floor(T p / 100) pixels fewer than the largest of its
 * frame, that is 2p percentage points. For the first and last column, which have one neighbour, the
 * bound is half of that. Proof: changing one choice to the largest gains the difference in pixels
 * and changes two costs of 0 to floor(T p / 100) each. If the difference were greater, the value
 * would not be the greatest. With p = 0 every choice is the largest, index 0.
 *
 * A column without colours (a missing frame) is skipped, and the columns on either side of it count
 * as neighbours. The image shows them as neighbours too, because a missing column repeats the
 * previous one. Neighbours with the same list are one frame that fills several columns. They get
 * the same choice, its count counts for each of them, and the bound holds for it too.
 *
 * D is Riemersma's weighted Euclidean distance for colours of low red, squared ("Colour metric",
 * compuphase.com/cmetric.htm: 2, 4, 3). C is its limit: a change of scene costs no more than a
 * difference of C.
 */
#ifndef BARCODE_STEADY_H
#define BARCODE_STEADY_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/column.h"

/* percentages: --steady without a value; the maximum, above which there is no bound */
enum { STEADY_USUAL = 10, STEADY_MOST = 50 };

/* The colours that a column may show, largest count first. */
struct steady_list {
    /* [count], the caller's; neighbours with the same pointer are the same frame */
    const struct cluster *cluster;
    int count; /* 0..CLUSTERS_MAX */
};

/* Returns the list of `column`. Must return the same list on every call. */
typedef struct steady_list steady_ask(const void *user, uint64_t column);

/*
 * Makes the choice above for `columns` columns (1 or more) in film order. Writes indices into the
 * lists to chosen[columns], 0 where a list is empty. `pixels` is T (1..2^28), `percent` p
 * (0..STEADY_MOST). Allocates `columns` times the longest list bytes. Any thread. Returns false if
 * out of memory, or with ERR_INTERRUPTED if interrupted() became true.
 */
bool steady_choose(steady_ask *ask, const void *user, uint64_t columns, uint64_t pixels,
                   int percent, uint8_t *chosen, struct err *e);

/*
 * Applies steady_choose to every column's clusters, into column.chosen. Applies it separately to
 * every column's modes, into column.mode_chosen and column.dominant. Skips what a column does not
 * have. Call it after columns_finish. One thread.
 */
bool steady_columns(struct columns *c, uint64_t pixels, int percent, struct err *e);

#endif
