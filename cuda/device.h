/*
 * device.h - which GPU, and what it is called.
 */
#ifndef BARCODE_CUDA_DEVICE_H
#define BARCODE_CUDA_DEVICE_H

#include <cstddef>

#include "barcode/base/err.h"

/* How many GPUs the driver shows this process; 0: none, or no driver. Any thread. */
int gpu_device_count(void);

/*
 * Makes GPU `device`, from 0, the calling thread's, its primary context *context and its name
 * `detail`, cut to `size`. ERR_ENGINE when there is none that can be used. Any thread, several at
 * once.
 */
bool gpu_device_start(int device, void **context, char *detail, size_t size, struct err *e);

/* True when its compute mode lets only one process at a time have it. Any thread. */
bool gpu_device_is_exclusive(int device);

#endif
