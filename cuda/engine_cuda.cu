/*
 * engine_cuda.cu - the engine on one NVIDIA GPU; it gives the same bytes as the CPU engine. Several
 * threads of a process may each have one, also on different GPUs. So there is no static data, and
 * every thread sets its device before it calls the runtime.
 *
 *   port: put = wait for a slot of the open batch, downscale into it on the frame's or port's
 *   stream; full batch --> [todo]    --> feeder: enqueue row sums, k-means, modes, copies
 *                      --> [running] --> collector: wait, fill columns --> idle
 *
 * Memory, streams and ports are reused for the next film. Creating and freeing them takes as long
 * as a short film and blocks other threads' kernels. They are freed before a film of another shape.
 *
 * Ports (port.cu) have priority over clustering on the GPU, so that a decoder never waits for
 * k-means.
 */
#include "engine_cuda.h"

#include <cstdlib>

#include "barcode/base/clock.h"
#include "cuda_check.h"
#include "device.h"
#include "shrink_gpu.h"
#include "sound_gpu.h"

bool cuda_fail(struct cuda *c, const struct err *e)
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

bool cuda_take_slot(struct cuda *c, struct gpu_batch **batch, int *slot, struct err *e)
{
    pthread_mutex_lock(&c->lock);
    while (!c->failed && !c->open) {
        if (c->idles > 0)
            c->open = c->idle[--c->idles];
        else
            pthread_cond_wait(&c->freed, &c->lock);
    }
    bool ok = !c->failed;
    if (ok) {
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
    return ok;
}

/*
 * Takes the open batch away from the ports, if the job is prompt, no other batch is in flight and
 * no port is filling a slot. Returns NULL otherwise. Frames that come while a batch is in flight
 * wait in the next one. `c` must be locked.
 */
static struct gpu_batch *take_prompt(struct cuda *c)
{
    struct gpu_batch *b = c->open;
    if (!c->job.prompt || c->in_flight > 0 || !b || b->taken == 0 || b->filled < b->taken)
        return NULL;
    c->open = NULL;
    c->in_flight++;
    pthread_cond_broadcast(&c->freed);
    return b;
}

bool cuda_slot_filled(struct cuda *c, struct gpu_batch *b, int slot, const struct frame_tag *tag,
                      struct err *e)
{
    b->tag[slot] = *tag;
    pthread_mutex_lock(&c->lock);
    bool whole = ++b->filled == c->plan.frames;
    c->in_flight += whole;
    struct gpu_batch *due = whole ? b : take_prompt(c);
    pthread_mutex_unlock(&c->lock);
    if (!due || queue_push(c->todo, due))
        return true;
    pthread_mutex_lock(&c->lock);
    *e = c->error;
    pthread_mutex_unlock(&c->lock);
    return false;
}

bool cuda_stream_open(cudaStream_t *stream, bool urgent, struct err *e)
{
    int least, greatest;
    const char *what = "make a stream";
    if (cuda_check(cudaDeviceGetStreamPriorityRange(&least, &greatest), what, e) &&
        cuda_check(
            cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, urgent ? greatest : least),
            what, e))
        return true;
    *stream = NULL;
    return false;
}

