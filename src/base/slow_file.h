/*
 * slow_file.h - interruptible I/O on files that can block: pipes, FIFOs, sockets, terminals, and
 * inherited descriptors. Each wait ends within 0.1 s once interrupted() is true. Regular files work
 * too.
 */
#ifndef BARCODE_SLOW_FILE_H
#define BARCODE_SLOW_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Opens `path` for reading or writing. Neither creates nor truncates a file. The caller closes the
 * descriptor. Returns -1 with errno on failure; EINTR if interrupted.
 *
 * - If the path names an open descriptor (file_descriptor), returns a duplicate of it. Such a file,
 *   for instance a socket or another user's pipe, may not be openable by name.
 * - Opening a FIFO for reading returns at once, and slow_read waits for its first writer. Opening
 *   it for writing waits for a reader.
 */
int slow_open(const char *path, bool writing);

/* Returns true if `path` is a FIFO. */
bool slow_is_fifo(const char *path);

/*
 * Reads like read(2): waits for data; returns 0 at the end, when all writers have closed. Returns
 * -1 with errno on failure; EINTR if interrupted. `patient`: waiting counts as progress of the film
 * (watch.h), so it may take as long as it likes.
 */
ssize_t slow_read(int fd, void *to, size_t bytes, bool patient);

/*
 * Writes all bytes; waiting counts as progress. Returns false with errno on failure, possibly after
 * a partial write; EINTR if interrupted.
 */
bool slow_write(int fd, const void *from, size_t bytes);

#endif
