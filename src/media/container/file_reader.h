/*
 * file_reader.h - reads regular files and disks, one or several whose bytes follow one another, and
 * records what cannot be read (read_faults.h).
 */
#ifndef BARCODE_CONTAINER_FILE_READER_H
#define BARCODE_CONTAINER_FILE_READER_H

#include <stddef.h>
#include <sys/types.h>

#include "read_faults.h"
#include "barcode/base/err.h"

/* One thread at a time. */
struct file_reader;

/* Makes a reader without a file. `faults` is borrowed. Returns NULL if out of memory. */
struct file_reader *file_reader_new(struct read_faults *faults, struct err *e);

/*
 * Appends the bytes of the open file `path`, which is borrowed. The reader owns `fd` from then on,
 * also after a failure. Returns false if out of memory.
 */
bool file_reader_add(struct file_reader *r, int fd, const char *path, struct err *e);

/* Sets the number under which the first byte is recorded if it is skipped (0). */
void file_reader_count_from(struct file_reader *r, int64_t first);

/* Returns the number of bytes; of a single file, the current one. */
int64_t file_reader_size(const struct file_reader *r);

/*
 * Reads up to `bytes` bytes at offset `at`, like pread(2). Bytes that are skipped (--keep-going)
 * are 0. Returns -1 with errno on failure; EINTR if interrupted.
 */
ssize_t file_reader_read(struct file_reader *r, int64_t at, void *to, size_t bytes);

/* Closes the files and frees the reader. Does nothing if *r is NULL. */
void file_reader_close(struct file_reader **r);

#endif
