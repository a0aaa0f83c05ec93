/*
 * strip.h - the ways in which columns become pixels.
 */
#ifndef BARCODE_STRIP_H
#define BARCODE_STRIP_H

#ifdef __cplusplus
extern "C" {
#endif

enum mode { MODE_KMEANS, MODE_PALETTE, MODE_AVERAGE, MODE_DOWNSAMPLE, MODE_COUNT };

const char *mode_name(enum mode m);   /* "kmeans", "palette", "average", "downsample" */

#ifdef __cplusplus
}
#endif
#endif
