/*
 * writer.h - the table of output formats, and the file that appears whole or not at all.
 */
#ifndef BARCODE_WRITER_H
#define BARCODE_WRITER_H

#include <stdbool.h>
#include <stdio.h>

#include "barcode/paint.h"
#include "barcode/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One output format. write() puts the whole thing into `f`; it neither opens, flushes nor closes it.
 * `strips` say which picture; the JSON writers ignore them. On failure `e` gets the cause alone
 * ("No space left on device"): writer_save puts what it was writing in front. */
struct writer {
    const char *name;        /* "png", "json", "bench"                    */
    bool (*write)(const struct report *r, struct strips strips, FILE *f, struct err *e);
};

extern const struct writer writer_png;    /* libpng: 8-bit RGB, sRGB chunk, tEXt/iTXt: Software, Title, Description, barcode:KEY = the
                                             parameters; nothing of engine or times: same input, same bytes */
extern const struct writer writer_json;   /* DESIGN.md section 7; one key a line, one column a line, stages last */
extern const struct writer writer_bench;  /* stage times, counts, frames/s, peak memory: one JSON object, one line */

/*
 * Writes to `path` through a temporary file beside it, fsync and rename: after a failure or a
 * kill the old file is untouched and the temporary is gone (or, after a kill, named .NAME.XXXXXX.tmp).
 * "-" is stdout (flushed, not closed); binary to a terminal is refused.
 */
bool writer_save(const struct writer *w, const struct report *r, struct strips strips, const char *path, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
