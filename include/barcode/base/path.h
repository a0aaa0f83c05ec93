/*
 * path.h - the names of files: how they are put together and taken apart. Nothing here looks at the
 * disk. Any thread.
 */
#ifndef BARCODE_PATH_H
#define BARCODE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A new string, the caller's to free: `folder`, a slash, `name`, `end`. No slash after one that is
 * there already, none where `folder` or `name` is empty. NULL when memory runs out (errno is ENOMEM
 * too).
 */
char *path_join(const char *folder, const char *name, const char *end, struct err *e);

/* FOLDER/NAME by the same rule into path[room]. False, with `path` cut off, when it does not fit.
 */
bool path_fill(char *path, size_t room, const char *folder, const char *name);

/* `name` in the folder where `path` lies: "a/b.mkv" and "c" give "a/c", "b.mkv" and "c" give "c".
 * As path_join. */
char *path_beside(const char *path, const char *name, struct err *e);

/* The last part of a path, as a pointer into it and a length: "a/b.mkv" gives "b.mkv", "a/b/" gives
 * "b". */
const char *path_last(const char *path, size_t *length);

/*
 * A byte of a path as a URL has it (RFC 3986): itself, or %XX for what URLs have a use for and what
 * is not ASCII; a slash stays. 1 or 3 characters and a 0 into `text`; returns how many.
 */
size_t path_url_byte(char byte, char text[4]);

/*
 * The order of two names as people count: < 0, 0 or > 0 as strcmp. Digits that follow one another
 * are a number ("e2" before "e10"), everything else goes by bytes, the same in every language. 0
 * only for equal names.
 */
int path_order(const char *a, const char *b);

#ifdef __cplusplus
}
#endif
#endif
