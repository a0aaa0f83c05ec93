/*
 * atomic_file.h - writes a file that appears complete or not at all. Use one file from one thread.
 *
 * A target is its place in the file system: a file without a name, or with a temporary one, that
 * replaces an older output. The process that may write there holds the target (file_request in
 * file.h); the content may come from another one.
 */
#ifndef BARCODE_ATOMIC_FILE_H
#define BARCODE_ATOMIC_FILE_H

#include <stdio.h>

#include "barcode/base/err.h"

struct atomic_file;

/*
 * Opens a temporary file in the folder of `path`, or has the parent open it (file.h). Fails
 * if the folder does not exist or is not writable, or if `path` is a folder or a file that is not
 * writable.
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

/* Returns how messages name the file: "standard output" for "-", otherwise `path`. */
const char *atomic_file_shown(const char *path);

FILE *atomic_file_stream(struct atomic_file *f);

typedef bool atomic_is_own(const char *path);

/*
 * Begins a folder of sheets, N.jpg, at `path`; it has no stream. An older one is replaced as a
 * whole if `is_own` is true for all files in it; a parent that opens the folder (file.h) has a rule
 * of its own.
 */
struct atomic_file *atomic_folder_open(const char *path, atomic_is_own *is_own, struct err *e);

/* Opens the file `name` in a folder. Each is committed or discarded before the folder is. */
struct atomic_file *atomic_folder_add(struct atomic_file *folder, const char *name, struct err *e);

/*
 * Flushes and syncs the file, renames it to `path` and syncs the folder. Reports a full disk. Frees
 * the file and sets *f to NULL in any case. On failure the temporary file is removed and `path` is
 * unchanged.
 */
bool atomic_file_commit(struct atomic_file **f, struct err *e);

/* Removes the temporary file and leaves `path` unchanged. Frees the file. */
void atomic_file_discard(struct atomic_file **f);

/* ---- targets ---- */

struct atomic_target;

/*
 * Begins an output at `path`, which the rules of atomic_file_open apply to. A FIFO without a reader
 * fails with ENXIO: this does not wait. Returns NULL with errno on failure. One thread.
 */
struct atomic_target *atomic_target_open(const char *path);

/*
 * Begins a folder that will replace the one at `path`, if any. All its files are made by
 * atomic_target_add. Returns NULL with errno: ENOTEMPTY if the folder has other files than N.jpg,
 * or one for which `is_own` returns false: a replacement would remove them.
 */
struct atomic_target *atomic_target_open_folder(const char *path, atomic_is_own *is_own);

/* Makes a file of 1 to 4 digits and ".jpg" in the folder. Returns a descriptor, -1 with errno. */
int atomic_target_add(struct atomic_target *t, const char *name);

/*
 * Returns what an output at `path` replaces, also through a link; the caller frees it. NULL with
 * errno. Any thread.
 */
char *atomic_target_path(const char *path);

/* Returns the descriptor of the output, to write to. It belongs to the target. */
int atomic_target_descriptor(const struct atomic_target *t);

/*
 * Gives the output its name in place of an older one, and frees the target; sets *t to NULL. What
 * was written must be on the disk (fsync). Returns false with errno on failure; the old output is
 * then unchanged, and nothing is left of the new one.
 */
bool atomic_target_publish(struct atomic_target **t);

/* Removes the output, and frees the target. */
void atomic_target_discard(struct atomic_target **t);

#endif
