/*
 * port.cu - a thread's port of the GPU engine: downscales a frame into a slot of a batch.
 *
 * A frame from NVDEC is downscaled on the GPU. A frame from a software decoder is downscaled by the
 * CPU, while it is still in that core's cache. Only the much smaller analysis frame is uploaded,
 * and the bytes are the same.
 *
 * Work on an NVDEC frame is enqueued on its decoder's stream, after the decoding. A port's own
 * stream and memory are created for the first frame without a stream, because creating them waits
 * for decoders that are being created.
 */
#include <cstdlib>
#include <cstring>

#include "barcode/base/clock.h"
#include "engine_cuda.h"

void cuda_port_destroy(struct cuda_port *p)
{
    shrink_free(&p->shrink);
    cudaFreeHost(p->pinned);
    cudaFreeHost(p->rows);
    if (p->done)
        cudaEventDestroy(p->done);
    if (p->stream)
        cudaStreamDestroy(p->stream);
    free(p);
}

void cuda_port_close(struct engine_port **port)
{
    struct cuda_port *p = (struct cuda_port *)*port;
    struct cuda *c = p->cuda;
    *port = NULL;
    shrink_free(&p->shrink); /* it refers to the film's light */
    pthread_mutex_lock(&c->lock);
    c->times.shrink += p->shrink_seconds;
    p->shrink_seconds = 0;
    p->next = c->spare;
    c->spare = p;
    pthread_mutex_unlock(&c->lock);
}

struct engine_port *cuda_port_open(struct engine *g, struct err *e)
{
    struct cuda *c = (struct cuda *)g;
    pthread_mutex_lock(&c->lock);
    struct cuda_port *p = c->spare;
    c->spare = p ? p->next : NULL;
    pthread_mutex_unlock(&c->lock);
    if (p)
        return &p->base;
    p = (struct cuda_port *)err_calloc(1, sizeof *p, e);
    if (!p)
        return NULL;
    p->base.engine = g;
    p->cuda = c;
    const char *what = "begin";
    if (cuda_check(cudaSetDevice(c->device), what, e) &&
        cuda_check(
            cudaEventCreateWithFlags(&p->done, cudaEventBlockingSync | cudaEventDisableTiming),
            what, e))
        return &p->base;
    cuda_port_destroy(p);
    return NULL;
}

/* Creates the port's own stream. */
static bool make_stream(struct cuda_port *p, struct err *e)
{
    return p->stream || cuda_stream_open(&p->stream, true, e);
}

/* Creates the port's stream and memory, for a frame to upload. */
static bool make_ready(struct cuda_port *p, struct err *e)
{
    size_t bytes = gpu_frame_bytes(&p->cuda->job);
    return make_stream(p, e) && (p->pinned || cuda_check(cudaMallocHost(&p->pinned, bytes),
                                                         "take memory for frames", e));
}

/* Sets *stream to the stream for work on a device frame. */
static bool stream_of(struct cuda_port *p, const struct frame_view *view, cudaStream_t *stream,
                      struct err *e)
{
    bool ok = view->stream || make_stream(p, e);
    *stream = view->stream ? (cudaStream_t)view->stream : p->stream;
    return ok;
}

/* Waits for the stream: then the decoder's surface is free again, and the slot is filled. */
static bool wait_for_stream(struct cuda_port *p, cudaStream_t stream, struct err *e)
{
    return cuda_check(cudaEventRecord(p->done, stream), "downscale a frame", e) &&
           cuda_check(cudaEventSynchronize(p->done), "downscale a frame", e);
}

static bool upload(struct cuda_port *p, uint8_t *slot, struct err *e)
{
    size_t bytes = gpu_frame_bytes(&p->cuda->job);
    return cuda_check(cudaMemcpyAsync(slot, p->pinned, bytes, cudaMemcpyHostToDevice, p->stream),
                      "upload a frame", e) &&
           wait_for_stream(p, p->stream, e);
}

/* Downscales a frame in host memory to p->pinned. */
static bool shrink_here(struct cuda_port *p, const struct frame_view *view, struct err *e)
{
    if (!p->shrink) {
        p->shrink = shrink_open(p->cuda->job.width, p->cuda->job.height, e);
        if (!p->shrink)
            return false;
        shrink_use_light(p->shrink, p->cuda->job.light);
    }
    return shrink_frame(p->shrink, view, p->pinned, e);
}

