/*
 * icc_srgb.h - an ICC profile of sRGB (ICC.1:2001-04, version 2.4) for formats without a tag of
 * their own. Its curve has an entry for each of the 256 levels, so it is exact for them. Pure; any
 * thread.
 */
#ifndef BARCODE_FORMATS_ICC_SRGB_H
#define BARCODE_FORMATS_ICC_SRGB_H

#include <stdint.h>

enum { ICC_SRGB_SIZE = 952 };

/* Writes the complete profile. */
void icc_srgb_write(uint8_t profile[ICC_SRGB_SIZE]);

#endif
