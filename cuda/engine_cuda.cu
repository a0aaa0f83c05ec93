/*
 * engine_cuda.cu - the engine on one NVIDIA GPU; its bytes are the CPU engine's. Several GPUs are several engines (engine_many.c), so
 * nothing here is static but code, and every thread says which device it means before it calls the runtime.
 *
 *   port: put = take a slot of the open batch (wait), shrink into it on the port's stream
 *   full batch --> [todo] --> feeder: enqueue row sums, k-means, modes, copies --> [running] --> collector: wait, columns --> free
 *
 * A picture from NVDEC is shrunk where it lies. One from a software decoder is shrunk by the CPU, while it is still in
 * that core's cache, and only the staged frame crosses: 50 times fewer bytes than the picture, and the bytes are the
 * same. Ports outrank the clustering on the GPU, so that a decoder never waits for k-means.
 */
#include <cuda_runtime.h>
#include <pthread.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "barcode/clock.h"
#include "barcode/engine.h"
#include "barcode/queue.h"
#include "barcode/shrink.h"
#include "batch.h"
#include "cuda_check.h"
#include "device.h"
#include "dominant_gpu.h"
#include "kmeans_gpu.h"
#include "light_gpu.h"
#include "shrink_gpu.h"

namespace {

enum { BATCHES_MAX = 3 };

struct cuda {
    struct engine base;
    struct engine_job job;
    int device;
    void *context;                 /* CUcontext, the device's primary one                   */
    char detail[300];
    struct gpu_plan plan;
    struct gpu_batch batch[BATCHES_MAX];
    struct kmeans_gpu *kmeans;
    struct dominant_gpu *dominant;
    struct light_gpu *light;       /* NULL: no picture becomes light first                  */
    const struct light_table *means;   /* the job's, on the device                          */
    cudaStream_t stream;           /* clustering                                            */
    struct queue *todo, *running;
    pthread_t feeder, collector;
    bool feeding, collecting;
    pthread_mutex_t lock;          /* guards what follows                                   */
    pthread_cond_t freed;
    struct gpu_batch *open;        /* the batch that is being filled                        */
    struct gpu_batch *idle[BATCHES_MAX];
    int idles;
    bool failed;
    struct err error;
    struct engine_times times;
};

struct cuda_port {
    struct engine_port base;
    struct cuda *cuda;
    struct shrink *shrink;         /* for pictures in host memory; made when the first comes */
    uint8_t *pinned;               /* one staged frame                                      */
    uint8_t *rows;                 /* what trim_view looks at, `room` bytes; taken when first needed */
    size_t room;
    cudaStream_t stream;
    cudaEvent_t done;
    double shrink_seconds;
};

bool fail(struct cuda *c, const struct err *e)
{
    pthread_mutex_lock(&c->lock);
    if (!c->failed)
        c->error = *e;
    c->failed = true;
    pthread_cond_broadcast(&c->freed);
    pthread_mutex_unlock(&c->lock);
    if (c->todo)
        queue_abort(c->todo);
    if (c->running)
        queue_abort(c->running);
    return false;
}

/* ------------------------------------------------------------------ batches */

/* Runs on the feeder's thread: everything that one batch needs, in one go, on one stream. */
bool enqueue(struct cuda *c, struct gpu_batch *b, struct err *e)
{
    const struct engine_job *job = &c->job;
    size_t n = (size_t)b->taken, bytes = (size_t)job->width * job->height * 3, rows = n * job->height * 3;
    for (size_t i = 0; i < n; i++)
        b->host_frame[i] = b->tag[i].frame;
    const char *what = "cluster frames";
    if (!cuda_check(cudaMemcpyAsync(b->frame, b->host_frame, n * sizeof *b->frame, cudaMemcpyHostToDevice, c->stream), what, e) ||
        !cuda_check(cudaEventRecord(b->begun, c->stream), what, e) ||
        !row_sums_gpu(b->rgb, (int)n, job->width, job->height, c->means, b->sum, c->stream, e) ||
        (job->cluster && !kmeans_gpu_run(c->kmeans, b->rgb, b->frame, (int)n, c->stream, b->column, e)) ||
        (job->modes && !dominant_gpu_run(c->dominant, b->rgb, (int)n, job->width * job->height, job->modes, c->stream, b->modes, e)))
        return false;
    cudaError_t code = cudaMemcpyAsync(b->host_sum, b->sum, rows * sizeof *b->sum, cudaMemcpyDeviceToHost, c->stream);
    if (code == cudaSuccess && job->cluster)
        code = cudaMemcpyAsync(b->host_column, b->column, n * sizeof *b->column, cudaMemcpyDeviceToHost, c->stream);
    if (code == cudaSuccess && job->modes)
        code = cudaMemcpyAsync(b->host_modes, b->modes, n * sizeof *b->modes, cudaMemcpyDeviceToHost, c->stream);
    if (code == cudaSuccess && job->tap)
        code = cudaMemcpyAsync(b->host_rgb, b->rgb, n * bytes, cudaMemcpyDeviceToHost, c->stream);
    if (code == cudaSuccess)
        code = cudaEventRecord(b->done, c->stream);
    return cuda_check(code, what, e);
}

void *feeder_main(void *argument)
{
    struct cuda *c = (struct cuda *)argument;
    struct err e = ERR_INIT;
    void *item;
    bool fine = cuda_check(cudaSetDevice(c->device), "begin", &e);
    while (fine && queue_pop(c->todo, &item))
        fine = enqueue(c, (struct gpu_batch *)item, &e) && queue_push(c->running, item);
    if (!fine && e.code != ERR_NONE)
        fail(c, &e);
    queue_close(c->running);
    return NULL;
}

bool collect(struct cuda *c, struct gpu_batch *b, struct err *e)
{
    float milliseconds = 0;
    if (!cuda_check(cudaEventSynchronize(b->done), "cluster frames", e) ||
        !cuda_check(cudaEventElapsedTime(&milliseconds, b->begun, b->done), "cluster frames", e) ||
        !gpu_batch_deliver(b, &c->job, e))
        return false;
    pthread_mutex_lock(&c->lock);
    c->times.cluster += milliseconds / 1e3;
    b->taken = b->filled = 0;
    c->idle[c->idles++] = b;
    pthread_cond_broadcast(&c->freed);
    pthread_mutex_unlock(&c->lock);
    return true;
}

void *collector_main(void *argument)
{
    struct cuda *c = (struct cuda *)argument;
    struct err e = ERR_INIT;
    void *item;
    bool fine = cuda_check(cudaSetDevice(c->device), "begin", &e);
    while (fine && queue_pop(c->running, &item))
        fine = collect(c, (struct gpu_batch *)item, &e);
    if (!fine)
        fail(c, &e);
    return NULL;
}

/* A slot of the open batch; waits while every batch is in use. */
bool take_slot(struct cuda *c, struct gpu_batch **batch, int *slot, struct err *e)
{
    pthread_mutex_lock(&c->lock);
    while (!c->failed && !c->open) {
        if (c->idles > 0)
            c->open = c->idle[--c->idles];
        else
            pthread_cond_wait(&c->freed, &c->lock);
    }
    bool fine = !c->failed;
    if (fine) {
        *batch = c->open;
        *slot = c->open->taken++;
        if (c->open->taken == c->plan.frames) {
            c->open = NULL;
            pthread_cond_broadcast(&c->freed);
        }
    } else {
        *e = c->error;
    }
    pthread_mutex_unlock(&c->lock);
    return fine;
}

bool slot_filled(struct cuda *c, struct gpu_batch *b, int slot, const struct frame_tag *tag, struct err *e)
{
    b->tag[slot] = *tag;
    pthread_mutex_lock(&c->lock);
    bool whole = ++b->filled == c->plan.frames;
    pthread_mutex_unlock(&c->lock);
    if (!whole || queue_push(c->todo, b))
        return true;
    pthread_mutex_lock(&c->lock);
    *e = c->error;
    pthread_mutex_unlock(&c->lock);
    return false;
}

/* ------------------------------------------------------------------ life */

struct engine *cuda_open(const struct engine_config *config, struct err *e)
{
    struct cuda *c = (struct cuda *)calloc(1, sizeof *c);
    if (!c) {
        err_memory(e, sizeof *c);
        return NULL;
    }
    c->base.ops = &engine_cuda;
    c->device = config->device;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->freed, NULL);
    if (gpu_device_start(c->device, &c->context, c->detail, sizeof c->detail, e))
        return &c->base;
    struct engine *g = &c->base;
    engine_close(&g);
    return NULL;
}