static bool shrink_there(struct cuda_port *p, const struct frame_view *view, uint8_t *slot,
                         struct err *e)
{
    const struct engine_job *job = &p->cuda->job;
    const struct light_table *light = NULL;
    struct light_gamut gamut = {};
    cudaStream_t stream;
    if (light_wanted(job->light, view) &&
        !(light = light_gpu_table(p->cuda->light, view->transfer, e)))
        return false;
    if (light)
        gamut = light_gamut(job->light, view->transfer, view->primaries);
    return stream_of(p, view, &stream, e) &&
           shrink_gpu(view, job->width, job->height, light, &gamut, slot, stream, e) &&
           wait_for_stream(p, stream, e);
}

/* Makes the port ready for a frame, and p->pinned the analysis frame of one in host memory. */
static bool prepare(struct cuda_port *p, const struct frame_view *view, const uint8_t *rgb,
                    struct err *e)
{
    if (!cuda_check(cudaSetDevice(p->cuda->device), "begin", e))
        return false;
    if (!rgb && view->on_device)
        return true;
    if (!make_ready(p, e))
        return false;
    if (rgb)
        memcpy(p->pinned, rgb, gpu_frame_bytes(&p->cuda->job));
    return rgb || shrink_here(p, view, e);
}

/*
 * Puts the analysis frame `rgb` or, if it is NULL, `view`. What takes long, the driver and the
 * cores, comes before a slot is taken: its batch waits for the slot.
 */
static bool put(struct cuda_port *p, const struct frame_view *view, const uint8_t *rgb,
                const struct frame_tag *tag, struct err *e)
{
    struct cuda *c = p->cuda;
    struct gpu_batch *b;
    int index;
    int64_t before = clock_ns();
    bool ok = prepare(p, view, rgb, e);
    p->shrink_seconds += (double)(clock_ns() - before) / 1e9;
    if (!ok)
        return cuda_fail(c, e);
    if (!cuda_reserve_slot(c, &b, &index, e))
        return false;
    before = clock_ns();
    uint8_t *slot = b->rgb + (size_t)index * gpu_frame_bytes(&c->job);
    ok = rgb || !view->on_device ? upload(p, slot, e) : shrink_there(p, view, slot, e);
    p->shrink_seconds += (double)(clock_ns() - before) / 1e9;
    return ok ? cuda_slot_filled(c, b, index, tag, e) : cuda_fail(c, e);
}

/* Copies the luma rows of crop_rows to host memory, from a frame on the device. */
bool cuda_rows(struct engine_port *port, const struct frame_view *view, struct frame_view *rows,
               struct err *e)
{
    struct cuda_port *p = (struct cuda_port *)port;
    struct plane *to = &rows->plane[0];
    const char *what = "look at a picture's bars";
    *rows = crop_rows(view);
    size_t pitch = (size_t)(to->width - 1) * to->step + (view->bits > 8 ? 2 : 1),
           bytes = pitch * to->height;
    bool ok = cuda_check(cudaSetDevice(p->cuda->device), what, e);
    if (ok && bytes > p->room) {
        cudaFreeHost(p->rows);
        p->rows = NULL;
        p->room = 0;
        ok = cuda_check(cudaMallocHost(&p->rows, bytes), what, e);
        p->room = ok ? bytes : 0;
    }
    cudaStream_t stream;
    ok = ok && stream_of(p, view, &stream, e) &&
         cuda_check(cudaMemcpy2DAsync(p->rows, pitch, to->data, to->pitch, pitch, to->height,
                                      cudaMemcpyDeviceToHost, stream),
                    what, e) &&
         wait_for_stream(p, stream, e);
    to->data = p->rows;
    to->pitch = (ptrdiff_t)pitch;
    rows->on_device = false;
    return ok ? true : cuda_fail(p->cuda, e);
}

bool cuda_put(struct engine_port *port, const struct frame_view *view, const struct frame_tag *tag,
              struct err *e)
{
    return put((struct cuda_port *)port, view, NULL, tag, e);
}

bool cuda_put_analysed(struct engine_port *port, const uint8_t *rgb, const struct frame_tag *tag,
                       struct err *e)
{
    return put((struct cuda_port *)port, NULL, rgb, tag, e);
}
