/*
 * kmeans_order.h - the table with which AVX2 packs the lanes that a mask chooses.
 */
#ifndef BARCODE_KMEANS_ORDER_H
#define BARCODE_KMEANS_ORDER_H

#include <stdint.h>

/* For 8 bits: the places of the ones, a byte each, the lowest first. */
extern const uint64_t kmeans_order[256];

#endif
