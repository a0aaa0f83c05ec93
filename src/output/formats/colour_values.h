/*
 * colour_values.h - quantities of an sRGB colour for --csv, by published definitions. These are
 * numbers to read; none of them decides a pixel.
 *
 * Light, X, Y, Z and relative luminance Y are those of IEC 61966-2-1 (sRGB, white D65), with its
 * matrix of four digits. CIE L*, a*, b*, chroma and hue are CIE 1976 (ISO/CIE 11664-4) with the
 * matrix' own white, so every grey has a* = b* = 0. OKLab is Bjorn Ottosson's of 2020, with the
 * matrices of 2021. Saturation is that of HSV (A. R. Smith, 1978).
 */
#ifndef BARCODE_FORMATS_COLOUR_VALUES_H
#define BARCODE_FORMATS_COLOUR_VALUES_H

#include <stdint.h>

#include "barcode/kmeans/kmeans.h"

enum colour_value {
    VALUE_R, /* 0..255, as are VALUE_G and VALUE_B */
    VALUE_G,
    VALUE_B,
    VALUE_LUMINANCE,    /* 0..1 */
    VALUE_LIGHTNESS,    /* CIE L*, 0..100 */
    VALUE_LAB_A,        /* -86.2..98.3 */
    VALUE_LAB_B,        /* -107.9..94.5 */
    VALUE_CHROMA,       /* 0..133.8 */
    VALUE_HUE,          /* degrees, 0..360; NAN for a grey */
    VALUE_OK_LIGHTNESS, /* 0..1 */
    VALUE_OK_A,         /* -0.234..0.276 */
    VALUE_OK_B,         /* -0.312..0.199 */
    VALUE_OK_CHROMA,    /* 0..0.323 */
    VALUE_OK_HUE,       /* degrees, 0..360; NAN for a grey */
    VALUE_SATURATION,   /* 0..1 */
    COLOUR_VALUES
};

/* The light of each 8-bit level, 0..1. */
struct colour_light {
    double of[256];
};

/* Fills the table by the formula in colour.h. Any thread. */
void colour_light_fill(struct colour_light *light);

void colour_values(const struct colour_light *light, const uint8_t rgb[3],
                   double value[COLOUR_VALUES]);

/*
 * Returns the standard deviation of CIE L* over `count` (1 or more) clusters, weighted by their
 * pixels: 0..50. What varies inside a cluster is not in it. Any thread.
 */
double colour_contrast(const struct colour_light *light, const struct cluster *cluster, int count);

/*
 * Returns the colourfulness M of D. Hasler and S. Suesstrunk, "Measuring colourfulness in natural
 * images" (2003), over the clusters as above. With rg = R - G and yb = (R + G) / 2 - B on a scale
 * of 0..255, M = sqrt(var rg + var yb) + 0.3 sqrt(mean(rg)^2 + mean(yb)^2). Any thread.
 */
double colourfulness(const struct cluster *cluster, int count);

#endif
