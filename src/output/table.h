/*
 * table.h - one table of several films (--csv FILE). The parent of the worker processes gets the
 * rows of films as these finish, in any order, and writes the table at the end, in the films'
 * order. Main thread of the parent only.
 *
 * Until then the rows are in a temporary file without a name, in the folder of the table, or in
 * $TMPDIR if the table goes to stdout or a device. So a crash leaves nothing behind.
 */
#ifndef BARCODE_TABLE_H
#define BARCODE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "barcode/base/err.h"

struct table;

/*
 * Opens the table of `films` films, without writing to `path` ("-": stdout), which must outlive it.
 * Returns NULL with ERR_FAILED if there can be no temporary file, or if out of memory.
 */
struct table *table_open(const char *path, size_t films, struct err *e);

const char *table_path(const struct table *t); /* for messages */

/* Opens a nameless file for the header and the rows of a film. Returns -1 with errno. */
int table_open_part(const struct table *t);

/*
 * Copies such a file to the table, which has no rows of film `film` yet. The file may be written
 * to meanwhile: its length now counts, 4 GiB at most. Returns false with errno.
 */
bool table_add(struct table *t, size_t film, int part);

/* Removes the rows of a film that has failed. Does nothing if `t` is NULL. */
void table_remove(struct table *t, size_t film);

/*
 * Writes the header and the rows of all films as writer_save writes a file, and sets `*films` to
 * their number. Writes nothing if there are no films.
 */
bool table_write(struct table *t, size_t *films, struct err *e);

/* Closes the table and sets *t to NULL. Does nothing if *t is NULL. */
void table_close(struct table **t);

#endif
