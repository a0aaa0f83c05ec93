#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
#include <string.h>

#include "libav.h"
#include "barcode/engine/colour.h"
#include "barcode/engine/crop.h"

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
    /* X'Y'Z' is no supported model; this 4:1:1 has luma at uneven distances. */
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

/* Returns true if libswscale converts the format to one that view_format_direct accepts. */
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

/* Fills the lower half of samples of 4 bits, which libswscale leaves 0: white stays white. */
static void fill_lower_half(AVFrame *rgb24)
{
    for (int y = 0; y < rgb24->height; y++) {
        uint8_t *row = rgb24->data[0] + (ptrdiff_t)y * rgb24->linesize[0];
        for (int x = 0; x < rgb24->width * 3; x++)
            row[x] |= row[x] >> 4;
    }
}

/* Converts a frame that can_unpack accepts into *planes. */
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

void view_crop(struct frame_view *view, const struct film *film)
{
    const struct film_crop *c = &film->crop;
    crop_to_rect(view, &(struct crop_rect){.x = c->left,
                                           .y = c->top,
                                           .width = view->width - c->left - c->right,
                                           .height = view->height - c->top - c->bottom});
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
    view_crop(view, film);
    return true;
}

/* ---- colour tags ---- */

/*
 * Codecs that are BT.601 for any frame size, by their standard or because they are older than
 * BT.709: RFC 6386 section 9.2 for VP8, and its predecessors; the Theora specification, 4.2; ITU-T
 * H.261 and H.263 and their derivatives; ISO/IEC 11172-2; JFIF; QuickTime's and Intel's.
 */
static const enum AVCodecID always_bt601[] = {
    AV_CODEC_ID_VP3,        AV_CODEC_ID_VP4,    AV_CODEC_ID_VP5,    AV_CODEC_ID_VP6,
    AV_CODEC_ID_VP6A,       AV_CODEC_ID_VP6F,   AV_CODEC_ID_VP7,    AV_CODEC_ID_VP8,
    AV_CODEC_ID_THEORA,     AV_CODEC_ID_H261,   AV_CODEC_ID_H263,   AV_CODEC_ID_H263I,
    AV_CODEC_ID_H263P,      AV_CODEC_ID_FLV1,   AV_CODEC_ID_RV10,   AV_CODEC_ID_RV20,
    AV_CODEC_ID_MPEG1VIDEO, AV_CODEC_ID_MJPEG,  AV_CODEC_ID_MJPEGB, AV_CODEC_ID_LJPEG,
    AV_CODEC_ID_SP5X,       AV_CODEC_ID_AMV,    AV_CODEC_ID_THP,    AV_CODEC_ID_MDEC,
    AV_CODEC_ID_SVQ1,       AV_CODEC_ID_SVQ3,   AV_CODEC_ID_INDEO2, AV_CODEC_ID_INDEO3,
    AV_CODEC_ID_INDEO4,     AV_CODEC_ID_INDEO5,
};

/* Codecs of full range: JFIF, and DXV's YCgCo, which is transformed R'G'B'. */
static const enum AVCodecID always_full[] = {
    AV_CODEC_ID_MJPEG, AV_CODEC_ID_MJPEGB, AV_CODEC_ID_LJPEG, AV_CODEC_ID_SP5X, AV_CODEC_ID_AMV,
    AV_CODEC_ID_THP,   AV_CODEC_ID_MDEC,   AV_CODEC_ID_SVQ3,  AV_CODEC_ID_DXV,
};

static bool is_among(enum AVCodecID codec, const enum AVCodecID *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == codec)
            return true;
    return false;
}

/* ------------------------------------------------------------------ tags */

static bool is_xyz(enum AVPixelFormat format)
{
    const char *name = av_get_pix_fmt_name(format);
    return name && strncmp(name, "xyz", 3) == 0;
}

/* H.273 derives Kr and Kb from the primaries: one of the named pairs, to about four digits. */
static enum matrix matrix_of_primaries(enum AVColorPrimaries primaries)
{
    switch (primaries) {
    case AVCOL_PRI_BT2020: return MATRIX_BT2020;
    case AVCOL_PRI_BT470M: return MATRIX_BT601;
    case AVCOL_PRI_SMPTE170M:
    case AVCOL_PRI_SMPTE240M: return MATRIX_SMPTE240M;
    case AVCOL_PRI_UNSPECIFIED:
    case AVCOL_PRI_RESERVED0:
    case AVCOL_PRI_RESERVED: return MATRIX_UNSPECIFIED;
    default: return MATRIX_BT709;
    }
}

/* Returns UNSPECIFIED for tags that are missing or unknown. */
static enum matrix matrix_of(struct colour_tags t)
{
    switch (t.space) {
    case AVCOL_SPC_BT709: return MATRIX_BT709;
    case AVCOL_SPC_BT470BG:
    case AVCOL_SPC_SMPTE170M: return MATRIX_BT601;
    case AVCOL_SPC_FCC: return MATRIX_FCC;
    case AVCOL_SPC_SMPTE240M: return MATRIX_SMPTE240M;
    case AVCOL_SPC_YCGCO: return MATRIX_YCGCO;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
    case AVCOL_SPC_SMPTE2085:
    case AVCOL_SPC_ICTCP: return MATRIX_BT2020;
    case AVCOL_SPC_CHROMA_DERIVED_NCL:
    case AVCOL_SPC_CHROMA_DERIVED_CL: return matrix_of_primaries(t.primaries);
    default: return MATRIX_UNSPECIFIED;
    }
}

