/*
 * time_axis.h - where a film's times lie along its columns.
 *
 * Column i is on the screen from edge[i] to edge[i + 1]. Columns that show one frame share its time
 * evenly, so edges rise from frame to frame; a time that falls back counts as the latest so far.
 * The last frame lasts as long as the others do in the mean, and not beyond the film's length where
 * that is known. Pure; any thread.
 */
#ifndef BARCODE_MODES_TIME_AXIS_H
#define BARCODE_MODES_TIME_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/engine/column.h"

enum { AXIS_TICKS_MOST = 64, AXIS_LABEL = 24 };

struct axis_tick {
    double place;           /* 0..1 of the columns */
    char label[AXIS_LABEL]; /* "1:05", "0:10:00", "0:00.2" */
};

struct axis {
    struct axis_tick tick[AXIS_TICKS_MOST];
    size_t ticks;
};

/* edge[count + 1], in microseconds, of 1 or more columns; the caller's, free(). film_us: the film's
 * length, -1: unknown. NULL: no memory. */
int64_t *axis_edges(const struct columns *columns, uint64_t count, int64_t film_us);

/*
 * Ticks at whole multiples of a step: the smallest of 0.1, 0.2 and 0.5 s, 1, 2, 5, 10, 15 and 30 s
 * and min, 1, 2, 3, 6, 12 and 24 h that gives `most` (1..AXIS_TICKS_MOST) ticks at the most;
 * beyond, that times a whole number. Labels are times of the film, with hours where the last tick
 * has any, with tenths where the step is below a second.
 */
struct axis axis_make(const int64_t *edge, uint64_t count, int most);

/* A length of time as people write it: "45 s", "1:30 min", "2:05:10 h". */
void axis_length(int64_t us, char *out, size_t size);

#endif