void release_film(struct cuda *c)
{
    for (int i = 0; i < BATCHES_MAX; i++)
        gpu_batch_close(&c->batch[i]);
    kmeans_gpu_free(&c->kmeans);
    dominant_gpu_free(&c->dominant);
    light_gpu_free(&c->light);
    c->means = NULL;
    if (c->stream)
        cudaStreamDestroy(c->stream);
    c->stream = NULL;
    queue_free(&c->todo);
    queue_free(&c->running);
    c->open = NULL;
    c->idles = 0;
}

/* A stream of the highest priority or the lowest. A call that fails leaves an invalid handle, which must not be destroyed. */
bool open_stream(cudaStream_t *stream, bool urgent, struct err *e)
{
    int least, greatest;
    const char *what = "make a stream";
    if (cuda_check(cudaDeviceGetStreamPriorityRange(&least, &greatest), what, e) &&
        cuda_check(cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, urgent ? greatest : least), what, e))
        return true;
    *stream = NULL;
    return false;
}

bool take_memory(struct cuda *c, struct err *e)
{
    const struct engine_job *job = &c->job;
    if (!gpu_plan_choose(job, &c->plan, e) || !open_stream(&c->stream, false, e) || (job->light && !(c->light = light_gpu_open(job->light, e))) ||
        (job->means && !(c->means = light_gpu_table(c->light, TRANSFER_SDR, e))))
        return false;
    c->todo = queue_open(BATCHES_MAX, NULL, e);
    c->running = queue_open(BATCHES_MAX, NULL, e);
    if (!c->todo || !c->running)
        return false;
    for (int i = 0; i < c->plan.batches; i++) {
        if (!gpu_batch_open(&c->batch[i], job, c->plan.frames, e))
            return false;
        c->idle[c->idles++] = &c->batch[i];
    }
    if (job->cluster && !(c->kmeans = kmeans_gpu_open(&job->kmeans, job->width * job->height, c->plan.frames, e)))
        return false;
    return !job->modes || (c->dominant = dominant_gpu_open(c->plan.frames, e));
}

