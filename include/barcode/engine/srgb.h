/*
 * srgb.h - how much light an 8-bit sRGB colour is, in integers.
 *
 * The colours of frames, columns and pictures are R'G'B' and are shown as sRGB. Their relative
 * luminance (IEC 61966-2-1; its primaries are those of ITU-R BT.709):
 *
 *     linear(v)  = v / 255 / 12.92 up to v / 255 = 0.04045, else ((v / 255 + 0.055) / 1.055)^2.4,
 * here times 65535, rounded half up Y          = 0.2126 linear(R') + 0.7152 linear(G') + 0.0722
 * linear(B'), here times 65535 * 10000
 *
 * Lightness, as CIE 1976 L* defines it (ISO/CIE 11664-4; CIE 15), is 116 f(Y / Yn) - 16 with an f
 * that rises throughout: who only asks which of two colours is the lighter compares Y.
 */
#ifndef BARCODE_SRGB_H
#define BARCODE_SRGB_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* linear(v) above; rises strictly. tests/unit/test_srgb.c has it from the definition. */
extern const uint16_t srgb_linear[256];

/* The level v whose linear(v) is nearest to `light`, of two the lower. Any thread. */
uint8_t srgb_level(uint16_t light);

/* Y above: 0..655,350,000, 0 black and the most white. Any thread. */
uint32_t srgb_luminance(const uint8_t rgb[3]);

#ifdef __cplusplus
}
#endif
#endif
