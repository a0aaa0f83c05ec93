/* band_order.h - the order of the colours of a palette: --order (strip.h). Pure; any thread. */
#ifndef BARCODE_BAND_ORDER_H
#define BARCODE_BAND_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "barcode/engine/column.h"
#include "barcode/kmeans/kmeans.h"
#include "strip.h"

/* Writes the indices of `clusters` (1..CLUSTERS_MAX) clusters in the order of kmeans.h. With
 * ORDER_LIGHTNESS the lightest comes first, and equal ones keep their order. */
void strip_order(enum palette_order order, const struct cluster *cluster, int clusters,
                 uint8_t *indices);

/*
 * band_follow orders the bands of a palette from light to dark so that they follow their colour
 * along time.
 *
 * Sorted by lightness alone, two clusters of nearly the same lightness swap places from column to
 * column. So each column has two candidates: the order by lightness, and one that follows the
 * previous column. Dynamic programming chooses the candidates of all columns together, those of the
 * least sum of
 *
 *   change(o, p)  over a column and the next: the sum of D between the two colours at each of 2^16
 *                 heights; a height that only one of the two reaches counts nothing
 *   disorder(o)   the sum of floor(w_i w_j (L_j - L_i) / 2^17) over the clusters i above j that are
 *                 darker than j
 *
 *   w_j           the share of the cluster in 2^-16, rounded down (pool_weigh): its band's height
 *   L_j           its lightness, 0..1024: that of the grey of the same luminance in OKLab,
 *                 floor(oklab_roots(floor(Y / 10000)) / 16) with Y of colour.h
 *   D             |dL| + 2 |da| + 2 |db| of two colours in OKLab (colour.h). Distances fit human
 *                 judgements best with a and b doubled (Ottosson, w3c/csswg-drafts issue 6642).
 *
 * No cluster of k' lies above one that is lighter by more than S = floor(819 / max(8, k')): a tenth
 * of all lightness for up to 8 clusters. So every column reads from light to dark.
 *
 * The candidate that follows is made of each candidate of the previous column, and the one of the
 * smaller sum up to here stays; on ties that of the order by lightness. It begins with the clusters
 * appended one by one: of those that are at most S darker than the lightest one left, the one whose
 * colour is nearest (D) to the highest band. Ties go to the higher band, and then to the
 * first by lightness. Then each cluster in turn, from index 0, moves up or down to where change +
 * disorder is the least, as far as S permits. On ties it stays, else it moves up, else the shorter
 * way. This is repeated until nothing moves, at most 16 times.
 *
 * The choice is a shortest path (Viterbi, as in steady.h). Ties go to the order by lightness. In
 * the first column both candidates are by lightness. Columns of one frame have one order. A column
 * without clusters is skipped, as in the picture.
 *
 * Steps a column: 2 k^2 distances, and up to 16 k rounds of moves past the few clusters within S.
 */

/* Returns the column, or NULL if it has no clusters. Must return the same on every call. */
typedef const struct column *band_column(const void *user, uint64_t column);

/*
 * Makes the choice above for `columns` columns (1 or more). Writes the indices of the clusters of
 * column i from top to bottom to order[i * stride]. `stride` is the largest number of clusters.
 * Allocates `columns` bytes. Any thread. Returns false if out of memory, or with ERR_INTERRUPTED if
 * interrupted() became true.
 */
bool band_follow(band_column *column_at, const void *user, uint64_t columns, uint8_t *order,
                 size_t stride, struct err *e);

#endif
