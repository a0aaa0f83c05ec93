/*
 * log.h - messages on stderr, one complete line at a time.
 *
 * Any thread. Each line is formatted first and then written in one call under a lock, which also
 * erases the progress line and redraws it below. A worker process sends its lines to its parent
 * (worker.h), which alone writes to the terminal.
 */
#ifndef BARCODE_LOG_H
#define BARCODE_LOG_H

#include "barcode/base/err.h"

enum log_level {
    LOG_ERROR,   /* always "barcode: ..." */
    LOG_WARNING, /* unless -q "barcode: warning: ..." */
    LOG_INFO,    /* unless -q "barcode: ..." */
    LOG_VERBOSE, /* -v */
    LOG_DEBUG    /* -vv */
};

enum { LOG_LINE = 1024 }; /* room for a line, longer ones are cut */

/* Sets the highest level that is written, at first LOG_INFO. Before any other thread runs. */
void log_set_level(enum log_level level);
bool log_enabled(enum log_level level);

/* Writes one line, made plain (text.h), and appends a newline. */
void log_msg(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Logs an error other than ERR_PIPE; with -vv also where it was set. Returns the exit status. */
int log_error(const struct err *e);

/* Replaces the progress line below the log on a terminal. NULL erases it permanently. Does nothing
 * with a log_sink. */
void log_status(const char *line);

/*
 * Sets whether a line waits while stderr accepts none; initially it does. Otherwise it is left out,
 * and the next line has the number of those. Call it before any other thread runs.
 */
void log_set_patience(bool patient);

/* Lines that wait are lost once `is_over` returns true. Call it before any other thread runs. */
void log_set_end(bool (*is_over)(void));

/* Returns true if stderr takes a line now; false while its reader or its user has paused it. */
bool log_is_ready(void);

/*
 * Gives all lines to `sink` from now on, without "barcode: " and newline. Any thread may call the
 * sink. Call it before any other thread runs.
 */
typedef void log_sink(enum log_level level, const char *line);
void log_set_sink(log_sink *sink);

#endif