namespace {

/* ------------------------------------------------------------------ batches */

/* Enqueues all the work of one batch on one stream. Called by the feeder thread. */
bool enqueue(struct cuda *c, struct gpu_batch *b, struct err *e)
{
    const struct engine_job *job = &c->job;
    size_t n = (size_t)b->taken, bytes = gpu_frame_bytes(job), rows = n * job->height * 3;
    for (size_t i = 0; i < n; i++)
        b->host_frame[i] = b->tag[i].frame;
    const char *what = "cluster frames";
    if (!cuda_check(cudaMemcpyAsync(b->frame, b->host_frame, n * sizeof *b->frame,
                                    cudaMemcpyHostToDevice, c->stream),
                    what, e) ||
        !cuda_check(cudaEventRecord(b->begun, c->stream), what, e) ||
        !row_sums_gpu(b->rgb, (int)n, job->width, job->height, c->means, b->sum, c->stream, e) ||
        (job->cluster &&
         !kmeans_gpu_run(c->kmeans, b->rgb, b->frame, (int)n, c->stream, b->column, e)) ||
        (job->modes && !dominant_gpu_run(c->dominant, b->rgb, (int)n, job->width * job->height,
                                         job->modes, c->stream, b->modes, e)))
        return false;
    cudaError_t code = cudaMemcpyAsync(b->host_sum, b->sum, rows * sizeof *b->sum,
                                       cudaMemcpyDeviceToHost, c->stream);
    if (code == cudaSuccess && job->cluster)
        code = cudaMemcpyAsync(b->host_column, b->column, n * sizeof *b->column,
                               cudaMemcpyDeviceToHost, c->stream);
    if (code == cudaSuccess && job->modes)
        code = cudaMemcpyAsync(b->host_modes, b->modes, n * sizeof *b->modes,
                               cudaMemcpyDeviceToHost, c->stream);
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
    bool ok = cuda_check(cudaSetDevice(c->device), "begin", &e);
    while (ok && queue_pop(c->todo, &item))
        ok = enqueue(c, (struct gpu_batch *)item, &e) && queue_push(c->running, item);
    if (!ok && e.code != ERR_NONE)
        cuda_fail(c, &e);
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
    for (int i = 0; c->job.done && i < b->taken; i++)
        c->job.done(c->job.done_user, &b->tag[i]);
    pthread_mutex_lock(&c->lock);
    c->times.cluster += milliseconds / 1e3;
    b->taken = b->filled = 0;
    c->idle[c->idles++] = b;
    c->in_flight--;
    struct gpu_batch *due = take_prompt(c);
    pthread_cond_broadcast(&c->freed);
    pthread_mutex_unlock(&c->lock);
    return !due || queue_push(c->todo, due) || err_set(e, ERR_ENGINE, "the GPU has failed");
}

void *collector_main(void *argument)
{
    struct cuda *c = (struct cuda *)argument;
    struct err e = ERR_INIT;
    void *item;
    bool ok = cuda_check(cudaSetDevice(c->device), "begin", &e);
    while (ok && queue_pop(c->running, &item))
        ok = collect(c, (struct gpu_batch *)item, &e);
    if (!ok)
        cuda_fail(c, &e);
    return NULL;
}

/* ------------------------------------------------------------------ lifetime */

struct engine *cuda_open(const struct engine_config *config, struct err *e)
{
    struct cuda *c = (struct cuda *)err_calloc(1, sizeof *c, e);
    if (!c)
        return NULL;
    c->base.ops = &engine_cuda;
    c->device = config->device;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->freed, NULL);
    if (gpu_device_start(c->device, &c->context, c->detail, sizeof c->detail, e)) {
        c->exclusive = gpu_device_is_exclusive(c->device);
        return &c->base;
    }
    struct engine *g = &c->base;
    engine_close(&g);
    return NULL;
}

/* Frees what belongs to the film. */
void release_film(struct cuda *c)
{
    light_gpu_free(&c->light);
    c->means = NULL;
    queue_free(&c->todo);
    queue_free(&c->running);
    c->open = NULL;
    c->idles = 0;
    c->in_flight = 0;
}

/* Frees everything, including what the next film could reuse. */
void release_all(struct cuda *c)
{
    release_film(c);
    while (c->spare) {
        struct cuda_port *p = c->spare;
        c->spare = p->next;
        cuda_port_destroy(p);
    }
    for (int i = 0; i < BATCHES_MAX; i++)
        gpu_batch_close(&c->batch[i]);
    c->plan = {0, 0};
    kmeans_gpu_free(&c->kmeans);
    dominant_gpu_free(&c->dominant);
    if (c->stream)
        cudaStreamDestroy(c->stream);
    c->stream = NULL;
}

/* Returns true if take_memory allocates the same for both jobs. */
bool same_shape(const struct engine_job *a, const struct engine_job *b)
{
    const struct kmeans_params *p = &a->kmeans, *q = &b->kmeans;
    return a->width == b->width && a->height == b->height && a->cluster == b->cluster &&
           !a->modes == !b->modes && !a->tap == !b->tap && p->k == q->k && p->n_init == q->n_init &&
           p->max_iter == q->max_iter && p->init == q->init && p->seed == q->seed &&
           p->race == q->race;
}