void stop_threads(struct cuda *c)
{
    queue_close(c->todo);
    if (c->feeding)
        pthread_join(c->feeder, NULL);
    if (c->collecting)
        pthread_join(c->collector, NULL);
    c->feeding = c->collecting = false;
}

bool cuda_begin(struct engine *g, const struct engine_job *job, struct err *e)
{
    struct cuda *c = (struct cuda *)g;
    c->job = *job;
    c->times = {0, 0};
    c->failed = false;
    err_clear(&c->error);
    bool fine = cuda_check(cudaSetDevice(c->device), "begin", e) && take_memory(c, e);
    if (fine) {
        c->feeding = pthread_create(&c->feeder, NULL, feeder_main, c) == 0;
        c->collecting = c->feeding && pthread_create(&c->collector, NULL, collector_main, c) == 0;
        if (c->collecting)
            return true;
        err_set(e, ERR_FAILED, "no thread could be started");
        stop_threads(c);
    }
    release_film(c);
    cudaGetLastError();        /* clears the error: a lack of memory must not fail the next film */
    return false;
}

bool cuda_finish(struct engine *g, struct engine_times *times, struct err *e)
{
    struct cuda *c = (struct cuda *)g;
    cudaSetDevice(c->device);      /* the thread may be another than engine_begin's, whose last engine may be another GPU's */
    /* Every port is closed: what the open batch has is whole. */
    if (c->open && c->open->taken > 0)
        queue_push(c->todo, c->open);
    stop_threads(c);
    if (c->stream)
        cudaStreamSynchronize(c->stream);
    release_film(c);
    *times = c->times;
    if (!c->failed)
        return true;
    *e = c->error;
    return false;
}

const char *cuda_detail(const struct engine *g)
{
    return ((const struct cuda *)g)->detail;
}

struct engine_device cuda_device(const struct engine *g)
{
    const struct cuda *c = (const struct cuda *)g;
    return {c->context, c->device};
}

void cuda_close(struct engine **g)
{
    struct cuda *c = (struct cuda *)*g;
    pthread_cond_destroy(&c->freed);
    pthread_mutex_destroy(&c->lock);
    free(c);
    *g = NULL;
}

/* ------------------------------------------------------------------ ports */

void cuda_port_close(struct engine_port **port)
{
    struct cuda_port *p = (struct cuda_port *)*port;
    cudaSetDevice(p->cuda->device);
    pthread_mutex_lock(&p->cuda->lock);
    p->cuda->times.shrink += p->shrink_seconds;
    pthread_mutex_unlock(&p->cuda->lock);
    shrink_free(&p->shrink);
    cudaFreeHost(p->pinned);
    cudaFreeHost(p->rows);
    if (p->done)
        cudaEventDestroy(p->done);
    if (p->stream)
        cudaStreamDestroy(p->stream);
    free(p);
    *port = NULL;
}

struct engine_port *cuda_port_open(struct engine *g, struct err *e)
{
    struct cuda *c = (struct cuda *)g;
    struct cuda_port *p = (struct cuda_port *)calloc(1, sizeof *p);
    if (!p) {
        err_memory(e, sizeof *p);
        return NULL;
    }
    p->base.engine = g;
    p->cuda = c;
    const char *what = "make a stream";
    if (cuda_check(cudaSetDevice(c->device), what, e) && open_stream(&p->stream, true, e) &&
        cuda_check(cudaEventCreateWithFlags(&p->done, cudaEventBlockingSync | cudaEventDisableTiming), what, e) &&
        cuda_check(cudaMallocHost(&p->pinned, (size_t)c->job.width * c->job.height * 3), "take memory for frames", e))
        return &p->base;
    struct engine_port *port = &p->base;
    cuda_port_close(&port);
    return NULL;
}

