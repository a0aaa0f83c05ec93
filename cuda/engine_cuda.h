/* engine_cuda.h - what engine_cuda.cu (batches, films) and port.cu (ports) share. */
#ifndef BARCODE_CUDA_ENGINE_CUDA_H
#define BARCODE_CUDA_ENGINE_CUDA_H

#include <cuda_runtime.h>
#include <pthread.h>

#include "barcode/base/queue.h"
#include "barcode/engine/engine.h"
#include "barcode/engine/shrink.h"
#include "gpu.h"

enum { BATCHES_MAX = 3 };

/* A batch of analysis frames: device memory for frames, pinned host memory for results. */
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

struct cuda {
    struct engine base;
    struct engine_job job;
    int device;
    void *context;  /* CUcontext: the device's primary context */
    bool exclusive; /* only one process at a time may use the device */
    char detail[300];
    struct gpu_plan plan;
    struct gpu_batch batch[BATCHES_MAX];
    struct kmeans_gpu *kmeans;
    struct dominant_gpu *dominant;
    struct light_gpu *light;         /* NULL: no frame is converted to light */
    const struct light_table *means; /* the job's table, on the device */
    cudaStream_t stream;             /* for clustering */
    struct queue *todo, *running;
    pthread_t feeder, collector;
    bool feeding, collecting;
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t freed;
    struct gpu_batch *open; /* the batch that is being filled */
    struct gpu_batch *idle[BATCHES_MAX];
    int idles;
    int in_flight; /* batches that are queued or running */
    bool failed;
    struct err error;
    struct engine_times times;
    struct cuda_port *spare; /* closed ports, for reuse */
};

struct cuda_port {
    struct engine_port base;
    struct cuda *cuda;
    struct cuda_port *next; /* in the list of spare ports */
    struct shrink *shrink;  /* for frames in host memory; created for the first one */
    uint8_t *pinned;        /* one analysis frame; allocated for the first upload */
    uint8_t *rows;          /* luma rows for crop_view, `room` bytes; allocated on first use */
    size_t room;
    cudaStream_t stream; /* for frames without a stream; created for the first one */
    cudaEvent_t done;
    double shrink_seconds;
};

/* Marks the film as failed, with its first error; wakes all. Returns false. Any thread. */
bool cuda_fail(struct cuda *c, const struct err *e);

/* Gets a slot of the open batch; waits while every batch is in use. From a port's thread. */
bool cuda_reserve_slot(struct cuda *c, struct gpu_batch **batch, int *slot, struct err *e);

/* Marks the slot's frame as complete; queues a full batch for clustering. */
bool cuda_slot_filled(struct cuda *c, struct gpu_batch *b, int slot, const struct frame_tag *tag,
                      struct err *e);

/* Creates a stream of the highest (`urgent`) or lowest priority; sets it to NULL on failure. */
bool cuda_stream_open(cudaStream_t *stream, bool urgent, struct err *e);

size_t gpu_frame_bytes(const struct engine_job *job);

/* ---- port.cu: see engine_ops ---- */

struct engine_port *cuda_port_open(struct engine *g, struct err *e);
bool cuda_put(struct engine_port *port, const struct frame_view *view, const struct frame_tag *tag,
              struct err *e);
bool cuda_put_analysed(struct engine_port *port, const uint8_t *rgb, const struct frame_tag *tag,
                       struct err *e);
bool cuda_rows(struct engine_port *port, const struct frame_view *view, struct frame_view *rows,
               struct err *e);
void cuda_port_close(struct engine_port **port);

/* Frees a spare port. */
void cuda_port_destroy(struct cuda_port *p);

#endif
