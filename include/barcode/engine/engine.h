/*
 * engine.h - downscales frames and clusters their colours. Each kind of processor has one
 * implementation, a table of functions: `cpu`, and `cuda` if built with it.
 *
 * The contract, and the tests that check it:
 *
 *   1. Every engine writes identical bytes to the columns.            tests/check, test_engine
 *   2. The order in which frames are put does not matter.             test_engine:
 *                                                                     any_order_any_threads
 *   3. Ties go to the lower index.                                    test_kmeans
 *   4. In the steady state nothing is allocated per frame.
 *   5. A port belongs to one thread; several ports may be used at once.
 *   6. After a failure every put and engine_finish fail with the
 *      first error, until engine_begin starts the next film.          test_engine: failure
 *   7. Back-pressure: put waits while every batch is in use.          test_engine_cpu: put_waits
 *
 *   engine_open -> (engine_begin -> ports: put ... -> port_close -> engine_finish)* -> engine_close
 */
#ifndef BARCODE_ENGINE_H
#define BARCODE_ENGINE_H

#include "barcode/base/err.h"
#include "barcode/engine/column.h"
#include "barcode/engine/frame.h"
#include "barcode/engine/light.h"
#include "barcode/engine/crop.h"
#include "barcode/engine/slit.h"
#include "barcode/kmeans/kmeans.h"

SHARED_BEGIN

/*
 * Called once for every analysis frame, rgb[height][width][3], before it is clustered. Any engine
 * thread may call it, several at once. The bytes remain the engine's. The film fails if it returns
 * false with *e filled.
 */
typedef bool engine_tap(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e);

/* Called once a frame has filled its column, or was passed over. Threads as of engine_tap. */
typedef void engine_done(void *user, const struct frame_tag *tag);

struct engine_config {
    int threads; /* clustering threads, 1 or more */
    int device;  /* GPU number, from 0; only `cuda` uses it */
};

/* The parameters of one film. */
struct engine_job {
    int width, height; /* analysis size, 1..16384 each */
    bool cluster;      /* compute k-means */
    bool rows;         /* compute row means */
    /* modes of each frame, 0..DOMINANT_MOST; the columns keep all after columns_keep_modes */
    int modes;
    struct kmeans_params kmeans;
    /* expected number of open ports; more may open. `cpu` allocates an analysis frame for each */
    int ports;
    struct columns *columns; /* destination of the results; the caller's */
    /* crop of decoded frames before downscaling; borrowed until engine_finish. NULL: none */
    const struct crop *crop;
    /* for HDR frames and linear means (light.h); borrowed until engine_finish. NULL: none */
    struct light *light;
    /* SDR table for means in linear light (--light linear); NULL: means of code values */
    const struct light_table *means;
    /* the slit to keep of each frame (columns_keep_slit); borrowed until engine_finish. NULL: none
     */
    const struct slit_line *slit;
    engine_tap *tap; /* may be NULL */
    void *tap_user;
    /*
     * receives scan frames, downscaled to scan_width x scan_height. All of a film are cropped to
     * its tightest rectangle: a rectangle that changes would look like a cut. NULL: there are none
     */
    engine_tap *scan;
    void *scan_user;
    int scan_width, scan_height;
    engine_done *done; /* may be NULL */
    void *done_user;
    /* cluster frames as soon as the device is free: a batch does not wait until it is full */
    bool prompt;
};

/*
 * Busy seconds since engine_begin, summed over threads. For `cuda`, `cluster` is GPU time from a
 * batch's first kernel to its last. `shrink` is then the time that ports waited for their frames to
 * be downscaled.
 */
struct engine_times {
    double shrink, cluster;
};

/*
 * Device memory where a decoder may leave its frames, so that they need not be copied to the host.
 * `context` is a CUcontext that lives as long as the engine; NULL: the engine accepts only host
 * memory. `exclusive`: only one process at a time may use the device (nvidia-smi --compute-mode).
 */
struct engine_device {
    void *context;
    int ordinal;
    bool exclusive;
};

struct engine;
struct engine_port;
struct sound_device;

