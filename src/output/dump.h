/*
 * dump.h - writes analysis frames as raw RGB24 in column order, for other tools (--dump).
 *
 * Frames may arrive in any order. Each is written at column * frame size. A missing column is
 * black.
 */
#ifndef BARCODE_DUMP_H
#define BARCODE_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

struct dump;

/* Opens a dump. `path` is as for atomic_file_open and must outlive the dump. A pipe or stdout gets
 * its bytes in dump_commit. Until then the frames are in a temporary file in $TMPDIR. */
struct dump *dump_open(const char *path, size_t frame_bytes, struct err *e);

/* Returns the folder of that temporary file: $TMPDIR, or /tmp. Any thread. */
const char *dump_scratch_folder(void);

/* Writes a frame `repeat` times, from `column` on. Any thread. */
bool dump_put(struct dump *d, uint64_t column, uint32_t repeat, const uint8_t *rgb, struct err *e);

/* Sets the file's length to `columns` frames and publishes it. Frees the dump and sets *d to NULL,
 * also on failure. */
bool dump_commit(struct dump **d, uint64_t columns, struct err *e);

/* Discards the dump and sets *d to NULL. Does nothing if *d is NULL. */
void dump_discard(struct dump **d);

#endif
