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

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "barcode/base/clock.h"

/* ------------------------------------------------------------------ devices */

namespace {

/* Gets the runtime's primary context, which libavcodec's decoders share. */
bool find_context(void **context, struct err *e)
{
    typedef int get_current(void **);
    void *function = NULL;
    cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
    cudaError_t code = cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &function, 12000,
                                                        cudaEnableDefault, &found);
#else
    cudaError_t code =
        cudaGetDriverEntryPoint("cuCtxGetCurrent", &function, cudaEnableDefault, &found);
#endif
    if (!cuda_check(code, "find the driver", e))
        return false;
    if (found != cudaDriverEntryPointSuccess || ((get_current *)function)(context) != 0 ||
        !*context)
        return err_set(e, ERR_ENGINE, "the CUDA driver returned no context");
    return true;
}

/* Returns the number of GPUs visible to this process, 0 without a driver. Any thread. */
int gpu_device_count(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess)
        return count;
    cudaGetLastError(); /* clears the error: opening a device reports it */
    return 0;
}

/* Returns true if the GPU's compute mode allows only one process at a time. Any thread. */
bool gpu_device_is_exclusive(int device)
{
    int mode = cudaComputeModeDefault;
    return cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, device) != cudaSuccess ||
           mode != cudaComputeModeDefault;
}

/*
 * Makes GPU `device`, from 0, current for the calling thread. Sets *context to its primary context
 * and writes its name to `detail`, truncated to `size`. Fails with ERR_ENGINE if the GPU cannot be
 * used. Any thread, several at once.
 */
bool gpu_device_start(int device, void **context, char *detail, size_t size, struct err *e)
{
    int count = 0;
    int driver = 0;
    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
        return err_set(e, ERR_ENGINE,
                       "there is no usable CUDA device: no NVIDIA driver is installed");
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code != cudaSuccess || count == 0)
        return err_set(e, ERR_ENGINE, "there is no usable CUDA device: %s",
                       code == cudaSuccess ? "none found" : cudaGetErrorString(code));
    if (device >= count)
        return err_set(e, ERR_ENGINE, "there is no CUDA device %d: the last one is %d", device,
                       count - 1);
    cudaDeviceProp p;
    if (!cuda_check(cudaGetDeviceProperties(&p, device), "ask the device", e))
        return false;
    if (p.major * 10 + p.minor < 75)
        return err_set(e, ERR_ENGINE,
                       "CUDA device %d (%s) is too old: compute capability %d.%d, 7.5 is needed",
                       device, p.name, p.major, p.minor);
    snprintf(detail, size, "%s", p.name);
    /* Threads that wait for the GPU sleep, because the software decoders need the cores. */
    return cuda_check(cudaSetDevice(device), "begin", e) &&
           cuda_check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), "begin", e) &&
           cuda_check(cudaFree(0), "begin", e) && find_context(context, e);
}

} // namespace

/* ------------------------------------------------------------------ slots */

size_t gpu_frame_bytes(const struct engine_job *job)
{
    return (size_t)job->width * job->height * 3;
}

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

bool cuda_reserve_slot(struct cuda *c, struct gpu_batch **batch, int *slot, struct err *e)
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
static struct gpu_batch *close_prompt_batch(struct cuda *c)
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
    struct gpu_batch *due;
    b->filled++;
    if (b->filled == c->plan.frames) {
        c->in_flight++;
        due = b;
    } else {
        due = close_prompt_batch(c);
    }
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

/* Chooses the plan: enough frames for every multiprocessor, but no more than fit in memory. */
bool gpu_plan_choose(const struct engine_job *job, struct gpu_plan *plan, struct err *e)
{
    size_t free_bytes, total;
    int device, multiprocessors;
    if (!cuda_check(cudaMemGetInfo(&free_bytes, &total), "see the free memory", e) ||
        !cuda_check(cudaGetDevice(&device), "find the device", e) ||
        !cuda_check(
            cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
            "ask the device", e))
        return false;
    /* Decoders need memory too: a third of the free memory, and at most 192 MiB a batch. */
    size_t budget = free_bytes / 3, most = (size_t)192 << 20, bytes = gpu_frame_bytes(job);
    plan->batches = 3;
    int frames = 2 * multiprocessors;
    while (frames > 1 && frames * bytes > most)
        frames = (frames + 1) / 2;
    for (; frames >= 1; frames /= 2) {
        size_t workspace =
            job->cluster ? kmeans_gpu_bytes(&job->kmeans, (int)(bytes / 3), frames) : 0;
        workspace += job->modes ? dominant_gpu_bytes(frames) : 0;
        if (plan->batches * frames * bytes + workspace <= budget || frames == 1)
            break;
    }
    plan->frames = frames;
    return true;
}

