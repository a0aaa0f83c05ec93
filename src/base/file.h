/* file.h - file helpers. Any thread. */
#ifndef BARCODE_FILE_H
#define BARCODE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Reads `bytes` bytes at offset `at` of an open file. Returns false with errno if the file cannot
 * be read, and with errno 0 if it is shorter.
 */
bool file_read_at(int fd, void *to, size_t bytes, uint64_t at);

/*
 * Writes all bytes at the position of an open file. Each part counts as progress (watch.h). Returns
 * false with errno.
 */
bool file_write(int fd, const void *data, size_t bytes);

/*
 * Returns true for an errno of open() or read() that the machine is to blame for: its disk, network
 * or memory. Returns false for a wrong name or a missing permission, for EINTR and for 0.
 */
bool file_is_fault(int error);

/*
 * Returns the descriptor that a path names: /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N or
 * /proc/self/fd/N. Returns -1 for other paths. Does not check that the descriptor is open.
 */
int file_descriptor(const char *path);

/*
 * Returns true for a regular file or a link to one. Returns false for anything else, and if stat()
 * fails.
 */
bool file_is_regular(const char *path);

/*
 * Opens a file to read it, or a duplicate of the descriptor that the path names, without waiting
 * for the writer of a FIFO. A worker process asks its parent (file_request.h). The caller closes
 * it. Returns -1 with errno on failure.
 */
int file_open_read(const char *path);

/* Opens a regular file. Returns NULL for a pipe: opening it would wait for its writer. */
FILE *file_open_regular(const char *path);

/* Reads up to `bytes` bytes from the beginning of a regular file. Returns their number. */
size_t file_read_begin(const char *path, void *to, size_t bytes);

/*
 * Returns true for a symbolic link that leads to no file: writing to it would make a file
 * elsewhere.
 */
bool file_is_dangling(const char *path);

/*
 * Opens a temporary file in `folder` that has no name, for reading and writing. A worker process
 * asks its parent, which chooses the folder. Returns -1 with errno on failure.
 */
int file_open_scratch(const char *folder);

/*
 * Returns true if two paths name the same file, or would name the same file once both are written.
 * Returns false for devices and pipes.
 */
bool file_same(const char *a, const char *b);

#endif
