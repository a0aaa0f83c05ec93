/*
 * engine_cuda.h - what the files of the GPU's engine share: engine_cuda.cu (batches, films) and
 * port.cu (ways in). Private to cuda/.
 */
#ifndef BARCODE_CUDA_ENGINE_CUDA_H
#define BARCODE_CUDA_ENGINE_CUDA_H

#include <cuda_runtime.h>
#include <pthread.h>

#include "barcode/base/queue.h"
#include "barcode/engine/engine.h"
#include "barcode/engine/shrink.h"
#include "batch.h"
#include "dominant_gpu.h"
#include "kmeans_gpu.h"
#include "light_gpu.h"

enum { BATCHES_MAX = 3 };

struct cuda {
    struct engine base;
    struct engine_job job;
    int device;
    void *context;  /* CUcontext, the device's primary one */
    bool exclusive; /* one process at a time may have the device */
    char detail[300];
    struct gpu_plan plan;
    struct gpu_batch batch[BATCHES_MAX];
    struct kmeans_gpu *kmeans;
    struct dominant_gpu *dominant;
    struct light_gpu *light;         /* NULL: no picture becomes light first */
    const struct light_table *means; /* the job's, on the device */
    cudaStream_t stream;             /* clustering */
    struct queue *todo, *running;
    pthread_t feeder, collector;
    bool feeding, collecting;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t freed;
    struct gpu_batch *open; /* the batch that is being filled */
    struct gpu_batch *idle[BATCHES_MAX];
    int idles;
    bool failed;
    struct err error;
    struct engine_times times;
    struct cuda_port *spare; /* closed ports */
};

struct cuda_port {
    struct engine_port base;
    struct cuda *cuda;
    struct cuda_port *next; /* when it is spare */
    struct shrink *shrink;  /* for pictures in host memory; made when the first comes */
    uint8_t *pinned;        /* one staged frame; taken when one crosses first */
    uint8_t *rows;          /* what crop_view looks at, `room` bytes; taken when first needed */
    size_t room;
    cudaStream_t stream; /* for frames that bring none; made for the first of them */
    cudaEvent_t done;
    double shrink_seconds;
};

/* The film failed, with this sentence unless it has one already; wakes all who wait. Returns false.
 * Any thread. */
bool cuda_fail(struct cuda *c, const struct err *e);

/* A slot of the open batch; waits while every batch is in use. A port's thread. */
bool cuda_take_slot(struct cuda *c, struct gpu_batch **batch, int *slot, struct err *e);

/* The slot's picture is there; a batch that is full is clustered. */
bool cuda_slot_filled(struct cuda *c, struct gpu_batch *b, int slot, const struct frame_tag *tag,
                      struct err *e);

/* A stream of the highest priority or the lowest. A call that fails leaves an invalid handle, which
 * must not be destroyed: NULL is left. */
bool cuda_stream_open(cudaStream_t *stream, bool urgent, struct err *e);

/* ---- port.cu: as engine_ops has them ---- */

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
