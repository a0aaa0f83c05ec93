/*
 * colour.h - converts Y'CbCr to R'G'B', and that to linear light and OKLab, in integers. Both
 * engines share this arithmetic.
 *
 * The input of a pixel is three means in 16-bit fixed point ("fix16"): the mean of the samples
 * times 2^(16 - bits). So 8-bit 255 is 65280, and limited-range black is 4096 at every depth. S is
 * the weighted sum of samples of `bits` bits, T the sum of the weights:
 *
 *   in = min(65535, floor((S * 2^(16 - bits) + floor(T / 2)) / T))
 *
 * This is the exact mean rounded half up. S and T may be divided by a common factor.
 *
 * The output is 8-bit, full-range R'G'B'. For each row i of M, in 64 bits:
 *
 *   sum = m[i][0] * (in[0] - offset[0]) + m[i][1] * (in[1] - offset[1])
 *       + m[i][2] * (in[2] - offset[2])
 *   out = clamp(floor((sum + 2^(COLOUR_FRACTION + 7)) / 2^(COLOUR_FRACTION + 8)), 0, 255)
 *
 * The complete sum is rounded once, half up.
 *
 * M is computed in exact rational arithmetic from the Kr and Kb of ITU-T H.273 table 4 (BT.601
 * .299/.114, BT.709 .2126/.0722, BT.2020 .2627/.0593, SMPTE 240M .212/.087, FCC .30/.11). Each
 * entry is rounded once, half up, to COLOUR_FRACTION bits. Limited range is 16..235 and 16..240
 * (times 2^(bits - 8)). Full range is 0..2^bits - 1 with neutral chroma at 2^(bits - 1). No
 * floating point.
 */
#ifndef BARCODE_COLOUR_H
#define BARCODE_COLOUR_H

#include <stddef.h>
#include <stdint.h>

#include "barcode/base/shared.h"
#include "barcode/engine/frame.h"

SHARED_BEGIN

enum { COLOUR_FRACTION = 16 };

struct colour_transform {
    int32_t m[3][3];   /* row: R', G', B'; column: component 0, 1, 2; scaled by 2^COLOUR_FRACTION */
    int32_t offset[3]; /* fix16, subtracted from each component first */
};

/*
 * Computes the transform of a film. `matrix` and `range` must not be UNSPECIFIED; `bits` is 8..16.
 * MODEL_GREY and MODEL_RGB ignore the matrix. MODEL_YCBCR with MATRIX_RGB is treated as MODEL_RGB:
 * plane 0 R', 1 G', 2 B'. MODEL_GREY of limited range is expanded like luma.
 */
void colour_transform_init(struct colour_transform *t, enum colour_model model, enum matrix matrix,
                           enum range range, int bits);

/*
 * Converts one pixel from fix16 (0..65535) to 8-bit R'G'B'. For grey, in[1] and in[2] have no
 * effect. The GPU uses this function, and tests compare colour_apply_row with it.
 */
