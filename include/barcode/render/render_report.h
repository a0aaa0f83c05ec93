/*
 * render_report.h - reports problems of films on stderr and in the report log (report_log.h): for
 * films.c.
 */
#ifndef BARCODE_RENDER_REPORT_H
#define BARCODE_RENDER_REPORT_H

#include "barcode/render/render.h"

/*
 * Reports the problems that are known before the first film is opened, so that the user sees them
 * at once. Adds these films and the skipped ones to the report log. Returns false if the log cannot
 * be written.
 */
bool render_report_known(const struct render *r, struct err *e);

/*
 * Adds a film to the report log that no worker can report any more: `failure` ended its worker
 * process, or the film was never opened. Returns false if the log cannot be written.
 */
bool render_report_missing(const struct render *r, size_t film, const struct err *failure,
                           struct err *e);

#endif
