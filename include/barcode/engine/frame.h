/*
 * frame.h - a decoded frame as the input of the downscaler, and the tag that goes with it.
 *
 * A view is borrowed: it owns nothing and is valid only while the decoder's frame is held.
 */
#ifndef BARCODE_FRAME_H
#define BARCODE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum colour_model {
    MODEL_YCBCR, /* plane 0 Y', 1 Cb, 2 Cr, the chroma planes at their own size */
    MODEL_GREY,  /* plane 0 only */
    MODEL_RGB    /* plane 0 R', 1 G', 2 B' */
};

/* The supported ITU-T H.273 matrix coefficients. */
enum matrix {
    MATRIX_UNSPECIFIED,
    MATRIX_BT601,
    MATRIX_BT709,
    MATRIX_BT2020, /* non-constant luminance */
    MATRIX_SMPTE240M,
    MATRIX_FCC,
    MATRIX_YCGCO,
    MATRIX_RGB /* the planes are already R'G'B' */
};

enum range { RANGE_UNSPECIFIED, RANGE_LIMITED, RANGE_FULL };

/* Transfer characteristics. SDR is anything except SMPTE ST 2084 (PQ) and ARIB STD-B67 (HLG). */
enum transfer { TRANSFER_SDR, TRANSFER_PQ, TRANSFER_HLG, TRANSFERS };

/*
 * Colour primaries, which are converted to BT.709 (light.h). BT709 also stands for unknown
 * primaries and for those near BT.709, such as BT.601's: they are not converted.
 */
enum primaries { PRIMARIES_BT709, PRIMARIES_BT2020, PRIMARIES_P3_D65, PRIMARIES_P3_DCI, PRIMARIES };

/*
 * How to turn the decoded frame into the displayed one: first mirror it left to right if `mirror`,
 * then rotate it clockwise by `quarter_turns` times 90 degrees.
 */
struct orientation {
    int quarter_turns; /* 0..3 */
    bool mirror;
};

/*
 * Samples of one component. Sample (x, y) is at data + y * pitch + x * step: one byte if bits <= 8,
 * else one 16-bit word in host byte order.
 */
struct plane {
    const uint8_t *data;
    ptrdiff_t pitch;   /* bytes from row to row, may be negative */
    int step;          /* bytes from sample to sample */
    int width, height; /* in samples, after cropping */
};

struct frame_view {
    enum colour_model model;
    enum matrix matrix; /* never UNSPECIFIED */
    enum range range;   /* never UNSPECIFIED */
    enum transfer transfer;
    enum primaries primaries;
    struct orientation orientation;
    int bits;          /* 8..16 significant bits of a sample */
    int shift;         /* right shift of the stored word (P010: 6) */
    int width, height; /* in luma samples, after cropping, before orientation */
    bool on_device; /* plane[].data are addresses in the engine's device memory (engine_device) */
    /* on_device: the CUstream on which the samples become ready; NULL: they are ready */
    void *stream;
    struct plane plane[3];
    /*
     * coverage of the samples, of plane 0's size, in `bits` bits: 0 is transparent; not
     * premultiplied. data NULL: the frame is opaque. Only in host memory
     */
    struct plane alpha;
};

/* Properties of an analysis frame besides its pixels. */
struct frame_tag {
    uint64_t column;   /* first column that the frame fills */
    uint32_t repeat;   /* number of columns that the frame fills; 0: it fills none */
    uint32_t previews; /* number of previews (selection.h) that the frame is; mostly 0 */
    uint64_t preview;  /* the first of them */
    uint64_t frame;    /* number of the displayed frame, from 0 */
    int64_t time_us;   /* time of the frame from the start of the film */
    bool damaged;      /* the decoder reported corruption in the frame */
    bool scan;         /* it is a scan frame (selection.h) */
};

/* Returns true if the frame fills a column, and is not only a preview or a scan frame. */
static inline bool frame_fills_column(const struct frame_tag *tag) { return tag->repeat > 0; }

/* Returns true if the frame is a column, a preview or a scan frame. */
static inline bool frame_is_selected(const struct frame_tag *tag)
{
    return tag->repeat > 0 || tag->previews > 0 || tag->scan;
}

#endif
