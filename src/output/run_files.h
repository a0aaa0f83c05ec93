/*
 * run_files.h - files with something of every film of a run: the report and the table. Main thread
 * of the parent of the worker processes.
 *
 * The report (--report) has one line of JSON per film (schema/report.schema.json), whatever its
 * result. Each line is appended by one write. So several runs may use one file on a local disk, and
 * a crash leaves no incomplete line.
 */
#ifndef BARCODE_RUN_FILES_H
#define BARCODE_RUN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "report.h"

struct report_log;

enum report_status { REPORT_DONE, REPORT_LEFT_OUT, REPORT_FAILED, REPORT_INTERRUPTED };

/* The line of one film. All pointers are borrowed for the call. */
struct report_entry {
    const char *film; /* path, any bytes */
    enum report_status status;
    const char *reason;                    /* NULL: none */
    int exit;                              /* exit status: 0, 1, 2, 3, 4, 130 */
    double seconds;                        /* < 0: unknown */
    int64_t columns;                       /* < 0: none */
    const char (*warning)[REPORT_WARNING]; /* [warnings] */
    int warnings;
    const char *const *output; /* [outputs], the files that exist; "-": stdout */
    size_t outputs;
};

/*
 * Opens `path` to append to it; "-" is stdout. `path` must outlive the report log. A last line that
 * is incomplete, as after a power failure, is ended first. Returns NULL with ERR_FAILED if the file
 * cannot be written, if it exists and is not a report, or if out of memory. Main thread.
 */
struct report_log *report_log_open(const char *path, struct err *e);

/* Returns true if the file at `path` begins as a report does. Any thread. */
bool report_log_made(const char *path);

/*
 * Appends a line. Does nothing if `l` is NULL. Returns false if the line could not be written. A
 * line for a pipe or device that takes none now is kept for report_log_close. Main thread.
 */
bool report_log_add(struct report_log *l, const struct report_entry *entry, struct err *e);

/*
 * Writes what is left, closes the report log and sets *l to NULL. Does nothing if *l is NULL.
 * Returns false if lines could not be written; after an interruption they are left out.
 */
bool report_log_close(struct report_log **l, struct err *e);

/*
 * A table of several films (--csv FILE). The parent of the worker processes gets the
 * rows of films as these finish, in any order, and writes the table at the end, in the films'
 * order.
 *
 * Until then the rows are in a temporary file without a name, in the folder of the table, or in
 * $TMPDIR if the table goes to stdout or a device. So a crash leaves nothing behind.
 */

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

void table_close(struct table **t);

#endif
