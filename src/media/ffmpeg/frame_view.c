#include "libav.h"

#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include <string.h>


/*
 * ---- Conversion by libswscale of frames whose samples frame.h cannot describe ----
 *
 * Palettes, bit fields of a word, big-endian words and X'Y'Z'. No sample changes its position or
 * range.
 */

bool view_format_direct(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    const uint64_t never = AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_PAL |
                           AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BAYER;
    if (!d || d->flags & never || d->comp[0].depth < 8)
        return false;
    int colours = d->nb_components - (d->flags & AV_PIX_FMT_FLAG_ALPHA ? 1 : 0);
    if (colours != 1 && colours != 3)
        return false;
    bool wide = d->comp[0].depth > 8;
    for (int i = 0; i < colours; i++) {
        bool same = d->comp[i].depth == d->comp[0].depth && d->comp[i].shift == d->comp[0].shift;
        bool native = !wide || (!(d->flags & AV_PIX_FMT_FLAG_BE) && d->comp[i].offset % 2 == 0 &&
                                d->comp[i].step % 2 == 0);
        bool whole = wide ? d->comp[i].shift + d->comp[i].depth <= 16 : d->comp[i].shift == 0;
        if (!same || !native || !whole || d->comp[i].depth > 16)
            return false;
    }
    /*
     * X'Y'Z' is no supported colour model, and this 4:1:1 has its luma samples at uneven distances.
     */
    return strcmp(d->name, "xyz12le") != 0 && strcmp(d->name, "uyyvyy411") != 0;
}

/* Returns the planar 4:4:4 format of a depth, in this machine's byte order. */
static enum AVPixelFormat planar_of(int depth)
{
    if (depth <= 8)
        return AV_PIX_FMT_YUV444P;
    if (depth <= 10)
        return AV_PIX_FMT_YUV444P10;
    return depth <= 12 ? AV_PIX_FMT_YUV444P12 : AV_PIX_FMT_YUV444P16;
}

/* Returns the format that a frame is converted to; NONE if it cannot be. */
static enum AVPixelFormat target_of(enum AVPixelFormat format)
{
    const uint64_t never = AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_HWACCEL;
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    if (!d || d->flags & never || !sws_isSupportedInput(format))
        return AV_PIX_FMT_NONE;
    bool big = d->flags & AV_PIX_FMT_FLAG_BE;
    enum AVPixelFormat swapped = big ? av_pix_fmt_swap_endianness(format) : AV_PIX_FMT_NONE;
    if (swapped != AV_PIX_FMT_NONE && view_format_direct(swapped))
        return swapped;
    if (d->flags & AV_PIX_FMT_FLAG_PAL && d->flags & AV_PIX_FMT_FLAG_ALPHA)
        return AV_PIX_FMT_RGBA;
    if (d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL) || strncmp(d->name, "xyz", 3) == 0)
        return d->comp[0].depth > 8 ? AV_PIX_FMT_RGB48 : AV_PIX_FMT_RGB24;
    if (d->nb_components < 3)
        return AV_PIX_FMT_GRAY8;
    bool whole = d->log2_chroma_w == 0 && d->log2_chroma_h == 0;
    return whole ? planar_of(d->comp[0].depth) : AV_PIX_FMT_NONE;
}

/*
 * Returns true if libswscale can convert the format's samples to a format that view_format_direct
 * accepts.
 */
static bool can_unpack(enum AVPixelFormat format)
{
    enum AVPixelFormat target = target_of(format);
    return target != AV_PIX_FMT_NONE && sws_isSupportedOutput(target);
}

static void free_context(void *user, uint8_t *context)
{
    (void)user;
    sws_freeContext((struct SwsContext *)(void *)context);
}

/* Opens a context with full range on both sides, so that libswscale converts no range. */
static struct SwsContext *open_context(const AVFrame *from, const AVFrame *to)
{
    const int flags =
        SWS_POINT | SWS_BITEXACT | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP;
    struct SwsContext *c = sws_getContext(from->width, from->height, from->format, to->width,
                                          to->height, to->format, flags, NULL, NULL, NULL);
    const int *table = sws_getCoefficients(SWS_CS_DEFAULT);
    if (c)
        sws_setColorspaceDetails(c, table, 1, table, 1, 0, 1 << 16, 1 << 16);
    return c;
}

/*
 * Makes *planes, with the context in its opaque_ref and the source format's descriptor in `opaque`.
 * Both are reused while format and size stay the same. Returns false if out of memory.
 */
