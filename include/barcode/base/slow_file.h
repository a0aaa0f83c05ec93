/*
 * slow_file.h - files that may keep their reader or writer waiting: pipes, FIFOs, sockets,
 * terminals, and descriptors that another program opened. Each wait here ends within a tenth of a
 * second once interrupted() is true. Regular files work too.
 */
#ifndef BARCODE_SLOW_FILE_H
#define BARCODE_SLOW_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Opens `path` for reading, or for writing (nothing is created or cut off). The caller closes it.
 * -1 with errno on failure; EINTR: interrupted.
 * - A name of an open file (file_descriptor) gives a duplicate of its descriptor: the file may be
 * one that cannot be opened by name, such as a socket or another user's pipe.
 * - A FIFO is opened for reading at once, and slow_read waits for its first writer. For writing,
 * opening waits for a reader.
 */
int slow_open(const char *path, bool writing);

/* As read(2): waits for some bytes; 0: the end, every writer is gone. -1 with errno; EINTR:
 * interrupted. */
ssize_t slow_read(int fd, void *to, size_t bytes);

/* Writes all of it. False with errno, possibly after a part was written; EINTR: interrupted. */
bool slow_write(int fd, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
