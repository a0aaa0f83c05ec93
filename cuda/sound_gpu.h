/* sound_gpu.h - the spectrogram and the maximum filter on a GPU. */
#ifndef BARCODE_CUDA_SOUND_GPU_H
#define BARCODE_CUDA_SOUND_GPU_H

#include "barcode/sound/sound_device.h"

/* Opens sound_device.h's functions on GPU `device`. Returns NULL if the GPU fails. */
struct sound_device *sound_gpu_open(int device, struct err *e);

#endif
