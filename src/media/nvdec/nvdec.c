#include "nvdec.h"

#include <dlfcn.h>
#include <libavutil/pixdesc.h>
#include <stdlib.h>
#include <string.h>

#include "media/ffmpeg/libav.h"

/* libavutil's header needs two opaque types of CUDA and nothing else. */
#define CUDA_VERSION 0
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
#include <libavutil/hwcontext_cuda.h>

/* ------------------------------------------------------------------ the driver */

struct driver {
    void *cuda, *cuvid;
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*priorities)(int *least, int *greatest);
    int (*stream_create)(void **stream, unsigned flags, int priority);
    int (*stream_destroy)(void *stream);
    int (*memory)(size_t *free_bytes, size_t *total);
    int (*ask)(struct nvdec_caps *caps);
};

/* Stores the address of a function. ISO C has no cast from an object's address to a function's. */
static bool load_symbol(void *library, const char *name, void *function)
{
    void *address = library ? dlsym(library, name) : NULL;
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static bool driver_open(struct driver *d, struct err *e)
{
    d->cuda = dlopen("libcuda.so.1", RTLD_NOW);
    d->cuvid = dlopen("libnvcuvid.so.1", RTLD_NOW);
    const struct {
        void *library, *function;
        const char *name;
    } symbols[] = {
        {d->cuda, &d->push, "cuCtxPushCurrent_v2"},
        {d->cuda, &d->pop, "cuCtxPopCurrent_v2"},
        {d->cuda, &d->priorities, "cuCtxGetStreamPriorityRange"},
        {d->cuda, &d->stream_create, "cuStreamCreateWithPriority"},
        {d->cuda, &d->stream_destroy, "cuStreamDestroy_v2"},
        {d->cuda, &d->memory, "cuMemGetInfo_v2"},
        {d->cuvid, &d->ask, "cuvidGetDecoderCaps"},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (!load_symbol(symbols[i].library, symbols[i].name, symbols[i].function)) {
            err_set(e, ERR_ENGINE, "NVDEC needs NVIDIA's driver: cannot load %s",
                    d->cuda ? "libnvcuvid.so.1" : "libcuda.so.1");
            return false;
        }
    return true;
}

static void driver_close(struct driver *d)
{
    if (d->cuda)
        dlclose(d->cuda);
    if (d->cuvid)
        dlclose(d->cuvid);
}

static bool has_driver(struct err *e)
{
    struct driver driver = {0};
    bool opened = driver_open(&driver, e);
    driver_close(&driver);
    return opened;
}

struct codec {
    enum AVCodecID id;
    int number;    /* cudaVideoCodec of cuviddec.h */
    bool exact;    /* DECODE_AUTO uses NVDEC: it gave the software decoder's bytes */
    bool one_size; /* the film is decoded in software from the first frame of another size on */
};

/*
 * The codecs that NVDEC may decode: those that are decoded in chunks. The driver decides which
 * profiles, depths, chroma formats and sizes it accepts.
 *
 * Tested on an H100 with the 313 conformance streams of H.264, HEVC, VP8 and VP9: 308 gave the
 * software decoder's bytes (90 of them are decoded in software anyway). A VP8 and a VP9 stream
 * whose frame size changes did not:
 * - VP8: libavcodec sets the new size and keeps the NVDEC decoder of the old one (vp8.c,
 *   update_dimensions);
 * - VP9: it opens an NVDEC decoder of the new size (vp9.c, update_size), in which the references'
 *   surface numbers mean other frames.
 *
 * MPEG-2 leaves the last bit of the inverse transform to the decoder. AV1 is untested: Hopper does
 * not decode it.
 */
static const struct codec codecs[] = {
    {.id = AV_CODEC_ID_H264, .number = 4, .exact = true},
    {.id = AV_CODEC_ID_HEVC, .number = 8, .exact = true},
    {.id = AV_CODEC_ID_VP8, .number = 9, .exact = true, .one_size = true},
    {.id = AV_CODEC_ID_VP9, .number = 10, .exact = true, .one_size = true},
    {.id = AV_CODEC_ID_AV1, .number = 11, .one_size = true},
    {.id = AV_CODEC_ID_MPEG2VIDEO, .number = 1},
};

static const struct codec *find_codec(enum AVCodecID id)
{
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
        if (codecs[i].id == id)
            return &codecs[i];
    return NULL;
}

bool nvdec_is_exact(enum AVCodecID codec)
{
    const struct codec *c = find_codec(codec);
    return c && c->exact;
}

/* Returns the cudaVideoChromaFormat, -1 if no NVDEC decodes the format. */
static int chroma_number(const AVPixFmtDescriptor *d)
{
    if (d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_ALPHA))
        return -1;
    if (d->nb_components < 3)
        return 0;
    if (d->log2_chroma_h == 1)
        return 1;
    if (d->log2_chroma_w == 1)
        return 2;
    return d->log2_chroma_w == 0 ? 3 : -1;
}

static bool fits_caps(const struct nvdec_caps *c, const AVCodecParameters *par)
{
    unsigned width = (unsigned)par->width, height = (unsigned)par->height;
    if (!c->supported || width < c->min_width || height < c->min_height)
        return false;
    if (width > c->max_width || height > c->max_height)
        return false;
    return (uint64_t)width * height / 256 <= c->max_macroblocks;
}

/* Implements nvdec_ask. */
static bool ask_driver(const struct nvdec *n, struct nvdec_caps *caps, struct err *e)
{
    struct driver driver = {0};
    void *popped;
    bool answered = driver_open(&driver, e) && driver.push(n->context) == 0;
    if (answered) {
        answered = driver.ask(caps) == 0;
        driver.pop(&popped);
    }
    driver_close(&driver);
    return answered;
}

static bool can_decode(struct nvdec *n, struct decoders *pool, const AVCodecParameters *par,
                       struct err *e)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(par->format);
    const struct codec *codec = find_codec(par->codec_id);
    struct nvdec_caps caps = {.codec = codec ? codec->number : -1,
                              .chroma = d ? chroma_number(d) : -1,
                              .bits_above_8 = d ? (unsigned)d->comp[0].depth - 8 : 0};
    struct err why = ERR_INIT;
    /* libavcodec's hwaccel decodes grey as 4:2:0 for some codecs only. */
    bool askable = codec && caps.chroma > 0;
    if (!askable && !has_driver(e))
        return false;
    if (askable && nvdec_pool_ask(pool, n, &caps, ask_driver, &why) && fits_caps(&caps, par)) {
        n->engines = caps.engines > 0 ? caps.engines : 1;
        return true;
    }
    if (why.code == ERR_NONE)
        return err_set(e, ERR_INPUT, "the GPU cannot decode %s of %dx%d, %s",
                       avcodec_get_name(par->codec_id), par->width, par->height,
                       d ? d->name : "unknown format");
    *e = why;
    return false;
}