/* Waits until the port's stream has passed: the decoder's surface is free again, the slot is filled. */
bool settle(struct cuda_port *p, struct err *e)
{
    return cuda_check(cudaEventRecord(p->done, p->stream), "shrink a picture", e) &&
           cuda_check(cudaEventSynchronize(p->done), "shrink a picture", e);
}

bool upload(struct cuda_port *p, uint8_t *slot, struct err *e)
{
    size_t bytes = (size_t)p->cuda->job.width * p->cuda->job.height * 3;
    return cuda_check(cudaMemcpyAsync(slot, p->pinned, bytes, cudaMemcpyHostToDevice, p->stream), "upload a frame", e) &&
           settle(p, e);
}

bool shrink_here(struct cuda_port *p, const struct frame_view *view, uint8_t *slot, struct err *e)
{
    if (!p->shrink) {
        p->shrink = shrink_open(p->cuda->job.width, p->cuda->job.height, e);
        if (!p->shrink)
            return false;
        shrink_use_light(p->shrink, p->cuda->job.light);
    }
    return shrink_frame(p->shrink, view, p->pinned, e) && upload(p, slot, e);
}

bool shrink_there(struct cuda_port *p, const struct frame_view *view, uint8_t *slot, struct err *e)
{
    const struct engine_job *job = &p->cuda->job;
    const struct light_table *light = NULL;
    if (light_wanted(job->light, view->transfer) && !(light = light_gpu_table(p->cuda->light, view->transfer, e)))
        return false;
    return shrink_gpu(view, job->width, job->height, light, slot, p->stream, e) && settle(p, e);
}

/* `view` or, when it is NULL, the staged frame `rgb`. */
bool put(struct cuda_port *p, const struct frame_view *view, const uint8_t *rgb, const struct frame_tag *tag, struct err *e)
{
    struct cuda *c = p->cuda;
    size_t bytes = (size_t)c->job.width * c->job.height * 3;
    struct gpu_batch *b;
    int index;
    if (!take_slot(c, &b, &index, e))
        return false;
    int64_t before = clock_ns();
    uint8_t *slot = b->rgb + (size_t)index * bytes;
    bool fine = cuda_check(cudaSetDevice(c->device), "begin", e);
    if (fine && view && view->on_device)
        fine = shrink_there(p, view, slot, e);
    else if (fine && view)
        fine = shrink_here(p, view, slot, e);
    else if (fine)
        fine = (memcpy(p->pinned, rgb, bytes), upload(p, slot, e));
    p->shrink_seconds += (double)(clock_ns() - before) / 1e9;
    return fine ? slot_filled(c, b, index, tag, e) : fail(c, e);
}

/* The luma rows that trim_rows names, of a picture on the device. */
bool cuda_rows(struct engine_port *port, const struct frame_view *view, struct frame_view *rows, struct err *e)
{
    struct cuda_port *p = (struct cuda_port *)port;
    struct plane *to = &rows->plane[0];
    const char *what = "look at a picture's bars";
    *rows = trim_rows(view);
    size_t pitch = (size_t)(to->width - 1) * to->step + (view->bits > 8 ? 2 : 1), bytes = pitch * to->height;
    bool fine = cuda_check(cudaSetDevice(p->cuda->device), what, e);
    if (fine && bytes > p->room) {
        cudaFreeHost(p->rows);
        p->rows = NULL;
        p->room = 0;
        fine = cuda_check(cudaMallocHost(&p->rows, bytes), what, e);
        p->room = fine ? bytes : 0;
    }
    fine = fine && cuda_check(cudaMemcpy2DAsync(p->rows, pitch, to->data, to->pitch, pitch, to->height, cudaMemcpyDeviceToHost, p->stream), what, e) &&
           settle(p, e);
    to->data = p->rows;
    to->pitch = (ptrdiff_t)pitch;
    rows->on_device = false;
    return fine ? true : fail(p->cuda, e);
}

bool cuda_put(struct engine_port *port, const struct frame_view *view, const struct frame_tag *tag, struct err *e)
{
    return put((struct cuda_port *)port, view, NULL, tag, e);
}

bool cuda_put_staged(struct engine_port *port, const uint8_t *rgb, const struct frame_tag *tag, struct err *e)
{
    return put((struct cuda_port *)port, NULL, rgb, tag, e);
}

void *cuda_stream(struct engine_port *port)
{
    return ((struct cuda_port *)port)->stream;
}

}  // namespace

extern "C" const struct engine_ops engine_cuda = {
    "cuda", cuda_open, cuda_begin, cuda_port_open, cuda_put, cuda_put_staged, cuda_rows, cuda_port_close,
    cuda_finish, cuda_detail, cuda_device, cuda_stream, cuda_close, gpu_device_count, NULL, NULL,
};
