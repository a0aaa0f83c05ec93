/*
 * file.h - what several rooms ask of files on the disk. Any thread.
 */
#ifndef BARCODE_FILE_H
#define BARCODE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads `bytes` bytes from offset `at` of an open file. False when the file ends earlier or cannot
 * be read. */
bool file_read_at(int fd, void *to, size_t bytes, uint64_t at);

/*
 * The number of the open file that a path names: /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N,
 * /proc/self/fd/N. -1 for other paths. Nothing is looked up: the file may be closed.
 */
int file_descriptor(const char *path);

/* True for a regular file, or a link to one. False also where stat() fails. */
bool file_is_regular(const char *path);

/* True if two paths lead to the same file, or would once both are written. Devices and pipes are
 * never the same. */
bool file_same(const char *a, const char *b);

#ifdef __cplusplus
}
#endif
#endif
