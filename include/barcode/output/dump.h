/*
 * dump.h - staged frames as raw RGB24, in column order, for other tools (--dump).
 *
 * Frames arrive in any order and are put at column * frame size; a missing column is black.
 */
#ifndef BARCODE_DUMP_H
#define BARCODE_DUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dump;

/* `path` as atomic_file_open takes it; pipes and stdout get their bytes at dump_commit, and until
 * then these lie in $TMPDIR. */
struct dump *dump_open(const char *path, size_t frame_bytes, struct err *e);

/* Any thread. */
bool dump_put(struct dump *d, uint64_t column, uint32_t repeat, const uint8_t *rgb, struct err *e);

/* Makes the file `columns` frames long and publishes it. Frees, *d becomes NULL either way. */
bool dump_commit(struct dump **d, uint64_t columns, struct err *e);

/* Throws it away. NULL is fine. */
void dump_discard(struct dump **d);

#ifdef __cplusplus
}
#endif
#endif
