/*
 * atomic_target.h - the place in the file system of an output that appears complete or not at all:
 * a file without a name, or with a temporary one, that replaces an older output. The process that
 * may write there holds the target (file_request.h); the content may come from another one.
 */
#ifndef BARCODE_ATOMIC_TARGET_H
#define BARCODE_ATOMIC_TARGET_H

#include <stdbool.h>

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
typedef bool atomic_is_own(const char *path);
struct atomic_target *atomic_target_open_folder(const char *path, atomic_is_own *is_own);

/*
 * Makes a file in the folder. `name` is 1 to 4 digits and ".jpg". Returns a descriptor, or -1 with
 * errno.
 */
int atomic_target_add(struct atomic_target *t, const char *name);

/*
 * Returns the path that an output at `path` replaces: `path`, or what a symbolic link leads to. The
 * caller frees it. Returns NULL with errno on failure. Any thread.
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

/* Removes the output, and frees the target; sets *t to NULL. Does nothing if *t is NULL. */
void atomic_target_discard(struct atomic_target **t);

#endif
