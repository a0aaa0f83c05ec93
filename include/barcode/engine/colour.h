/*
 * colour.h - Y'CbCr to R'G'B' in integers: the arithmetic that both engines share.
 *
 * A pixel comes in as three means in 16-bit fixed point ("fix16"): the mean of the
 * samples times 2^(16 - bits), so that 8-bit 255 is 65280 and limited-range black is
 * 4096 at every depth. With S the weighted sum of samples of `bits` bits and T the
 * sum of the weights, in = min(65535, floor((S * 2^(16 - bits) + floor(T / 2)) / T)),
 * which is the exact mean rounded half up; S and T may be reduced by a common factor.
 *
 * It leaves as 8 bits, full range R'G'B': for each row i of M
 *     sum = m[i][0] * (in[0] - offset[0]) + m[i][1] * (in[1] - offset[1]) + m[i][2] * (in[2] -
 * offset[2]) out = clamp(floor((sum + 2^(COLOUR_FRACTION + 7)) / 2^(COLOUR_FRACTION + 8)), 0, 255)
 * in 64 bits: one rounding, half up, of the whole sum.
 *
 * M is exact rational arithmetic on the Kr and Kb of ITU-T H.273 table 4
 * (BT.601 .299/.114, BT.709 .2126/.0722, BT.2020 .2627/.0593, SMPTE 240M .212/.087,
 * FCC .30/.11), each entry rounded once, half up, to COLOUR_FRACTION bits. Limited
 * range is 16..235 and 16..240 (times 2^(bits - 8)); full range is 0..2^bits - 1 with
 * neutral chroma at 2^(bits - 1). No floating point.
 */
#ifndef BARCODE_COLOUR_H
#define BARCODE_COLOUR_H

#include <stddef.h>
#include <stdint.h>

#include "barcode/engine/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { COLOUR_FRACTION = 16 };

struct colour_transform {
    int32_t m[3][3];   /* row: R', G', B'; column: component 0, 1, 2; scaled by 2^COLOUR_FRACTION */
    int32_t offset[3]; /* fix16, taken from each component first */
};

/*
 * The transform for one kind of film. matrix and range must be decided (not UNSPECIFIED);
 * `bits` 8..16. MODEL_GREY ignores the matrix; MODEL_RGB ignores it too. MODEL_YCBCR with
 * MATRIX_RGB is taken for MODEL_RGB: plane 0 R', 1 G', 2 B'. MODEL_GREY of limited range is
 * stretched like luma.
 */
void colour_transform_init(struct colour_transform *t, enum colour_model model, enum matrix matrix,
                           enum range range, int bits);

#ifdef __CUDACC__
#define COLOUR_INLINE __host__ __device__ static inline
#else
#define COLOUR_INLINE static inline
#endif

/*
 * One pixel: in[] in fix16 (0..65535; grey: in[1], in[2] do not matter) to 8-bit R'G'B'. The GPU's
 * pixels go through here, and what colour_apply_row gives is tested against it.
 */
COLOUR_INLINE void colour_apply(const struct colour_transform *t, const uint16_t in[3],
                                uint8_t rgb[3])
{
    for (int i = 0; i < 3; i++) {
        int64_t sum = (int64_t)1 << (COLOUR_FRACTION + 7);
        for (int j = 0; j < 3; j++)
            sum += (int64_t)t->m[i][j] * (in[j] - t->offset[j]);
        sum = sum < 0 ? 0 : sum >> (COLOUR_FRACTION + 8);
        rgb[i] = sum > 255 ? 255 : (uint8_t)sum;
    }
}

/*
 * colour_apply on n pixels: in[0..2][i] to rgb[i * step .. + 2]; `step` may be negative. The rows
 * of in[] may be one and the same. The same bytes for every transform with entries below 2^18, as
 * all are that colour_transform_init makes.
 */
void colour_apply_row(const struct colour_transform *t, const uint16_t *const in[3], int n,
                      uint8_t *rgb, ptrdiff_t step);

/* What an untagged film is read as: BT.709 if width >= 1280 or height > 576, else BT.601 (mpv's
 * rule). */
enum matrix colour_guess_matrix(int width, int height);

/* "bt709", "limited" ..., the names that ffmpeg uses ("unknown" for UNSPECIFIED). */
const char *colour_matrix_name(enum matrix m);
const char *colour_range_name(enum range r);

#ifdef __cplusplus
}
#endif
#endif
