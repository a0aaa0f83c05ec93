/*
 * device.h - which GPU, and what it is called.
 */
#ifndef BARCODE_CUDA_DEVICE_H
#define BARCODE_CUDA_DEVICE_H

#include <cstddef>

#include "barcode/err.h"

/*
 * Makes GPU `device`, from 0, the calling thread's, its primary context *context and its name `detail`, cut to `size`. ERR_ENGINE when
 * there is none that can be used. Main thread.
 */
bool gpu_device_start(int device, void **context, char *detail, size_t size, struct err *e);

#endif
