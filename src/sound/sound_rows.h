/*
 * sound_rows.h - sums the frames of a spectrogram up into rows of bands and centroids
 * (film_sound.h). When there are SOUND_ROWS_MOST rows, each two become one.
 */
#ifndef BARCODE_SRC_SOUND_ROWS_H
#define BARCODE_SRC_SOUND_ROWS_H

#include "film_sound.h"

struct sound_rows;

/* Returns NULL if out of memory. One thread. */
struct sound_rows *sound_rows_open(struct err *e);

/* Adds frames, values[frames][SPECTROGRAM_BINS]. */
bool sound_rows_push(struct sound_rows *r, const int16_t *values, size_t frames, struct err *e);

/* Sets rows, row and hops of *out, but for loudness and peaks. Nothing may be pushed after it. */
bool sound_rows_finish(struct sound_rows *r, struct film_sound *out, struct err *e);

void sound_rows_free(struct sound_rows **r);

#endif