/* ------------------------------------------------------------------ contexts */

bool nvdec_is_emulated(void)
{
    const char *what = getenv("BARCODE_NVDEC");
    return what && strcmp(what, "software") == 0;
}

bool nvdec_open(struct nvdec *n, struct engine_device device, struct decoders *pool,
                const AVStream *stream, struct err *e)
{
    *n = (struct nvdec){.context = device.context};
    if (nvdec_is_emulated()) {
        n->context = NULL;
        n->engines = 2;
        return true;
    }
    if (!n->context && !has_driver(e))
        return false;
    if (!n->context) {
        char text[128];
        int code = av_hwdevice_ctx_create(&n->film_device, AV_HWDEVICE_TYPE_CUDA, NULL, NULL, 0);
        if (code < 0)
            return err_set(e, ERR_ENGINE, "cannot open a CUDA device: %s",
                           av_error_text(code, text));
        n->context =
            ((AVCUDADeviceContext *)((AVHWDeviceContext *)n->film_device->data)->hwctx)->cuda_ctx;
    }
    if (can_decode(n, pool, stream->codecpar, e))
        return true;
    nvdec_close(n);
    return false;
}

void nvdec_close(struct nvdec *n)
{
    av_buffer_unref(&n->film_device);
    *n = (struct nvdec){0};
}

/* Creates a non-blocking stream with priority over clustering, for downscaling; or NULL. */
static void *make_stream(void *context)
{
    enum { NON_BLOCKING = 1 }; /* CU_STREAM_NON_BLOCKING of cuda.h */
    struct driver d = {0};
    struct err why = ERR_INIT;
    void *stream = NULL, *popped;
    int least, greatest;
    if (driver_open(&d, &why) && d.push(context) == 0) {
        if (d.priorities(&least, &greatest) != 0 ||
            d.stream_create(&stream, NON_BLOCKING, greatest) != 0)
            stream = NULL;
        d.pop(&popped);
    }
    driver_close(&d);
    return stream;
}

