/*
 * loudness.h - loudness by EBU R128 (libebur128) and peaks of a sound, on the grid of the
 * spectrogram's hops.
 */
#ifndef BARCODE_SRC_LOUDNESS_H
#define BARCODE_SRC_LOUDNESS_H

#include "barcode/sound/film_sound.h"

enum { LOUDNESS_HOPS = 3 }; /* a momentary loudness for so many: 96 ms */

struct loudness;

/* Returns NULL if out of memory. One thread. */
struct loudness *loudness_open(struct err *e);

/* Sets what the next samples are; it may be the same. */
bool loudness_format(struct loudness *l, int rate, int channels, uint64_t mask, struct err *e);

/* Adds samples of the current hop, sample[frames][channels]. */
bool loudness_push(struct loudness *l, const int16_t *sample, size_t frames, struct err *e);

/* Ends the current hop. */
bool loudness_end_hop(struct loudness *l, struct err *e);

/* Adds hops of silence, of which the first one may have samples already. */
bool loudness_skip(struct loudness *l, uint64_t hops, struct err *e);

/* Sets loudness, range and peak of the film. */
void loudness_sum(struct loudness *l, struct film_sound *out);

/* Sets loudness and peak of a row, which begins with hop `first`. */
void loudness_row(const struct loudness *l, uint64_t first, uint32_t hops, struct sound_row *row);

void loudness_free(struct loudness **l);

#endif
