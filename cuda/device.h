/* device.h - counts and initializes GPUs. */
#ifndef BARCODE_CUDA_DEVICE_H
#define BARCODE_CUDA_DEVICE_H

#include <cstddef>

#include "barcode/base/err.h"

/*
 * Returns the number of GPUs visible to this process; 0 if there is none or no driver. Any thread.
 */
int gpu_device_count(void);

/*
 * Makes GPU `device`, from 0, current for the calling thread. Sets *context to its primary context
 * and writes its name to `detail`, truncated to `size`. Fails with ERR_ENGINE if the GPU cannot be
 * used. Any thread, several at once.
 */
bool gpu_device_start(int device, void **context, char *detail, size_t size, struct err *e);

/* Returns true if the GPU's compute mode allows only one process at a time. Any thread. */
bool gpu_device_is_exclusive(int device);

#endif