static bool alloc_planes(AVFrame **planes, const AVFrame *frame)
{
    AVFrame *p = *planes;
    void *source = (void *)av_pix_fmt_desc_get(frame->format);
    if (p && p->opaque == source && p->width == frame->width && p->height == frame->height)
        return true;
    av_frame_free(planes);
    p = *planes = av_frame_alloc();
    if (!p)
        return false;
    p->format = target_of(frame->format);
    p->width = frame->width;
    p->height = frame->height;
    p->opaque = source;
    struct SwsContext *context = av_frame_get_buffer(p, 0) >= 0 ? open_context(frame, p) : NULL;
    if (context)
        p->opaque_ref = av_buffer_create((uint8_t *)context, 1, free_context, NULL, 0);
    if (context && !p->opaque_ref)
        sws_freeContext(context);
    if (!p->opaque_ref)
        av_frame_free(planes);
    return *planes != NULL;
}

/*
 * Fills the lower half of samples of 4 bits, which libswscale leaves 0: white would not be white.
 */
static void fill_lower_half(AVFrame *rgb24)
{
    for (int y = 0; y < rgb24->height; y++) {
        uint8_t *row = rgb24->data[0] + (ptrdiff_t)y * rgb24->linesize[0];
        for (int x = 0; x < rgb24->width * 3; x++)
            row[x] |= row[x] >> 4;
    }
}

/*
 * Converts a frame of a format that can_unpack accepts into *planes, whose memory is reused while
 * format and size stay the same.
 */
static bool unpack_frame(AVFrame **planes, const AVFrame *frame, struct err *e)
{
    if (!alloc_planes(planes, frame)) {
        err_set(e, ERR_MEMORY, "out of memory for a frame of %dx%d", frame->width, frame->height);
        return false;
    }
    struct SwsContext *c = (struct SwsContext *)(void *)(*planes)->opaque_ref->data;
    int rows = sws_scale(c, (const uint8_t *const *)frame->data, frame->linesize, 0, frame->height,
                         (*planes)->data, (*planes)->linesize);
    if (rows != frame->height)
        return err_set(e, ERR_FAILED, "libswscale cannot convert a frame");
    if (av_pix_fmt_desc_get(frame->format)->comp[0].depth == 4)
        fill_lower_half(*planes);
    return true;
}

/* ---- The view ---- */

bool view_format_known(enum AVPixelFormat format)
{
    return view_format_direct(format) || can_unpack(format);
}

static int plane_side(int size, int shift) { return -(-size >> shift); }

static struct plane plane_of(const AVFrame *frame, const AVPixFmtDescriptor *d, int component,
                             bool chroma)
{
    const AVComponentDescriptor *c = &d->comp[component];
    return (struct plane){
        .data = frame->data[c->plane] + c->offset,
        .pitch = frame->linesize[c->plane],
        .step = c->step,
        .width = chroma ? plane_side(frame->width, d->log2_chroma_w) : frame->width,
        .height = chroma ? plane_side(frame->height, d->log2_chroma_h) : frame->height,
    };
}

bool view_of_frame(const AVFrame *frame, const struct film *film, AVFrame **planes,
                   struct frame_view *view, struct err *e)
{
    enum AVPixelFormat coded = frame->format;
    if (!view_format_known(coded)) {
        const char *name = av_get_pix_fmt_name(coded);
        return err_set(e, ERR_INPUT, "cannot decode '%s': pixel format '%s' is not supported",
                       film->path, name ? name : "unknown");
    }
    *view = (struct frame_view){
        .orientation = film->orientation, .width = frame->width, .height = frame->height};
    film_colour_of_frame(frame, coded, film, view);
    if (!view_format_direct(coded)) {
        if (!unpack_frame(planes, frame, e))
            return false;
        frame = *planes;
    }
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(frame->format);
    bool rgb = d->flags & AV_PIX_FMT_FLAG_RGB, grey = d->nb_components < 3;
    view->model = grey ? MODEL_GREY : MODEL_YCBCR;
    if (rgb)
        view->model = MODEL_RGB;
    view->bits = d->comp[0].depth;
    view->shift = d->comp[0].shift;
    for (int i = 0; i < (grey ? 1 : 3); i++)
        view->plane[i] = plane_of(frame, d, i, !rgb && i > 0);
    if (d->flags & AV_PIX_FMT_FLAG_ALPHA && !film->alpha_unused)
        view->alpha = plane_of(frame, d, d->nb_components - 1, false);
    return true;
}
