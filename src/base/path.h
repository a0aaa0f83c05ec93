/* path.h - composes and splits file names, and makes folders. Any thread. */
#ifndef BARCODE_PATH_H
#define BARCODE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "barcode/base/err.h"

/*
 * Returns `folder`, a slash, `name`, `end`, which the caller frees. Omits the slash if `folder` is
 * empty or ends with one, or if `name` is empty. Returns NULL if out of memory (errno is ENOMEM
 * too).
 */
char *path_join(const char *folder, const char *name, const char *end, struct err *e);

/* Writes FOLDER/NAME by the same rule. Returns false, with `path` truncated, if it does not fit. */
bool path_fill(char *path, size_t room, const char *folder, const char *name);

/* Returns `name` in the folder of `path`: "a/b.mkv" and "c" give "a/c". Otherwise as path_join. */
char *path_beside(const char *path, const char *name, struct err *e);

/* Returns the last component as a pointer into `path`: "b.mkv" of "a/b.mkv", "b" of "a/b/". */
const char *path_last(const char *path, size_t *length);

/*
 * Writes one byte of a path as it appears in a URL (RFC 3986): the byte itself, or %XX for reserved
 * and non-ASCII bytes. A slash stays. Writes 1 or 3 characters and a terminating zero into `text`;
 * returns the number of characters.
 */
size_t path_url_byte(char byte, char text[4]);

/*
 * Compares two names in natural order; returns < 0, 0 or > 0 as strcmp does. Consecutive digits are
 * compared as a number ("e2" before "e10"), everything else by bytes in any locale. Returns 0 only
 * for equal names.
 */
int path_order(const char *a, const char *b);

/*
 * Makes a folder and its missing parents; `path` is as before at the end. Returns how many it made,
 * and sets errno to why the folder itself could not be made: 0 if it, or another file of that name,
 * is there.
 */
int path_make_folders(char *path, mode_t mode);

#endif
