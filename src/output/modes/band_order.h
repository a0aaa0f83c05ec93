/* band_order.h - the order of the colours of a palette: --order (strip.h). Pure; any thread. */
#ifndef BARCODE_MODES_BAND_ORDER_H
#define BARCODE_MODES_BAND_ORDER_H

#include "barcode/kmeans/kmeans.h"
#include "strip.h"

/*
 * Returns the index of the cluster after `last` among `clusters` (1..CLUSTERS_MAX) clusters in the
 * order of kmeans.h. -1 as `last` requests the first; returns -1 after the last. With
 * ORDER_LIGHTNESS the lightest comes first, and equal ones keep their order.
 */
int strip_order_next(enum palette_order order, const struct cluster *cluster, int clusters,
                     int last);

/* Writes the indices of all `clusters` clusters in this order. */
void strip_order(enum palette_order order, const struct cluster *cluster, int clusters,
                 uint8_t *indices);

#endif
