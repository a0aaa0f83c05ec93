/*
 * atomic_file.h - a file that appears whole or not at all. One thread a file.
 */
#ifndef BARCODE_ATOMIC_FILE_H
#define BARCODE_ATOMIC_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct atomic_file;

/*
 * Opens a temporary beside `path` (same folder, so that rename is atomic). Fails with a sentence
 * when the folder is missing or not writable, when `path` is a folder, or is there and not
 * writable.
 * "-" is stdout: refused when stdout is a terminal and `binary`.
 * A path that is a device or pipe (/dev/null, /dev/stdout) is opened itself, without a temporary.
 * Opening a FIFO waits for a reader, and writing for room; both end with ERR_INTERRUPTED within a
 * tenth of a second once interrupted() is true. A symbolic link is followed: the file that it
 * points to is replaced, the link stays. The new file has the old one's permissions (and owner,
 * where this user may set it), or 0666 less the umask.
 */
struct atomic_file *atomic_file_open(const char *path, bool binary, struct err *e);

/* True for a name of stdout: "-", /dev/stdout, /dev/fd/1, /proc/self/fd/1. */
bool atomic_file_is_stdout(const char *path);

FILE *atomic_file_stream(struct atomic_file *f);

/* Flush, fsync, rename, fsync of the folder; a full disk is reported here. Frees and sets *f to
 * NULL either way; on failure the temporary is removed and `path` is untouched. */
bool atomic_file_commit(struct atomic_file **f, struct err *e);

/* Removes the temporary; `path` is untouched. Frees; sets *f to NULL. NULL is fine. */
void atomic_file_discard(struct atomic_file **f);

#ifdef __cplusplus
}
#endif
#endif
