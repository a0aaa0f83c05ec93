/* kmeans_order.h - the table with which AVX2 packs the lanes that a mask selects. */
#ifndef BARCODE_KMEANS_ORDER_H
#define BARCODE_KMEANS_ORDER_H

#include <stdint.h>

/* For each 8-bit mask: the positions of the ones, lowest first, one byte each. */
extern const uint64_t kmeans_order[256];

#endif
