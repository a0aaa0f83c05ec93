/*
 * file.h - the little that several rooms ask of files on the disk. Any thread.
 */
#ifndef BARCODE_FILE_H
#define BARCODE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads `bytes` bytes from offset `at` of an open file. False when it ends before, or cannot be read. */
bool file_read_at(int fd, void *to, size_t bytes, uint64_t at);

/* Whether two paths lead to the same file, or would once both are written. Devices and pipes are never the same. */
bool file_same(const char *a, const char *b);

#ifdef __cplusplus
}
#endif
#endif