/* Allocates memory for films of the job's shape. */
bool take_memory(struct cuda *c, struct err *e)
{
    const struct engine_job *job = &c->job;
    if (!gpu_plan_choose(job, &c->plan, e) || !cuda_stream_open(&c->stream, false, e))
        return false;
    for (int i = 0; i < c->plan.batches; i++)
        if (!gpu_batch_open(&c->batch[i], job, c->plan.frames, e))
            return false;
    if (job->cluster &&
        !(c->kmeans = kmeans_gpu_open(&job->kmeans, job->width * job->height, c->plan.frames, e)))
        return false;
    return !job->modes || (c->dominant = dominant_gpu_open(c->plan.frames, e));
}

bool begin_film(struct cuda *c, struct err *e)
{
    const struct engine_job *job = &c->job;
    if ((job->light && !(c->light = light_gpu_open(job->light, e))) ||
        (job->means && !(c->means = light_gpu_table(c->light, TRANSFER_SDR, e))))
        return false;
    for (int i = 0; i < c->plan.batches; i++) {
        c->batch[i].taken = c->batch[i].filled = 0;
        c->idle[c->idles++] = &c->batch[i];
    }
    c->todo = queue_open(BATCHES_MAX, NULL, e);
    c->running = queue_open(BATCHES_MAX, NULL, e);
    return c->todo && c->running;
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
    bool ok = cuda_check(cudaSetDevice(c->device), "begin", e),
         kept = c->plan.frames > 0 && same_shape(&c->job, job);
    if (!kept)
        release_all(c);
    c->job = *job;
    c->times = {0, 0};
    c->failed = false;
    err_clear(&c->error);
    ok = ok && (kept || take_memory(c, e)) && begin_film(c, e);
    if (ok) {
        c->feeding = pthread_create(&c->feeder, NULL, feeder_main, c) == 0;
        c->collecting = c->feeding && pthread_create(&c->collector, NULL, collector_main, c) == 0;
        if (c->collecting)
            return true;
        err_set(e, ERR_FAILED, "cannot start a thread");
        stop_threads(c);
    }
    release_all(c);
    cudaGetLastError(); /* clears the error: running out of memory must not fail the next film */
    return false;
}

bool cuda_failed(struct engine *g, const struct err *e) { return cuda_fail((struct cuda *)g, e); }

bool cuda_finish(struct engine *g, struct engine_times *times, struct err *e)
{
    struct cuda *c = (struct cuda *)g;
    /* this thread may differ from engine_begin's and may have used another GPU */
    cudaSetDevice(c->device);
    /* All ports are closed, so the frames of the open batch are complete. */
    if (c->open && c->open->taken > 0)
        queue_push(c->todo, c->open);
    stop_threads(c);
    if (c->stream)
        cudaStreamSynchronize(c->stream);
    release_film(c);
    *times = c->times;
    if (!c->failed)
        return true;
    release_all(c);
    *e = c->error;
    return false;
}

const char *cuda_detail(const struct engine *g) { return ((const struct cuda *)g)->detail; }

struct engine_device cuda_device(const struct engine *g)
{
    const struct cuda *c = (const struct cuda *)g;
    return {c->context, c->device, c->exclusive};
}

struct sound_device *cuda_sound(const struct engine *g, struct err *e)
{
    return sound_gpu_open(((const struct cuda *)g)->device, e);
}

void cuda_close(struct engine **g)
{
    struct cuda *c = (struct cuda *)*g;
    cudaSetDevice(c->device);
    release_all(c);
    pthread_cond_destroy(&c->freed);
    pthread_mutex_destroy(&c->lock);
    free(c);
    *g = NULL;
}

} // namespace

extern "C" const struct engine_ops engine_cuda = {
    "cuda",     cuda_open,       cuda_begin,       cuda_port_open, cuda_put,    cuda_put_analysed,
    cuda_rows,  cuda_port_close, cuda_failed,      cuda_finish,    cuda_detail, cuda_device,
    cuda_sound, cuda_close,      gpu_device_count, CUDART_VERSION,
};
