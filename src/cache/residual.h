/*
 * residual.h - converts an analysis frame to prediction residuals, which zstd compresses well, and
 * back without loss. The residuals are bytes modulo 256, as many as rgb[height][width][3].
 *
 * Green is subtracted from red and blue (+ 128, so that grey is in the middle). Then each sample is
 * predicted by the median of left, above and left + above - upper left (the predictor of lossless
 * JPEG-LS).
 */
#ifndef BARCODE_RESIDUAL_H
#define BARCODE_RESIDUAL_H

#include <stdint.h>

/*
 * Convert one frame. `scratch` has the size of the frame. The three buffers must not overlap. Any
 * thread.
 */
void cache_residual_make(const uint8_t *rgb, int width, int height, uint8_t *scratch, uint8_t *out);
void cache_residual_undo(const uint8_t *residual, int width, int height, uint8_t *scratch,
                         uint8_t *rgb);

#endif