SHARED_INLINE void colour_apply(const struct colour_transform *t, const uint16_t in[3],
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
 * Applies colour_apply to n pixels: in[0..2][i] to rgb[i * step .. + 2]. `step` may be negative,
 * and the rows of in[] may be identical. Gives the same bytes as colour_apply for every transform
 * with entries below 2^18, as colour_transform_init makes them.
 */
void colour_apply_row(const struct colour_transform *t, const uint16_t *const in[3], int n,
                      uint8_t *rgb, ptrdiff_t step);

/* Returns mpv's guess: BT.709 if width >= 1280 or height > 576, else BT.601. */
enum matrix colour_guess_matrix(int width, int height);

/* Return FFmpeg's names: "bt709", "limited" ... ("unknown" for UNSPECIFIED). */
const char *colour_matrix_name(enum matrix m);
const char *colour_range_name(enum range r);

/*
 * ---- Linear light and luminance of 8-bit sRGB colours ----
 *
 * Frames, columns and images are R'G'B' and displayed as sRGB. Relative luminance is defined by IEC
 * 61966-2-1, with the primaries of ITU-R BT.709:
 *
 *   linear(v)  = v / 255 / 12.92 up to v / 255 = 0.04045, else ((v / 255 + 0.055) / 1.055)^2.4;
 *                here times 65535, rounded half up
 *   Y          = 0.2126 linear(R') + 0.7152 linear(G') + 0.0722 linear(B');
 *                here times 65535 * 10000
 *
 * Lightness, CIE 1976 L* (ISO/CIE 11664-4; CIE 15), is 116 f(Y / Yn) - 16 with an f that rises
 * everywhere. So comparing Y is enough to find the lighter of two colours.
 */

/* linear(v) above; strictly increasing. test_srgb.c derives the table from the definition. */
extern const uint16_t srgb_linear[256];

/* Returns the level v whose linear(v) is nearest to `light`, the lower one on a tie. Any thread. */
uint8_t srgb_level(uint16_t light);

/* Returns Y above: 0 (black) to 655,350,000 (white). Any thread. */
uint32_t srgb_luminance(const uint8_t rgb[3]);

/*
 * ---- OKLab in integers, where equal distances look about equally large ----
 *
 * OKLab is by Bjorn Ottosson ("A perceptual color space for image processing", 2020,
 * bottosson.github.io/posts/oklab, with the matrices of 2021). Here L, a and b are integers,
 * OKLAB_ONE times the published values:
 *
 *   linear    = srgb_linear of each channel, 0..65535
 *   l, m, s   = (OKLAB_TO_LMS linear + 2^15) >> 16, 0..65535
 *   l', ...   = oklab_root(l), ...: 2^14 times the cube root of l / 65535, rounded to nearest,
 *               0..2^14
 *   L, a, b   = floor((OKLAB_TO_LAB (l', m', s') + 2^19) / 2^20)
 *
 * The matrices are 2^16 times the published ones. Each entry is one of the two nearest integers,
 * chosen so that each row sums to the exact value (1, or 0 for a and b). So every grey has a = b =
 * 0. L, a and b are within 2 of the definition in real numbers; test_oklab.c checks this.
 */

/* L is 0..1024: 0 is black and 1024 white. For sRGB colours a is -239..283 and b -319..203. */
enum { OKLAB_ONE = 1024, OKLAB_ROOTS = 65536 };

#define OKLAB_TO_LMS \
    { \
        {27015, 35149, 3372}, {13887, 44610, 7039}, { 5787, 18463, 41286 } \
    }
#define OKLAB_TO_LAB \
    { \
        {13792, 52011, -267}, {129630, -159160, 29530}, { 1698, 51300, -52998 } \
    }

struct oklab {
    int16_t l, a, b;
};

/*
 * Computes root[x] = oklab_root(x) above: the r with (2r - 1)^3 * 65535 <= 2^45 x < (2r + 1)^3 *
 * 65535. About 80,000 steps, without floating point. Any thread.
 */
void oklab_roots(uint16_t root[OKLAB_ROOTS]);

/*
 * Returns rgb in OKLab. linear[256] is srgb_linear and root[OKLAB_ROOTS] the result of oklab_roots,
 * or copies: the GPU has its own. Sums are computed modulo 2^32 with OFFSET added, which makes all
 * of them positive for sRGB.
 */
SHARED_INLINE struct oklab oklab_of(const uint16_t *linear, const uint16_t *root,
                                    const uint8_t rgb[3])
{
    enum { OFFSET = 512 };
    const uint32_t to_lms[3][3] = OKLAB_TO_LMS;
    const int32_t to_lab[3][3] = OKLAB_TO_LAB;
    uint32_t light[3] = {linear[rgb[0]], linear[rgb[1]], linear[rgb[2]]}, cone[3], lab[3];
    for (int i = 0; i < 3; i++)
        cone[i] = root[(to_lms[i][0] * light[0] + to_lms[i][1] * light[1] +
                        to_lms[i][2] * light[2] + (1u << 15)) >>
                       16];
    for (int i = 0; i < 3; i++)
        lab[i] = ((uint32_t)to_lab[i][0] * cone[0] + (uint32_t)to_lab[i][1] * cone[1] +
                  (uint32_t)to_lab[i][2] * cone[2] + ((uint32_t)OFFSET << 20) + (1u << 19)) >>
                 20;
    struct oklab to = {(int16_t)((int)lab[0] - OFFSET), (int16_t)((int)lab[1] - OFFSET),
                       (int16_t)((int)lab[2] - OFFSET)};
    return to;
}

SHARED_END
#endif
