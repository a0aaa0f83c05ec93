/* light_gpu.h - device copies of the tables of include/barcode/engine/light.h. */
#ifndef BARCODE_CUDA_LIGHT_GPU_H
#define BARCODE_CUDA_LIGHT_GPU_H

#include "barcode/engine/light.h"

struct light_gpu;

/*
 * Creates the copies' owner for one film on the current device; copies nothing yet. Borrows `light`
 * until light_gpu_free. Returns NULL if out of memory.
 */
struct light_gpu *light_gpu_open(struct light *light, struct err *e);

/*
 * Returns the device copy of light_table, which is made on first use and owned by `g`. Returns NULL
 * with *e on failure. Any thread, with the device current.
 */
const struct light_table *light_gpu_table(struct light_gpu *g, enum transfer transfer,
                                          struct err *e);

/* Frees the copies and sets *g to NULL. Does nothing if *g is NULL. */
void light_gpu_free(struct light_gpu **g);

#endif
