/*
 * batch.h - the GPU's batches of staged frames: device memory for the pictures, pinned host memory
 * for what comes back. Private to cuda/.
 */
#ifndef BARCODE_CUDA_BATCH_H
#define BARCODE_CUDA_BATCH_H

#include <cuda_runtime.h>

#include "barcode/engine/engine.h"
#include "dominant_gpu.h"
#include "kmeans_gpu.h"

struct gpu_batch {
    int taken, filled;         /* slots given out, slots whose picture is there */
    struct frame_tag *tag;     /* [frames] */
    uint8_t *rgb;              /* device [frames][height][width][3] */
    uint64_t *frame;           /* device [frames]: frame numbers */
    uint32_t *sum;             /* device [frames][height][3]: row sums */
    struct gpu_column *column; /* device [frames]; NULL without k-means */
    struct gpu_modes *modes;   /* device [frames]; NULL unless modes are wanted */
    uint64_t *host_frame;      /* pinned copies of the same */
    uint32_t *host_sum;
    struct gpu_column *host_column;
    struct gpu_modes *host_modes;
    uint8_t *host_rgb; /* only for a tap */
    cudaEvent_t begun, done;
};

/* How many frames a batch holds for this job, and how many batches there are. */
struct gpu_plan {
    int frames, batches;
};

/* Of a staged frame. */
size_t gpu_frame_bytes(const struct engine_job *job);

/* Chosen from the free device memory: enough frames for every multiprocessor, no more than memory
 * allows. */
bool gpu_plan_choose(const struct engine_job *job, struct gpu_plan *plan, struct err *e);

/* Takes the batch's memory; *b is zeros before. After a failure gpu_batch_close still cleans up. */
bool gpu_batch_open(struct gpu_batch *b, const struct engine_job *job, int frames, struct err *e);
void gpu_batch_close(struct gpu_batch *b);

/* Writes the columns of a batch whose `done` has passed; calls the tap. */
bool gpu_batch_deliver(struct gpu_batch *b, const struct engine_job *job, struct err *e);

#endif