struct engine_ops {
    const char *name; /* also the value of --engine */
    struct engine *(*open)(const struct engine_config *config, struct err *e);
    bool (*begin)(struct engine *g, const struct engine_job *job, struct err *e);
    struct engine_port *(*port_open)(struct engine *g, struct err *e);
    bool (*put)(struct engine_port *p, const struct frame_view *view, const struct frame_tag *tag,
                struct err *e);
    bool (*put_analysed)(struct engine_port *p, const uint8_t *rgb, const struct frame_tag *tag,
                         struct err *e);
    /* crop_rows of a view on the device, the port's until its next call. NULL: no device. */
    bool (*rows)(struct engine_port *p, const struct frame_view *view, struct frame_view *rows,
                 struct err *e);
    void (*port_close)(struct engine_port **p);
    /* Records the film's first failure for all ports; returns false. */
    bool (*fail)(struct engine *g, const struct err *e);
    bool (*finish)(struct engine *g, struct engine_times *times, struct err *e);
    const char *(*detail)(const struct engine *g);
    struct engine_device (*device)(const struct engine *g);               /* NULL: no device */
    struct sound_device *(*sound)(const struct engine *g, struct err *e); /* NULL: no device */
    void (*close)(struct engine **g);
    int (*count)(void); /* returns how many can be opened; NULL: 1 */
    int toolkit;        /* CUDA version as in CUDART_VERSION: 12040 is 12.4; 0: no CUDA */
};

/* The first member of an implementation's private data. */
struct engine {
    const struct engine_ops *ops;
    struct engine_job job; /* the current one */
    /* of the same kind and device, for scan frames; opened for the first film that has them */
    struct engine *scan;
    struct crop scan_crop;
};
struct engine_port {
    struct engine *engine;
    struct shrink_alpha *alpha; /* created for the first frame that needs it */
    struct engine_port *scan;   /* of engine->scan; NULL if the film has no scan frames */
};

extern const struct engine_ops engine_cpu;
extern const struct engine_ops engine_cuda; /* only in builds with CUDA */

/* Returns true if this build has the engine. engine_open checks for a device. Any thread. */
bool engine_built(const char *name);

/*
 * Returns how many engines of that name can be opened, each on its own device: the GPUs visible to
 * this process, or 1 for `cpu`. Returns 0 if there is none or this build lacks the engine.
 * Initializes the driver, so never call it before a fork. Any thread.
 */
int engine_count(const char *name);

/*
 * Opens the engine `name`. Copies `config`. Fails if the engine is not available (ERR_ENGINE), if
 * BARCODE_ISA names an unsupported instruction set (ERR_USAGE), or if out of memory. Any thread,
 * several at once.
 */
struct engine *engine_open(const char *name, const struct engine_config *config, struct err *e);

/* Prepares for one film: copies `job`, allocates memory. Only between films; any one thread. */
bool engine_begin(struct engine *g, const struct engine_job *job, struct err *e);

/* Opens a port for one thread, after engine_begin. Any thread. */
struct engine_port *engine_port_open(struct engine *g, struct err *e);

/*
 * Crops a decoded frame, downscales it to an analysis frame and queues it. The view is read before
 * this returns, in host or device memory. Waits while all batches are in use. A view with on_device
 * must come from a decoder that uses the engine's context (engine_device). Work on it is ordered
 * after the view's stream. A frame without any visible sample leaves its column MISSING and
 * `transparent`. A preview is not cropped, so a frame that is cropped as a column and is a preview
 * becomes two analysis frames. Only the tap receives previews; only engine_job.scan receives scan
 * frames.
 */
bool engine_put(struct engine_port *p, const struct frame_view *view, const struct frame_tag *tag,
                struct err *e);

/* Queues an analysis frame, rgb[height][width][3], which is read before this returns. */
bool engine_put_analysed(struct engine_port *p, const uint8_t *rgb, const struct frame_tag *tag,
                         struct err *e);

/* Submits the frames that the port still holds, and closes it. */
void engine_port_close(struct engine_port **p);

/*
 * Waits until the columns of all frames are filled. All ports must be closed. Any one thread.
 * Always fills *times. Returns false with the film's first failure in *e. The CPU engine also
 * returns ERR_INTERRUPTED if interrupted() became true, because it then stops clustering.
 */
bool engine_finish(struct engine *g, struct engine_times *times, struct err *e);

/* Returns a description such as "avx2" or "NVIDIA H200", owned by the engine. Any thread. */
const char *engine_detail(const struct engine *g);

/* Returns the engine's device, or a NULL context if it has none. Any thread. */
struct engine_device engine_device(const struct engine *g);

/*
 * Opens what computes sound on the engine's device (peaks.h), to be closed before the
 * engine. Returns NULL without an error if the engine has no device. Any thread.
 */
struct sound_device *engine_sound(const struct engine *g, struct err *e);

/* Frees an engine between films. Any one thread. */
void engine_close(struct engine **g);

SHARED_END
#endif
