/*
 * report_log.h - the report of a run (--report): a file of JSON lines to which every film adds one,
 * whatever became of it.
 *
 *     {"film": path, "status": "done" | "left_out" | "failed" | "interrupted", "reason": sentence
 * or null, "exit": the exit status that it stands for, "seconds": it took or null, "columns": or
 * null, "warnings": [sentences], "outputs": [paths], "finished": "2026-11-22T14:55:13Z"}
 *
 * Lines are appended, each by one write, so that several processes may use one file on a local
 * disk, and a crash tears none.
 */
#ifndef BARCODE_REPORT_LOG_H
#define BARCODE_REPORT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/output/report.h"

#ifdef __cplusplus
extern "C" {
#endif

struct report_log;

enum report_status { REPORT_DONE, REPORT_LEFT_OUT, REPORT_FAILED, REPORT_INTERRUPTED };

/* One film's line. All of it is lent for the call. */
struct report_entry {
    const char *film; /* path, any bytes */
    enum report_status status;
    const char *reason;          /* NULL: none */
    int exit;                    /* exit status: 0, 1, 2, 3, 4, 130 */
    double seconds;              /* < 0: unknown */
    int64_t columns;             /* < 0: there are none */
    const struct report *report; /* for its warnings; NULL: none */
    const char *const *output;   /* [outputs], those that are there; "-": stdout */
    size_t outputs;
};

/*
 * Opens `path` to append to it; "-" is stdout. NULL: it cannot be written to, or is there and no
 * report (ERR_FAILED). A line that a power cut tore is ended first. Main thread.
 */
struct report_log *report_log_open(const char *path, struct err *e);

/* True if a report begins at `path`, a regular file; nothing is said where it cannot be read. Any
 * thread. */
bool report_log_made(const char *path);

/* Appends a line. NULL is fine: nothing is kept. False: it could not be written. Any thread, and
 * any process after fork. */
bool report_log_add(struct report_log *l, const struct report_entry *entry, struct err *e);

/* Closes; sets *l to NULL. NULL is fine. */
void report_log_close(struct report_log **l);

#ifdef __cplusplus
}
#endif
#endif
