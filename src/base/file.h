/* file.h - reads, opens and compares files. Any thread. */
#ifndef BARCODE_FILE_H
#define BARCODE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "barcode/base/err.h"

/* Reads `bytes` at offset `at`. Returns false with errno, or errno 0 if the file is shorter. */
bool file_read_at(int fd, void *to, size_t bytes, uint64_t at);

/* Returns true if the reader of standard output has gone, as that of `| head` does. */
bool file_stdout_is_abandoned(void);

/*
 * Returns the code of a write that failed with `error`: ERR_PIPE if the reader of standard output
 * has gone, else ERR_FAILED. In a worker process, which does not have that output, ERR_FAILED.
 */
enum err_code file_write_code(int error);

/*
 * Flushes `out`, which is standard output. Returns false, with the message, if that or an earlier
 * write failed, or if not `ok`. errno is of the first failure, or 0.
 */
bool file_end_stdout(FILE *out, bool ok, struct err *e);

/* Writes all bytes to an open file, each part as progress (watch.h). Returns false with errno. */
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

/* Returns true for a regular file or a link to one. */
bool file_is_regular(const char *path);

/*
 * Opens a file to read it, or a duplicate of the descriptor that the path names, without waiting
 * for the writer of a FIFO. A worker process asks its parent (file_ask). The caller closes
 * it. Returns -1 with errno on failure.
 */
int file_open_read(const char *path);

/* Opens a regular file. Returns NULL for a pipe: opening it would wait for its writer. */
FILE *file_open_regular(const char *path);

/* Reads up to `bytes` bytes from the beginning of a regular file. Returns their number. */
size_t file_read_begin(const char *path, void *to, size_t bytes);

/* Returns true for a symbolic link that leads to no file: writing would make one elsewhere. */
bool file_is_dangling(const char *path);

/*
 * Opens a temporary file in `folder` that has no name, to read and write. A worker process asks its
 * parent, which chooses the folder. Returns -1 with errno.
 */
int file_open_scratch(const char *folder);

/* Returns true if two paths name the same file, or will once it is written; not for devices. */
bool file_same(const char *a, const char *b);

/*
 * ---- files that can block: pipes, FIFOs, sockets, terminals, and inherited descriptors ----
 *
 * Each wait ends within 0.1 s once interrupted() is true. Regular files work too.
 */

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

bool slow_is_fifo(const char *path);

/*
 * Reads like read(2): waits for data; returns 0 at the end, when all writers have closed. Returns
 * -1 with errno on failure; EINTR if interrupted. `patient`: waiting counts as progress of the film
 * (watch.h), so it may take as long as it likes.
 */
ssize_t slow_read(int fd, void *to, size_t bytes, bool patient);

/* Writes all bytes, as progress. False with errno, maybe after a part; EINTR if interrupted. */
bool slow_write(int fd, const void *from, size_t bytes);

/*
 * ---- how a confined worker process opens files ----
 *
 * It asks its parent, which knows what the films in progress may read and write, and passes a
 * descriptor. So the worker has no right to open any file of the user by name. A process without
 * `file_ask` opens files itself.
 */

enum file_request {
    FILE_READ,    /* opens `path` to read it, without waiting; returns a descriptor */
    FILE_SCRATCH, /* opens a nameless temporary file; returns a descriptor */
    FILE_WRITE,   /* begins an output at `path` and sets `*file`; returns a descriptor */
    FILE_FOLDER,  /* begins a folder that will replace the one of file `path`, and sets `*file` */
    FILE_ADD,     /* makes the file `path`, a plain name, in folder `*file`; returns a descriptor */
    FILE_PUBLISH, /* gives output or folder `*file` its name, and forgets it */
    FILE_DISCARD  /* removes output or folder `*file`, and forgets it */
};

/*
 * Asks the parent. Returns a descriptor, which the caller closes, or 0 where the request has none.
 * Returns -1 with errno on failure. `path` may be NULL and `*file` unset where the request names
 * none. Any thread.
 */
typedef int file_asking(enum file_request request, const char *path, int *file);

/* NULL: this process opens files itself. Set it before other threads run. */
extern file_asking *file_ask;

#endif
