/*
 * log.h - messages on stderr, one complete line at a time.
 *
 * Any thread. Each line is formatted first and then written in one call under a lock, which also
 * erases the progress line and redraws it below.
 */
#ifndef BARCODE_LOG_H
#define BARCODE_LOG_H

#include <stdbool.h>

enum log_level {
    LOG_ERROR,   /* always "barcode: ..." */
    LOG_WARNING, /* unless -q "barcode: warning: ..." */
    LOG_INFO,    /* unless -q "barcode: ..." */
    LOG_VERBOSE, /* -v */
    LOG_DEBUG    /* -vv */
};

/*
 * Sets the highest level that is written; initially LOG_INFO. Call it before any other thread runs.
 */
void log_set_level(enum log_level level);
bool log_enabled(enum log_level level);

/* Writes one line, made plain (text.h), and appends a newline. */
void log_msg(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Replaces the progress line below the log on a terminal. NULL erases it permanently. */
void log_status(const char *line);

/*
 * Shares the progress line between this process and those forked later, so that each erases it
 * before its own messages. If out of memory, each process handles only its own progress line. No
 * other thread may run.
 */
void log_share(void);

#endif