/* Allocates the batch's memory; *b must be zeroed. Call gpu_batch_close even on failure. */
bool gpu_batch_open(struct gpu_batch *b, const struct engine_job *job, int frames, struct err *e)
{
    size_t bytes = gpu_frame_bytes(job), n = (size_t)frames, rows = n * job->height * 3;
    const char *what = "take memory for frames";
    b->tag = (struct frame_tag *)calloc(n, sizeof *b->tag);
    if (!b->tag)
        return err_memory(e, n * sizeof *b->tag);
    cudaError_t code = cudaEventCreate(&b->begun);
    if (code == cudaSuccess)
        code = cudaEventCreateWithFlags(&b->done, cudaEventBlockingSync);
    if (code == cudaSuccess)
        code = cudaMalloc(&b->rgb, n * bytes);
    if (code == cudaSuccess)
        code = cudaMalloc(&b->frame, n * sizeof *b->frame);
    if (code == cudaSuccess)
        code = cudaMalloc(&b->sum, rows * sizeof *b->sum);
    if (code == cudaSuccess)
        code = cudaMallocHost(&b->host_frame, n * sizeof *b->frame);
    if (code == cudaSuccess)
        code = cudaMallocHost(&b->host_sum, rows * sizeof *b->sum);
    if (code == cudaSuccess && job->tap)
        code = cudaMallocHost(&b->host_rgb, n * bytes);
    if (code == cudaSuccess && job->modes)
        code = cudaMalloc(&b->modes, n * sizeof *b->modes);
    if (code == cudaSuccess && job->modes)
        code = cudaMallocHost(&b->host_modes, n * sizeof *b->modes);
    if (code == cudaSuccess && job->cluster)
        code = cudaMalloc(&b->column, n * sizeof *b->column);
    if (code == cudaSuccess && job->cluster)
        code = cudaMallocHost(&b->host_column, n * sizeof *b->column);
    return cuda_check(code, what, e);
}

void gpu_batch_close(struct gpu_batch *b)
{
    free(b->tag);
    if (b->begun)
        cudaEventDestroy(b->begun);
    if (b->done)
        cudaEventDestroy(b->done);
    cudaFree(b->rgb);
    cudaFree(b->frame);
    cudaFree(b->sum);
    cudaFree(b->column);
    cudaFree(b->modes);
    cudaFreeHost(b->host_frame);
    cudaFreeHost(b->host_sum);
    cudaFreeHost(b->host_column);
    cudaFreeHost(b->host_modes);
    cudaFreeHost(b->host_rgb);
    memset(b, 0, sizeof *b);
}

bool deliver_one(const struct gpu_batch *b, int i, const struct engine_job *job, struct err *e)
{
    const struct frame_tag *tag = &b->tag[i];
    struct column *to = columns_at(job->columns, tag->column, e);
    if (!to)
        return false;
    column_fill(to, tag, b->host_sum + (size_t)i * job->height * 3, job->width, job->height,
                job->rows, job->means);
    if (job->cluster) {
        const struct gpu_column *from = &b->host_column[i];
        to->clusters = (uint8_t)from->clusters;
        memcpy(to->cluster, from->cluster, (size_t)from->clusters * sizeof *to->cluster);
    }
    if (job->modes)
        column_fill_modes(to, b->host_modes[i].mode, b->host_modes[i].modes);
    columns_note_done(job->columns, tag);
    return true;
}

/* Writes the columns of a batch after its `done` event; calls the tap. */
bool gpu_batch_deliver(struct gpu_batch *b, const struct engine_job *job, struct err *e)
{
    for (int i = 0; i < b->taken; i++) {
        if (job->tap &&
            !job->tap(job->tap_user, &b->tag[i], b->host_rgb + (size_t)i * gpu_frame_bytes(job), e))
            return false;
        if (frame_fills_column(&b->tag[i]) && !deliver_one(b, i, job, e))
            return false;
    }
    return true;
}

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
    struct gpu_batch *due = close_prompt_batch(c);
    pthread_cond_broadcast(&c->freed);
    pthread_mutex_unlock(&c->lock);
    if (due && !queue_push(c->todo, due))
        return err_set(e, ERR_ENGINE, "the GPU has failed");
    return true;
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

/* Returns true if allocate_film allocates the same for both jobs. */
bool same_shape(const struct engine_job *a, const struct engine_job *b)
{
    const struct kmeans_params *p = &a->kmeans, *q = &b->kmeans;
    return a->width == b->width && a->height == b->height && a->cluster == b->cluster &&
           !a->modes == !b->modes && !a->tap == !b->tap && p->k == q->k && p->n_init == q->n_init &&
           p->max_iter == q->max_iter && p->init == q->init && p->seed == q->seed &&
           p->race == q->race;
}

/* Allocates memory for films of the job's shape. */
bool allocate_film(struct cuda *c, struct err *e)
{
    const struct engine_job *job = &c->job;
    if (!gpu_plan_choose(job, &c->plan, e) || !cuda_stream_open(&c->stream, false, e))
        return false;
    for (int i = 0; i < c->plan.batches; i++)
        if (!gpu_batch_open(&c->batch[i], job, c->plan.frames, e))
            return false;
    if (job->cluster) {
        c->kmeans = kmeans_gpu_open(&job->kmeans, job->width * job->height, c->plan.frames, e);
        if (!c->kmeans)
            return false;
    }
    if (job->modes) {
        c->dominant = dominant_gpu_open(c->plan.frames, e);
        if (!c->dominant)
            return false;
    }
    return true;
}

bool begin_film(struct cuda *c, struct err *e)
{
    const struct engine_job *job = &c->job;
    if (job->light) {
        c->light = light_gpu_open(job->light, e);
        if (!c->light)
            return false;
    }
    if (job->means) {
        c->means = light_gpu_table(c->light, TRANSFER_SDR, e);
        if (!c->means)
            return false;
    }
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
    ok = ok && (kept || allocate_film(c, e)) && begin_film(c, e);
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
