/* progress.h - the progress line of a terminal, or of a log with --progress always. */
#ifndef BARCODE_PROGRESS_H
#define BARCODE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"

enum progress_when { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

struct progress;

/* The progress of several films. */
struct progress_run {
    uint64_t films, films_total; /* finished, including failed ones; and to be rendered */
    uint64_t bytes, bytes_total; /* of their files; 0 for an input that is not a file */
    double films_now, bytes_now; /* the finished part of the films in progress */
    double seconds;              /* since the start */
};

/* The progress at one moment. Totals are 0 if unknown. */
struct progress_state {
    uint64_t frames;                 /* of the film, up to the current position */
    uint64_t columns, columns_total; /* finished columns */
    double share;                    /* 0..1 of the film, < 0 if unknown */
    /* NULL for a single film; otherwise `frames` is of all, and `share` ignored. Borrowed */
    const struct progress_run *run;
    const char *title; /* NULL: the title of progress_open. Must be valid until progress_close */
};

/*
 * Opens the progress line. `title` (copied) names the film.
 *
 * PROGRESS_AUTO shows the line only on a terminal that can erase a line (TERM is set and not
 * "dumb"), and only in the foreground. PROGRESS_ALWAYS, without such a terminal, logs a plain line
 * every 3 seconds and a last one at the end, however short the run. -q silences both.
 *
 * Returns NULL and sets `e` if out of memory. All functions below accept NULL, except
 * progress_share and progress_format. Only one progress may be open at a time.
 */
struct progress *progress_open(enum progress_when when, const char *title, struct err *e);

/* Returns true if progress_open would show a line on a terminal. */
bool progress_is_on_terminal(enum progress_when when);

/* Shows the state if the interval has passed; cheap to call often. One thread at a time. */
void progress_tick(struct progress *p, const struct progress_state *s);

/* Erases the line. In a log, writes the last state if no line has shown it. Frees `*p`. */
void progress_close(struct progress **p);

/* Returns the finished share of several films, 0..1: of their bytes, or of their number. */
double progress_share(const struct progress_run *r);

/*
 * Formats a line `seconds` after the start (public for tests): "NAME 37 % 1234 frames/s 120/320
 * columns ETA 0:12". For several films share, rate and ETA count all of them: "NAME 37 % 3/24 films
 * 1234 frames/s ETA 1:02:03". Writes at most size - 1 bytes: a long name is cut, then omitted, then
 * the rest is cut. Unknown values are omitted.
 */
void progress_format(char *text, int size, const char *title, const struct progress_state *s,
                     double seconds);

#endif
