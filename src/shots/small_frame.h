/* small_frame.h - a frame of the shot detection in Y'CbCr, and distances of two. Any thread. */
#ifndef BARCODE_SMALL_FRAME_H
#define BARCODE_SMALL_FRAME_H

#include <stdint.h>

#include "shots.h"

enum {
    SMALL_WIDTH = SCAN_WIDTH / 2,
    SMALL_HEIGHT = SCAN_HEIGHT / 2,
    SMALL_PIXELS = SMALL_WIDTH * SMALL_HEIGHT
};

struct small_frame {
    uint8_t plane[3][SMALL_PIXELS]; /* Y, Cb, Cr: BT.601 of full range */
};

/* Converts rgb[SCAN_HEIGHT][SCAN_WIDTH][3], 2 x 2 pixels to one. Sets mean, luma and contrast. */
void small_frame_make(const uint8_t *rgb, struct small_frame *to, struct scan_frame *facts);

/* Returns the distance as scan_frame has it. */
unsigned small_distance(const struct small_frame *a, const struct small_frame *b);

/* Returns the distance of `middle` and the mean of the others. */
unsigned small_residue(const struct small_frame *a, const struct small_frame *middle,
                       const struct small_frame *b);

/* Returns the squared correlation of both lumas, 0..255; 0 if it is negative or undefined. */
uint8_t small_likeness(const struct small_frame *a, const struct small_frame *b);

#endif
