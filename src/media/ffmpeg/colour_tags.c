/*
 * colour_tags.c - which of the tags decide matrix, range and transfer. src/media/README.md has the
 * order.
 */
#include "libav.h"

#include <libavutil/pixdesc.h>
#include <string.h>

#include "barcode/engine/colour.h"

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

/*
 * H.273 derives Kr and Kb from the primaries and the white point. The result is one of the named
 * pairs, to about four digits.
 */
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

/*
 * Returns the primaries of a frame: BT.709 for those too near to convert, and for X'Y'Z', which
 * libswscale converts to BT.709.
 */
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

/*
 * Returns the range if neither tags nor codec have it: FFmpeg writes and reads untagged grey in
 * full range.
 */
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
