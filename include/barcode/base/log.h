/*
 * log.h - what the program says on stderr, a whole line at a time.
 *
 * Any thread may call. A line is composed first and written once under one
 * lock, which also lifts the progress line and draws it again below.
 */
#ifndef BARCODE_LOG_H
#define BARCODE_LOG_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum log_level {
    LOG_ERROR,   /* always "barcode: ..." */
    LOG_WARNING, /* unless -q "barcode: warning: ..." */
    LOG_INFO,    /* unless -q "barcode: ..." */
    LOG_VERBOSE, /* -v */
    LOG_DEBUG    /* -vv */
};

/* The highest level that is written; LOG_INFO at start. Call before any other thread runs. */
void log_set_level(enum log_level level);
bool log_enabled(enum log_level level);

/* Writes one line. A newline is added; control characters in the text are shown as '?'. */
void log_msg(enum log_level level, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/*
 * The progress line below the log on a terminal: replaces the one shown.
 * NULL lifts it for good.
 */
void log_status(const char *line);

/*
 * From here on this process and those that it forks share the progress line: each lifts it for its
 * own messages, whichever of them shows it. Without memory for that each knows of its own line
 * alone. No other thread may run.
 */
void log_share(void);

#ifdef __cplusplus
}
#endif
#endif
