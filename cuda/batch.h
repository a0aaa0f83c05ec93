/*
 * batch.h - the GPU's batches of analysis frames: device memory for frames, pinned host memory for
 * results. Private to cuda/.
 */
#ifndef BARCODE_CUDA_BATCH_H
#define BARCODE_CUDA_BATCH_H

#include <cuda_runtime.h>

#include "barcode/engine/engine.h"
#include "dominant_gpu.h"
#include "kmeans_gpu.h"

struct gpu_batch {
    int taken, filled;         /* assigned slots; slots whose frame is complete */
    struct frame_tag *tag;     /* [frames] */
    uint8_t *rgb;              /* device [frames][height][width][3] */
    uint64_t *frame;           /* device [frames]: frame numbers */
    uint32_t *sum;             /* device [frames][height][3]: row sums */
    struct gpu_column *column; /* device [frames]; NULL without k-means */
    struct gpu_modes *modes;   /* device [frames]; NULL without modes */
    uint64_t *host_frame;      /* pinned host copies of the above */
    uint32_t *host_sum;
    struct gpu_column *host_column;
    struct gpu_modes *host_modes;
    uint8_t *host_rgb; /* only if there is a tap */
    cudaEvent_t begun, done;
};

/* Number of frames in a batch for this job, and number of batches. */
struct gpu_plan {
    int frames, batches;
};

/* Returns the bytes of an analysis frame. */
size_t gpu_frame_bytes(const struct engine_job *job);

/*
 * Chooses the plan from the free device memory: enough frames for every multiprocessor, but no more
 * than fit.
 */
bool gpu_plan_choose(const struct engine_job *job, struct gpu_plan *plan, struct err *e);

/*
 * Allocates the batch's memory; *b must be zeroed. After a failure gpu_batch_close must still be
 * called.
 */
bool gpu_batch_open(struct gpu_batch *b, const struct engine_job *job, int frames, struct err *e);
void gpu_batch_close(struct gpu_batch *b);

/* Writes the columns of a batch after its `done` event; calls the tap. */
bool gpu_batch_deliver(struct gpu_batch *b, const struct engine_job *job, struct err *e);

#endif
