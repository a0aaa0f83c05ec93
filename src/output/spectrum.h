/*
 * spectrum.h - keeps the spectrogram of a film's sound for --spectrogram while the film is read:
 * 230 MB for two hours, in a temporary file in $TMPDIR (dump_scratch_folder). One thread at a time.
 */
#ifndef BARCODE_SPECTRUM_H
#define BARCODE_SPECTRUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "barcode/base/err.h"

struct spectrum;

/* Returns NULL if the temporary file cannot be made, or if out of memory. */
struct spectrum *spectrum_open(struct err *e);

/* Appends frames, values[frames][SPECTROGRAM_BINS]. `spectrum` is one: a sound_spectrum_tap. */
bool spectrum_put(void *spectrum, const int16_t *values, size_t frames, struct err *e);

/* Drops all frames, because the sound is read again. */
bool spectrum_clear(struct spectrum *s, struct err *e);

/* Returns the number of frames. */
uint64_t spectrum_frames(const struct spectrum *s);

/* Writes all frames to `f`, in this machine's byte order. On failure `e` gets only the reason. */
bool spectrum_copy(struct spectrum *s, FILE *f, struct err *e);

/* Frees *s and sets it to NULL. Does nothing if *s is NULL. */
void spectrum_free(struct spectrum **s);

#endif
