/*
 * table.h - one table of several films (--csv FILE). Worker processes add the rows of their films
 * as these finish, in any order; the parent writes the table at the end, in the films' order.
 *
 * Until then the rows are in a temporary file without a name, in the folder of the table, or in
 * $TMPDIR if the table goes to stdout or a device. So a crash leaves nothing behind.
 */
#ifndef BARCODE_TABLE_H
#define BARCODE_TABLE_H

#include <stddef.h>

#include "barcode/output/writer.h"

struct table;

/*
 * Opens the table of `films` films, without writing to `path` ("-": stdout), which must outlive it.
 * Returns NULL with ERR_FAILED if there can be no temporary file, or if out of memory. Main thread,
 * before the workers start.
 */
struct table *table_open(const char *path, size_t films, struct err *e);

const char *table_path(const struct table *t); /* for messages */

/*
 * Adds what the writer (writer.table) makes of film `film`, in place of earlier rows of this film.
 * Fails as writer_save does. Any thread of any process.
 */
bool table_add(struct table *t, size_t film, const struct writer *w, const struct report *r,
               struct strips strips, struct err *e);

/* Removes the rows of a film that has failed. Does nothing if `t` is NULL. Any thread and process.
 */
void table_remove(struct table *t, size_t film);

/*
 * Writes the header and the rows of all films as writer_save writes a file, and sets `*films` to
 * their number. Writes nothing if there are no films. Main thread of the parent.
 */
bool table_write(struct table *t, size_t *films, struct err *e);

/* Closes the table and sets *t to NULL. Does nothing if *t is NULL. */
void table_close(struct table **t);

#endif
