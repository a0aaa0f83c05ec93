/*
 * progress.h - one line that says how far: on a terminal at most 6 times a second, with
 * --progress always also as plain lines every few seconds in a log.
 */
#ifndef BARCODE_PROGRESS_H
#define BARCODE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

enum progress_when { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

struct progress;

/* A run of several films: how far all of them are. */
struct progress_run {
    uint64_t films, films_total; /* ended, failed ones too; to be done */
    uint64_t bytes, bytes_total; /* of their files, 0 for what is no file */
    double films_now, bytes_now; /* what is done of the films under way */
    double seconds;              /* since the run began */
};

/* What is known at a tick. Totals are 0 when unknown. */
struct progress_state {
    uint64_t frames;                 /* film frames covered */
    uint64_t columns, columns_total; /* columns done */
    double share;                    /* 0..1 of the film, < 0 when unknown */
    /*
     * NULL: the only film; else `frames` are of all, and `share` means nothing. Lent for the call
     */
    const struct progress_run *run;
    const char *title; /* NULL: as progress_open was told. Must live until progress_close */
};

/*
 * `title` (copied) names the film. PROGRESS_AUTO shows the line only on a terminal that can lift
 * one (TERM is set and not dumb) and while in the foreground; PROGRESS_ALWAYS writes a plain line
 * every 3 seconds where there is no such terminal, and one that says how it ended, however short
 * the run; -q silences both. Never NULL unless memory is short: then `e` says so, and every
 * function below takes NULL. One at a time.
 */
struct progress *progress_open(enum progress_when when, const char *title, struct err *e);

/* Shows the state if it is time to; cheap to call often. One thread at a time. */
void progress_tick(struct progress *p, const struct progress_state *s);

/*
 * Returns the seconds that are left by the last tick. Returns 0 where they are not known, or where
 * no line is shown on a terminal.
 */
double progress_seconds_left(const struct progress *p);

/* Lifts the line; in a log, says the last tick's state if no line did yet. Frees; sets *p to NULL.
 * NULL is fine. */
void progress_close(struct progress **p);

/*
 * How far a run is: of its bytes, or of its films where these are no files. 0..1.
 */
double progress_share(const struct progress_run *r);

/*
 * The text of a line (for tests): "NAME  37 %  1234 frames/s  120/320 columns  ETA 0:12", `seconds`
 * after the start. In a run of several films share, rate and ETA are of them all: "NAME  37 %  3/24
 * films  1234 frames/s  ETA 1:02:03". At most size - 1 bytes: a long name is cut, then left out,
 * then the tail is cut. What is unknown is left out.
 */
void progress_format(char *text, int size, const char *title, const struct progress_state *s,
                     double seconds);

#ifdef __cplusplus
}
#endif
#endif