/* Returns true if the tags are read as something else: as a similar matrix, or as none. */
static bool is_approximated(struct colour_tags t)
{
    switch (t.space) {
    case AVCOL_SPC_UNSPECIFIED: return false;
    case AVCOL_SPC_BT2020_CL:
    case AVCOL_SPC_SMPTE2085:
    case AVCOL_SPC_ICTCP:
    case AVCOL_SPC_CHROMA_DERIVED_NCL:
    case AVCOL_SPC_CHROMA_DERIVED_CL: return true;
    default: return matrix_of(t) == MATRIX_UNSPECIFIED;
    }
}

static enum range range_of(struct colour_tags t)
{
    switch (t.range) {
    case AVCOL_RANGE_JPEG: return RANGE_FULL;
    case AVCOL_RANGE_MPEG: return RANGE_LIMITED;
    default: return RANGE_UNSPECIFIED;
    }
}

static enum transfer transfer_of(struct colour_tags t)
{
    switch (t.transfer) {
    case AVCOL_TRC_SMPTE2084: return TRANSFER_PQ;
    case AVCOL_TRC_ARIB_STD_B67: return TRANSFER_HLG;
    default: return TRANSFER_SDR;
    }
}

/* Returns BT.709 for primaries near it, and for X'Y'Z', which libswscale converts to it. */
static enum primaries primaries_of(enum AVColorPrimaries tag, enum transfer transfer,
                                   enum AVPixelFormat format)
{
    if (is_xyz(format))
        return PRIMARIES_BT709;
    switch (tag) {
    case AVCOL_PRI_BT2020: return PRIMARIES_BT2020;
    case AVCOL_PRI_SMPTE431: return PRIMARIES_P3_DCI;
    case AVCOL_PRI_SMPTE432: return PRIMARIES_P3_D65;
    case AVCOL_PRI_UNSPECIFIED:
        return transfer == TRANSFER_SDR ? PRIMARIES_BT709 : PRIMARIES_BT2020;
    default: return PRIMARIES_BT709;
    }
}

enum { TAGS_KEPT = 1 << 7 };

/* Only H.264, HEVC and MPEG-2 have tags in their sequence headers, of 8 bits each but the range. */
void film_colour_keep_tags(enum AVCodecID codec, AVFrame *f)
{
    if (codec != AV_CODEC_ID_H264 && codec != AV_CODEC_ID_HEVC && codec != AV_CODEC_ID_MPEG2VIDEO)
        return;
    uintptr_t kept =
        (uintptr_t)(f->colorspace & 0xff) << 24 | (uintptr_t)(f->color_primaries & 0xff) << 16 |
        (uintptr_t)(f->color_trc & 0xff) << 8 | TAGS_KEPT | (uintptr_t)(f->color_range & 3);
    memcpy(&f->opaque, &kept, sizeof kept); /* a pointer that is never dereferenced */
}

static struct colour_tags tags_of_frame(const AVFrame *f)
{
    uintptr_t kept;
    memcpy(&kept, &f->opaque, sizeof kept);
    if (kept & TAGS_KEPT)
        return (struct colour_tags){kept >> 24 & 0xff, kept >> 16 & 0xff, kept & 3,
                                    kept >> 8 & 0xff};
    return (struct colour_tags){f->colorspace, f->color_primaries, f->color_range, f->color_trc};
}

struct colour_tags film_colour_tags(const AVCodecParameters *par)
{
    return (struct colour_tags){par->color_space, par->color_primaries, par->color_range,
                                par->color_trc};
}

/* ------------------------------------------------------------------ pixel formats */

static bool is_rgb(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    return is_xyz(format) || (d && d->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL));
}

/* Black and white have full range, whatever the tags are. */
static bool is_two_tone(enum AVPixelFormat format)
{
    return format == AV_PIX_FMT_MONOWHITE || format == AV_PIX_FMT_MONOBLACK;
}

static bool is_grey(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(format);
    return d && d->nb_components < 3 && !is_rgb(format);
}

/* Returns true for libav's old formats of full range. */
static bool is_yuvj(enum AVPixelFormat format)
{
    const char *name = av_get_pix_fmt_name(format);
    return name && strncmp(name, "yuvj", 4) == 0;
}

/* Returns the range if neither tags nor codec have it: FFmpeg's untagged grey is full. */
static enum range range_by_format(enum AVPixelFormat format)
{
    return is_grey(format) ? RANGE_FULL : RANGE_LIMITED;
}

/* ------------------------------------------------------------------ the film */

