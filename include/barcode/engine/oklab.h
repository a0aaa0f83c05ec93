/*
 * oklab.h - converts an 8-bit sRGB colour to OKLab in integers. In OKLab, equal distances look
 * about equally large.
 *
 * OKLab is by Bjorn Ottosson ("A perceptual color space for image processing", 2020,
 * bottosson.github.io/posts/oklab, with the matrices of 2021). Here L, a and b are integers,
 * OKLAB_ONE times the published values:
 *
 *   linear    = srgb_linear of each channel (colour.h), 0..65535
 *   l, m, s   = (OKLAB_TO_LMS linear + 2^15) >> 16, 0..65535
 *   l', ...   = oklab_root(l), ...: 2^14 times the cube root of l / 65535, rounded to nearest,
 *               0..2^14
 *   L, a, b   = floor((OKLAB_TO_LAB (l', m', s') + 2^19) / 2^20)
 *
 * The matrices are 2^16 times the published ones. Each entry is one of the two nearest integers,
 * chosen so that each row sums to the exact value (1, or 0 for a and b). So every grey has a = b =
 * 0. L, a and b are within 2 of the definition in real numbers; test_oklab.c checks
 * this.
 */
#ifndef BARCODE_OKLAB_H
#define BARCODE_OKLAB_H

#include <stdint.h>

#include "barcode/base/shared.h"

SHARED_BEGIN

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
