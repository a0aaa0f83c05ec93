/* sinks.h - what takes a film's frames or its sound while these are decoded. */
#ifndef BARCODE_SINKS_H
#define BARCODE_SINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "barcode/base/err.h"

/*
 * Analysis frames as raw RGB24 in column order, for other tools (--dump). They may arrive in any
 * order: each is written at column * frame size. A missing column is black.
 */
struct dump;

/* Opens a dump. `path` is as for atomic_file_open and must outlive the dump. A pipe or stdout gets
 * its bytes in dump_commit. Until then the frames are in a temporary file in $TMPDIR. */
struct dump *dump_open(const char *path, size_t frame_bytes, struct err *e);

/* Returns the folder of that temporary file: $TMPDIR, or /tmp. Any thread. */
const char *dump_scratch_folder(void);

/* Opens a temporary file there. Returns NULL with errno. */
FILE *dump_scratch_open(void);

/* Copies a temporary file, which is flushed, from its beginning on. On failure `e` gets only the
 * reason. */
bool dump_scratch_copy(FILE *from, FILE *to, struct err *e);

/* Writes a frame `repeat` times, from `column` on. Any thread. */
bool dump_put(struct dump *d, uint64_t column, uint32_t repeat, const uint8_t *rgb, struct err *e);

/* Sets the file's length to `columns` frames and publishes it. Frees the dump and sets *d to NULL,
 * also on failure. */
bool dump_commit(struct dump **d, uint64_t columns, struct err *e);

void dump_discard(struct dump **d);

/*
 * The spectrogram of a film's sound, for --spectrogram: 230 MB for two hours, in a temporary file
 * in $TMPDIR (dump_scratch_folder). One thread at a time.
 */
struct spectrum;

struct spectrum *spectrum_open(struct err *e);

/* Appends frames, values[frames][SPECTROGRAM_BINS]. `spectrum` is one: a sound_spectrum_tap. */
bool spectrum_put(void *spectrum, const int16_t *values, size_t frames, struct err *e);

/* Drops all frames, because the sound is read again. */
bool spectrum_clear(struct spectrum *s, struct err *e);

/* Frees *s and sets it to NULL. Does nothing if *s is NULL. */
void spectrum_free(struct spectrum **s);

#endif