static void decide_matrix(const AVCodecParameters *par, struct colour_tags stream,
                          struct colour_tags container, struct film *f)
{
    /* RDD 36: in ProRes, 0 is "unknown". Elsewhere it is R'G'B', which grey cannot be. */
    bool is_never_rgb = par->codec_id == AV_CODEC_ID_PRORES || is_grey(par->format);
    if (is_never_rgb && stream.space == AVCOL_SPC_RGB)
        stream.space = AVCOL_SPC_UNSPECIFIED;
    if (is_never_rgb && container.space == AVCOL_SPC_RGB)
        container.space = AVCOL_SPC_UNSPECIFIED;
    f->matrix = matrix_of(stream);
    bool approximated = is_approximated(stream);
    if (f->matrix == MATRIX_UNSPECIFIED) {
        f->matrix = matrix_of(container);
        approximated |= is_approximated(container);
    }
    if (approximated) {
        const char *name =
            av_color_space_name(is_approximated(stream) ? stream.space : container.space);
        snprintf(f->unknown_matrix, sizeof f->unknown_matrix, "%s", name ? name : "unknown");
    }
    if (f->matrix == MATRIX_UNSPECIFIED &&
        is_among(par->codec_id, always_bt601, sizeof always_bt601 / sizeof *always_bt601))
        f->matrix = MATRIX_BT601;
    bool by_size = f->matrix == MATRIX_UNSPECIFIED;
    if (by_size)
        f->matrix = colour_guess_matrix(par->width, par->height);
    f->matrix_guessed = approximated || by_size;
}

static void decide_range(const AVCodecParameters *par, struct colour_tags stream,
                         struct colour_tags container, struct film *f)
{
    f->range = is_two_tone(par->format) ? RANGE_FULL : range_of(stream);
    if (f->range == RANGE_UNSPECIFIED && is_yuvj(par->format))
        f->range = RANGE_FULL;
    if (f->range == RANGE_UNSPECIFIED)
        f->range = range_of(container);
    if (f->range == RANGE_UNSPECIFIED &&
        is_among(par->codec_id, always_full, sizeof always_full / sizeof *always_full))
        f->range = RANGE_FULL;
    f->range_by_format = f->range_guessed = f->range == RANGE_UNSPECIFIED;
    if (f->range_by_format)
        f->range = range_by_format(par->format);
}

void film_colour_decide(const AVCodecParameters *par, struct colour_tags container, struct film *f)
{
    struct colour_tags stream = film_colour_tags(par);
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(par->format);
    snprintf(f->pixel_format, sizeof f->pixel_format, "%s", d ? d->name : "unknown");
    /* The fourth byte of BI_RGB is reserved, usually 0. FFmpeg takes it for alpha. */
    f->alpha_unused = par->codec_id == AV_CODEC_ID_RAWVIDEO && par->codec_tag == 0;
    f->alpha = d && d->flags & AV_PIX_FMT_FLAG_ALPHA && !f->alpha_unused;
    f->transfer = transfer_of(stream.transfer == AVCOL_TRC_UNSPECIFIED ? container : stream);
    f->primaries = primaries_of(stream.primaries == AVCOL_PRI_UNSPECIFIED ? container.primaries
                                                                          : stream.primaries,
                                f->transfer, par->format);
    if (is_rgb(par->format)) {
        f->matrix = MATRIX_RGB;
        f->range = RANGE_FULL;
        f->range_by_format = true; /* in case frames are Y'CbCr after all */
        return;
    }
    decide_matrix(par, stream, container, f);
    decide_range(par, stream, container, f);
}

/* ------------------------------------------------------------------ a frame */

void film_colour_of_frame(const AVFrame *frame, enum AVPixelFormat format, const struct film *film,
                          struct frame_view *view)
{
    struct colour_tags tags = tags_of_frame(frame);
    view->transfer = film_colour_transfer(frame, film);
    view->primaries = tags.primaries == AVCOL_PRI_UNSPECIFIED && view->transfer == film->transfer
                          ? film->primaries
                          : primaries_of(tags.primaries, view->transfer, format);
    if (is_rgb(format)) {
        view->matrix = MATRIX_RGB;
        view->range = RANGE_FULL;
        return;
    }
    view->matrix = matrix_of(tags);
    /* The size of the film decides, not that of the frame: encoders change it with the bit rate. */
    if (view->matrix == MATRIX_UNSPECIFIED)
        view->matrix = film->matrix == MATRIX_RGB
                           ? colour_guess_matrix(film->coded_width, film->coded_height)
                           : film->matrix;
    view->range = is_two_tone(format) ? RANGE_FULL : range_of(tags);
    if (view->range == RANGE_UNSPECIFIED && is_yuvj(format))
        view->range = RANGE_FULL;
    if (view->range == RANGE_UNSPECIFIED)
        view->range = film->range_by_format ? range_by_format(format) : film->range;
}

enum transfer film_colour_transfer(const AVFrame *frame, const struct film *film)
{
    struct colour_tags tags = tags_of_frame(frame);
    return tags.transfer == AVCOL_TRC_UNSPECIFIED ? film->transfer : transfer_of(tags);
}
