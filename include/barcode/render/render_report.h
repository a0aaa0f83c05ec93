/*
 * render_report.h - what is said of a run's films, on stderr and in its report (report_log.h): for
 * films.c.
 */
#ifndef BARCODE_RENDER_REPORT_H
#define BARCODE_RENDER_REPORT_H

#include "barcode/render/render.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Says the problems that are known before the first film is opened: now, not hours later. Notes
 * them, and what is left out. */
bool render_report_known(const struct render *r, struct err *e);

/* Notes a film that nobody else can speak for any more: `failure` ended the process that worked on
 * it, or it was not begun. */
bool render_report_missing(const struct render *r, size_t film, const struct err *failure,
                           struct err *e);

#ifdef __cplusplus
}
#endif
#endif
