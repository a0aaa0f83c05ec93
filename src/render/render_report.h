/*
 * render_report.h - reports what became of films, on stderr and in the report log (run_files.h).
 * In the parent of the worker processes.
 */
#ifndef BARCODE_RENDER_REPORT_H
#define BARCODE_RENDER_REPORT_H

#include "output/run_files.h"
#include "render.h"

/*
 * Reports the problems that are known before the first film is opened, so that the user sees them
 * at once. Adds these films and the skipped ones to the report log. Returns false if the log cannot
 * be written. `log` may be NULL, here and below.
 */
bool render_report_known(const struct render *r, struct report_log *log, struct err *e);

/*
 * Adds a film to the report log; `failure` is empty if it succeeded. Returns false if the log
 * cannot be written.
 */
bool render_report_film(const struct render *r, struct report_log *log, size_t film,
                        const struct film_result *result, const struct err *failure, struct err *e);

#endif
