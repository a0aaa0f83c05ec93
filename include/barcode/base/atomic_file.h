/*
 * atomic_file.h - writes a file that appears complete or not at all. Use one file from one thread.
 */
#ifndef BARCODE_ATOMIC_FILE_H
#define BARCODE_ATOMIC_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "barcode/base/err.h"

struct atomic_file;

/*
 * Opens a temporary file in the folder of `path`, so that rename is atomic. Fails if the folder
 * does not exist or is not writable, or if `path` is a folder or a file that is not writable.
 *
 * - "-" is stdout. It is refused if stdout is a terminal and `binary` is true.
 * - A device or pipe (/dev/null, /dev/stdout) is opened directly, without a temporary file.
 * - Opening a FIFO waits for a reader, and writing to a pipe waits for room. Both fail with
 *   ERR_INTERRUPTED within 0.1 s once interrupted() is true.
 * - A symbolic link is followed: the file that the link points to is replaced, and the link stays.
 *   In a folder that everybody may write to, such as /tmp, links of other users are refused.
 *
 * The new file gets the permissions of the old file, and its owner if this user may set it. A file
 * that did not exist gets 0666 minus the umask.
 */
struct atomic_file *atomic_file_open(const char *path, bool binary, struct err *e);

/* Returns true for a name of stdout: "-", /dev/stdout, /dev/fd/1 or /proc/self/fd/1. */
bool atomic_file_is_stdout(const char *path);

/*
 * Returns the path that atomic_file_commit replaces: `path`, or what a symbolic link leads to. The
 * caller frees it. Returns NULL with errno on failure. Any thread.
 */
char *atomic_file_target(const char *path);

/*
 * Returns a new temporary name in the folder of `path`, ".NAME.XXXXXX.tmp"; the caller frees it.
 * NAME is shortened if the folder's name limit requires it. Returns NULL if out of memory. Any
 * thread.
 */
char *atomic_file_temporary(const char *path);

FILE *atomic_file_stream(struct atomic_file *f);

/*
 * Flushes and syncs the file, renames it to `path` and syncs the folder. Reports a full disk. Frees
 * the file and sets *f to NULL in any case. On failure the temporary file is removed and `path` is
 * unchanged.
 */
bool atomic_file_commit(struct atomic_file **f, struct err *e);

/*
 * Removes the temporary file and leaves `path` unchanged. Frees the file and sets *f to NULL. Does
 * nothing if *f is NULL.
 */
void atomic_file_discard(struct atomic_file **f);

#endif
