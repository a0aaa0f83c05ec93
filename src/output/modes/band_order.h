/*
 * band_order.h - in which order colours of a palette lie: --order (strip.h). Pure; any thread.
 */
#ifndef BARCODE_MODES_BAND_ORDER_H
#define BARCODE_MODES_BAND_ORDER_H

#include "barcode/kmeans/kmeans.h"
#include "barcode/output/strip.h"

/*
 * The cluster that comes after `last` of `clusters` (1..CLUSTERS_MAX), which lie as kmeans.h leaves
 * them; -1 for `last` asks for the first, and is the answer after the end. ORDER_LIGHTNESS: the
 * lightest first, equal ones as they lie. The order is looked for at each step, because keeping it
 * for every column would take as much memory as the clusters.
 */
int strip_order_next(enum palette_order order, const struct cluster *cluster, int clusters,
                     int last);

#endif
