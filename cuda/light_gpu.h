/*
 * light_gpu.h - include/barcode/engine/light.h's tables on the device.
 */
#ifndef BARCODE_CUDA_LIGHT_GPU_H
#define BARCODE_CUDA_LIGHT_GPU_H

#include "barcode/engine/light.h"

struct light_gpu;

/* For one film on the current device; nothing is copied yet. `light` is lent until light_gpu_free.
 * NULL: memory. */
struct light_gpu *light_gpu_open(struct light *light, struct err *e);

/* light_table's copy on the device, which is made when it is first asked for; the light_gpu's.
 * NULL, with *e. Any thread, on its device. */
const struct light_table *light_gpu_table(struct light_gpu *g, enum transfer transfer,
                                          struct err *e);

/* Sets *g to NULL. NULL is fine. */
void light_gpu_free(struct light_gpu **g);

#endif