/* Implements AVHWDeviceContext.free: no decoder or frame refers to the device any more. */
static void free_stream(AVHWDeviceContext *device)
{
    AVCUDADeviceContext *c = device->hwctx;
    struct driver d = {0};
    struct err why = ERR_INIT;
    void *popped;
    if (driver_open(&d, &why) && d.push(c->cuda_ctx) == 0) {
        d.stream_destroy(c->stream);
        d.pop(&popped);
    }
    driver_close(&d);
}

/* Creates a decoder's device, with its own stream, in the context that all decoders share. */
static AVBufferRef *make_device(const struct nvdec *n)
{
    if (n->film_device)
        return av_buffer_ref(n->film_device);
    AVBufferRef *device = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA);
    if (!device)
        return NULL;
    AVHWDeviceContext *base = (AVHWDeviceContext *)device->data;
    AVCUDADeviceContext *c = base->hwctx;
    c->cuda_ctx = n->context;
    c->stream = make_stream(n->context);
    if (c->stream)
        base->free = free_stream;
    if (!c->stream || av_hwdevice_ctx_init(device) < 0)
        av_buffer_unref(&device);
    return device;
}

int nvdec_workers(const struct nvdec *n) { return 2 * n->engines; }

bool nvdec_shares(const struct nvdec *n) { return n->context && !n->film_device; }

bool nvdec_is_memory_low(const struct nvdec *n)
{
    struct driver d = {0};
    struct err why = ERR_INIT;
    void *popped;
    size_t free_bytes = 1, total = 1;
    if (n->context && driver_open(&d, &why) && d.push(n->context) == 0) {
        if (d.memory(&free_bytes, &total) != 0)
            free_bytes = total;
        d.pop(&popped);
    }
    driver_close(&d);
    return free_bytes < total / 4;
}

/*
 * Implements get_format. If the driver refuses, libavcodec calls it again without CUDA, and it
 * chooses the software format. NVDEC is opened for coded sizes, in whole blocks for most codecs.
 * VP8 and VP9 have no coded size, and NVDEC would scale a frame whose output size is odd.
 */
static enum AVPixelFormat choose_format(AVCodecContext *c, const enum AVPixelFormat *formats)
{
    const enum AVPixelFormat *f = formats;
    struct corruption_watch *w = c->opaque;
    if (w && w->width > 0)
        w->resized |= c->width != w->width || c->height != w->height;
    for (; *f != AV_PIX_FMT_NONE; f++) {
        if (*f != AV_PIX_FMT_CUDA)
            continue;
        c->coded_width += c->coded_width & 1;
        c->coded_height += c->coded_height & 1;
        return *f;
    }
    for (f = formats; *f != AV_PIX_FMT_NONE; f++)
        if (!(av_pix_fmt_desc_get(*f)->flags & AV_PIX_FMT_FLAG_HWACCEL))
            return *f;
    return AV_PIX_FMT_NONE;
}

AVCodecContext *nvdec_decoder_open(const struct nvdec *n, const AVStream *stream, struct err *e)
{
    char text[128];
    /* The native decoder, not a wrapper such as libdav1d: only it has the hwaccel. */
    AVCodecContext *c = decoder_alloc(
        stream, n->context && stream->codecpar->codec_id == AV_CODEC_ID_AV1 ? "av1" : NULL, e);
    if (!c)
        return NULL;
    if (n->context)
        c->hw_device_ctx = make_device(n);
    if (n->context && !c->hw_device_ctx) {
        err_set(e, ERR_ENGINE, "cannot create a decoder on the GPU");
        avcodec_free_context(&c);
        return NULL;
    }
    c->get_format = choose_format;
    c->thread_count = 1;
    /* one surface for the frame being downscaled, others for H.264's larger delay */
    c->extra_hw_frames = stream->codecpar->codec_id == AV_CODEC_ID_H264 ? 6 : 2;
    const AVCodec *codec = c->codec; /* avcodec_open2 clears it on failure */
    int code = avcodec_open2(c, codec, NULL);
    if (code < 0) {
        err_set(e, ERR_ENGINE, "cannot open the %s decoder on the GPU: %s", codec->name,
                av_error_text(code, text));
        avcodec_free_context(&c);
    }
    return c;
}

