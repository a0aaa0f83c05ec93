/*
 * engine.h - what shrinks and clusters. One table, one implementation a kind of
 * processor: `cpu`, and `cuda` where the build has it.
 *
 * The contract:
 *  1. Every engine gives identical bytes in the columns.              tests/check, test_engine
 *  2. The order in which frames are put does not matter.              test_engine:
 * any_order_any_threads
 *  3. Ties go to the lower index.                                     test_kmeans
 *  4. After engine_begin nothing is allocated per frame in the steady state.
 *  5. A port belongs to one thread; several ports may be used at once.
 *  6. After a failure every put and engine_finish fail, with the
 *     first sentence, until engine_begin begins the next film.        test_engine: failure
 *  7. Back-pressure: put waits while every batch is in use.           test_engine_cpu: put_waits
 *
 *   engine_open -> (engine_begin -> ports: put ... -> port_close -> engine_finish)* -> engine_close
 */
#ifndef BARCODE_ENGINE_H
#define BARCODE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/column.h"
#include "barcode/engine/frame.h"
#include "barcode/engine/light.h"
#include "barcode/engine/crop.h"
#include "barcode/kmeans/kmeans.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Called once for every staged frame, rgb[height][width][3], before it is clustered; from any
 * engine thread, several at once. The bytes are the engine's. False, with *e filled, fails the
 * film.
 */
typedef bool engine_tap(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e);

struct engine_config {
    int threads; /* clustering threads, 1 or more */
    int device;  /* which GPU, from 0; only `cuda` looks */
};

/* What one film needs. */
struct engine_job {
    int width, height; /* staged size, 1..16384 each */
    bool cluster;      /* k-means wanted */
    bool rows;         /* row means wanted */
    /*
     * of each frame, 0..DOMINANT_MOST (dominant.h); the columns keep all where columns_keep_modes
     * said so
     */
    int modes;
    struct kmeans_params kmeans;
    /*
     * about how many will be open at once; `cpu` has a staged frame's room for each, more may open
     */
    int ports;
    struct columns *columns; /* results go here; the caller's */
    /*
     * what decoded pictures are cut to before they are shrunk; lent until engine_finish. NULL:
     * nothing
     */
    const struct crop *crop;
    /* what HDR and linear means go through (light.h); lent until engine_finish. NULL: nothing */
    struct light *light;
    /* --light linear: means of staged frames are taken of light, by SDR's table. NULL: of codes */
    const struct light_table *means;
    engine_tap *tap; /* may be NULL */
    void *tap_user;
};

/*
 * Busy seconds since engine_begin, summed over threads. For `cuda`, `cluster` is the GPU's own time
 * from a batch's first kernel to its last, and `shrink` the time that ports spent waiting for their
 * pictures to be shrunk.
 */
struct engine_times {
    double shrink, cluster;
};

/*
 * Where a decoder may leave its pictures so that they never cross to the host. `context` is a
 * CUcontext that lives as long as the engine; NULL: the engine takes host memory only. `exclusive`:
 * the administrator lets one process at a time have the device (nvidia-smi --compute-mode).
 */
struct engine_device {
    void *context;
    int ordinal;
    bool exclusive;
};

struct engine;
struct engine_port;

struct engine_ops {
    const char *name; /* also the value of --engine */
    struct engine *(*open)(const struct engine_config *config, struct err *e);
    bool (*begin)(struct engine *g, const struct engine_job *job, struct err *e);
    struct engine_port *(*port_open)(struct engine *g, struct err *e);
    bool (*put)(struct engine_port *p, const struct frame_view *view, const struct frame_tag *tag,
                struct err *e);
    bool (*put_analysed)(struct engine_port *p, const uint8_t *rgb, const struct frame_tag *tag,
                         struct err *e);
    /* crop_rows of a view on the device; the copy is the port's until its next call. NULL: no
     * device. */
    bool (*rows)(struct engine_port *p, const struct frame_view *view, struct frame_view *rows,
                 struct err *e);
    void (*port_close)(struct engine_port **p);
    bool (*finish)(struct engine *g, struct engine_times *times, struct err *e);
    const char *(*detail)(const struct engine *g);
    struct engine_device (*device)(const struct engine *g); /* NULL: no device */
    void (*close)(struct engine **g);
    int (*count)(void); /* how many there are to open; NULL: 1 */
    int toolkit;        /* CUDA's, as CUDART_VERSION: 12040 is 12.4. 0: without CUDA */
};

/* Private data of an implementation begins with this. */
struct engine {
    const struct engine_ops *ops;
    const struct crop *crop; /* the job's */
};
struct engine_port {
    struct engine *engine;
};

extern const struct engine_ops engine_cpu;
extern const struct engine_ops engine_cuda; /* only in builds with CUDA */

/* True when this build has the engine of that name; only engine_open tells whether a device is
 * there. Any thread. */
bool engine_built(const char *name);

/*
 * How many engines of that name can be opened, each on a device of its own: the GPUs that the
 * driver shows this process, 1 of `cpu`; 0 where there is none, or none in this build. Starts the
 * driver, so never before a fork. Any thread.
 */
int engine_count(const char *name);

/*
 * The engine called `name`, the caller's until engine_close; `config` is copied. NULL when it is
 * not there (ERR_ENGINE), when BARCODE_ISA names no instruction set of this processor (ERR_USAGE),
 * or when memory runs out. Any thread, several at once.
 */
struct engine *engine_open(const char *name, const struct engine_config *config, struct err *e);

/* Prepares for one film: copies `job` and takes memory for it. Between films only; any one thread.
 */
bool engine_begin(struct engine *g, const struct engine_job *job, struct err *e);

/* A way in for one thread, the caller's until engine_port_close. After engine_begin; any thread.
 * NULL on failure. */
struct engine_port *engine_port_open(struct engine *g, struct err *e);

/*
 * Cuts a decoded picture to the job's trim, shrinks it into a staged frame and queues it. The view
 * is read before this returns, wherever it lies. Waits while all batches are in use. A view with
 * on_device comes from a decoder that uses the engine's context (engine_device); what is done with
 * it follows what was queued on the view's stream.
 */
bool engine_put(struct engine_port *p, const struct frame_view *view, const struct frame_tag *tag,
                struct err *e);

/* The same for a frame that is staged already: rgb[height][width][3], read before this returns. */
bool engine_put_analysed(struct engine_port *p, const uint8_t *rgb, const struct frame_tag *tag,
                         struct err *e);

/* Sends what the port still holds; sets *p to NULL. NULL is fine. */
void engine_port_close(struct engine_port **p);

/*
 * Waits until every put frame is in its column. Every port must be closed. Any one thread. *times
 * is filled in any case. False, with *e: the film's first failure. The CPU engine also gives
 * ERR_INTERRUPTED when interrupted() turned true, because it clusters nothing from then on.
 */
bool engine_finish(struct engine *g, struct engine_times *times, struct err *e);

/* "avx2", "NVIDIA H200"; the engine's. Any thread. */
const char *engine_detail(const struct engine *g);

/* Any thread. */
struct engine_device engine_device(const struct engine *g);

/* Frees an engine that is between films; sets *g to NULL. NULL is fine. Any one thread. */
void engine_close(struct engine **g);

#ifdef __cplusplus
}
#endif
#endif
