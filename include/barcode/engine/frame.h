/*
 * frame.h - a decoded picture as the shrink sees it, and the tag that it carries.
 *
 * A view is borrowed: it owns nothing, and stays valid only as long as the
 * decoder's picture that it describes is held.
 */
#ifndef BARCODE_FRAME_H
#define BARCODE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum colour_model {
    MODEL_YCBCR, /* plane 0 Y', 1 Cb, 2 Cr, the chroma planes at their own size */
    MODEL_GREY,  /* plane 0 only */
    MODEL_RGB    /* plane 0 R', 1 G', 2 B' */
};

/* ITU-T H.273 matrix coefficients that we know. */
enum matrix {
    MATRIX_UNSPECIFIED,
    MATRIX_BT601,
    MATRIX_BT709,
    MATRIX_BT2020, /* non-constant luminance */
    MATRIX_SMPTE240M,
    MATRIX_FCC,
    MATRIX_YCGCO,
    MATRIX_RGB /* the planes are R'G'B' already */
};

enum range { RANGE_UNSPECIFIED, RANGE_LIMITED, RANGE_FULL };

/* How light became samples: SDR is everything that is neither SMPTE ST 2084 (PQ) nor ARIB STD-B67
 * (HLG). */
enum transfer { TRANSFER_SDR, TRANSFER_PQ, TRANSFER_HLG, TRANSFERS };

/* What R, G and B are. Only HDR pictures are brought to BT.709's (light.h). */
enum primaries { PRIMARIES_BT709, PRIMARIES_BT2020, PRIMARIES_P3 };

/*
 * How the decoded picture is turned into the displayed one: first mirrored left to
 * right if `mirror`, then turned clockwise by `quarter_turns` times 90 degrees.
 */
struct orientation {
    int quarter_turns; /* 0..3 */
    bool mirror;
};

/*
 * Samples of one component. Sample (x, y) is at data + y * pitch + x * step:
 * one byte when bits <= 8, else one 16-bit word in host order.
 */
struct plane {
    const uint8_t *data;
    ptrdiff_t pitch;   /* bytes from row to row, may be negative */
    int step;          /* bytes from sample to sample */
    int width, height; /* samples, crop applied */
};

struct frame_view {
    enum colour_model model;
    enum matrix matrix; /* never UNSPECIFIED */
    enum range range;   /* never UNSPECIFIED */
    enum transfer transfer;
    enum primaries primaries;
    struct orientation orientation;
    int bits;          /* 8..16 significant bits of a sample */
    int shift;         /* the stored word is shifted right by this (P010: 6) */
    int width, height; /* luma samples, crop applied, orientation not yet applied */
    bool on_device; /* plane[].data are addresses in the engine's device memory (engine_device) */
    void *stream;   /* on_device: the CUstream on which the samples become ready; NULL: they are */
    struct plane plane[3];
};

/* What is known of a staged frame beside its pixels. */
struct frame_tag {
    uint64_t column; /* first column that it fills */
    uint32_t repeat; /* columns that it fills, 1 or more */
    uint64_t frame;  /* number of the displayed frame, from 0 */
    int64_t time_us; /* time of the frame from the film's start */
    bool damaged;    /* the decoder reported damage in it */
};

#ifdef __cplusplus
}
#endif
#endif