void nvdec_expect_size(struct corruption_watch *w, const AVCodecParameters *par)
{
    const struct codec *codec = find_codec(par->codec_id);
    bool one_size = codec && codec->one_size;
    w->width = one_size ? par->width : 0;
    w->height = one_size ? par->height : 0;
    w->resized = false;
}

bool nvdec_is_resized(const AVCodecContext *decoder)
{
    const struct corruption_watch *w = decoder->opaque;
    return w->width > 0 &&
           (w->resized || decoder->width != w->width || decoder->height != w->height);
}

/* ------------------------------------------------------------------ frames */

bool nvdec_is_device_frame(const AVFrame *frame) { return frame->format == AV_PIX_FMT_CUDA; }

static enum AVPixelFormat software_format(const AVFrame *picture)
{
    const AVHWFramesContext *frames = (const AVHWFramesContext *)picture->hw_frames_ctx->data;
    return frames->sw_format;
}

void nvdec_fix_chroma(AVFrame *frame)
{
    if (!nvdec_is_device_frame(frame))
        return;
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(software_format(frame));
    if (d && d->log2_chroma_h == 1 && frame->data[1] && frame->height & 1)
        frame->data[1] = frame->data[0] + (ptrdiff_t)(frame->height + 1) * frame->linesize[0];
}

bool nvdec_download(const AVFrame *frame, AVFrame *host, struct err *e)
{
    char text[128];
    av_frame_unref(host);
    /* av_hwframe_transfer_data drops the last row of chroma of an odd height. */
    AVFrame *even = av_frame_clone(frame);
    if (!even)
        return err_set(e, ERR_MEMORY, "out of memory for a frame");
    even->width += even->width & 1;
    even->height += even->height & 1;
    int code = av_hwframe_transfer_data(host, even, 0);
    av_frame_free(&even);
    if (code < 0)
        return err_set(e, ERR_ENGINE, "cannot copy a frame from the GPU: %s",
                       av_error_text(code, text));
    return true;
}

bool nvdec_view(const AVCodecContext *decoder, const AVFrame *picture, const AVFrame *data,
                const struct film *film, struct frame_view *view, struct err *e)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(software_format(picture));
    const AVPixFmtDescriptor *coded = av_pix_fmt_desc_get(decoder->sw_pix_fmt);
    if (!d || !coded || d->nb_components != 3)
        return err_set(e, ERR_ENGINE, "cannot read frames of the GPU in format '%s'",
                       d ? d->name : "unknown");
    int left = (int)picture->crop_left, top = (int)picture->crop_top;
    bool wide = d->comp[0].depth > 8;
    *view = (struct frame_view){
        .model = coded->nb_components < 3 ? MODEL_GREY : MODEL_YCBCR,
        .orientation = film->orientation,
        /* NVDEC stores samples in the highest bits of 16-bit words. */
        .bits = coded->comp[0].depth,
        .shift = wide ? 16 - coded->comp[0].depth : 0,
        /* libavcodec crops frames on a device at the right and bottom only. */
        .width = picture->width - left,
        .height = picture->height - top,
        .on_device = nvdec_is_device_frame(data),
    };
    if (view->on_device && decoder->hw_device_ctx)
        view->stream =
            ((AVCUDADeviceContext *)((AVHWDeviceContext *)decoder->hw_device_ctx->data)->hwctx)
                ->stream;
    film_colour_of_frame(picture, decoder->sw_pix_fmt, film, view);
    for (int i = 0; i < 3; i++) {
        const AVComponentDescriptor *c = &d->comp[i];
        int across = i > 0 ? d->log2_chroma_w : 0, down = i > 0 ? d->log2_chroma_h : 0;
        view->plane[i] = (struct plane){
            .data = data->data[c->plane] + c->offset +
                    (ptrdiff_t)(top >> down) * data->linesize[c->plane] +
                    (ptrdiff_t)(left >> across) * c->step,
            .pitch = data->linesize[c->plane],
            .step = c->step,
            .width = -(-view->width >> across),
            .height = -(-view->height >> down),
        };
    }
    view_crop(view, film);
    return true;
}
