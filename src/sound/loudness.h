/*
 * loudness.h - loudness by EBU R128 and peaks of a film's sound, from the power of each 100 ms of
 * the K-weighted channels:
 *
 *   momentary   400 ms, with its middle anywhere
 *   integrated  400 ms each 100 ms, those above -70 LUFS and above their mean less 10 LU
 *   range       3 s each second, from 10 to 95 % of those above -70 LUFS and their mean less 20 LU
 *               (EBU Tech 3342)
 */
#ifndef BARCODE_SRC_LOUDNESS_H
#define BARCODE_SRC_LOUDNESS_H

#include "film_sound.h"
#include "barcode/sound/spectrogram.h"

enum { LOUDNESS_BLOCK = SPECTROGRAM_RATE / 10 }; /* samples at SPECTROGRAM_RATE */

struct loudness;
struct loudness *loudness_open(struct err *e);
void loudness_free(struct loudness **l);

/* Sets what the next samples are, which need not follow the last ones. */
void loudness_format(struct loudness *l, int rate, int channels, uint64_t mask);

/* Adds samples of the current hop and block, sample[frames][channels]. */
void loudness_push(struct loudness *l, const int16_t *sample, size_t frames);

/* Ends the current hop of the spectrogram, and others that are silent up to hop `end`. */
bool loudness_end_hops(struct loudness *l, uint64_t end, struct err *e);

/* Ends the current block of 100 ms, and others that are silent up to block `end`. */
bool loudness_end_blocks(struct loudness *l, uint64_t end, struct err *e);

/* Sets loudness, range and peak of the film, of the complete blocks so far. */
bool loudness_sum(struct loudness *l, struct film_sound *out, struct err *e);

/* Sets loudness and peak of a row, which begins with hop `first`. */
void loudness_row(const struct loudness *l, uint64_t first, uint32_t hops, struct sound_row *row);

#endif
