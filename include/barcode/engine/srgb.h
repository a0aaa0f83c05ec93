/*
 * srgb.h - linear light and luminance of 8-bit sRGB colours, in integers.
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
#ifndef BARCODE_SRGB_H
#define BARCODE_SRGB_H

#include <stdint.h>

#include "barcode/base/shared.h"

SHARED_BEGIN

/* linear(v) above; strictly increasing. test_srgb.c derives the table from the definition. */
extern const uint16_t srgb_linear[256];

/* Returns the level v whose linear(v) is nearest to `light`, the lower one on a tie. Any thread. */
uint8_t srgb_level(uint16_t light);

/* Returns Y above: 0 (black) to 655,350,000 (white). Any thread. */
uint32_t srgb_luminance(const uint8_t rgb[3]);

SHARED_END
#endif
