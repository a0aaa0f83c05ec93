/*
 * time_axis.h - maps the times of a film to its columns.
 *
 * Column i is displayed from edge[i] to edge[i + 1]. Columns of one frame share its duration
 * evenly, so edges rise from frame to frame. A time that goes back counts as the latest time so
 * far. The last frame has the mean duration of the others, but does not exceed the film's length if
 * that is known. Pure; any thread.
 */
#ifndef BARCODE_MODES_TIME_AXIS_H
#define BARCODE_MODES_TIME_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "barcode/engine/column.h"

enum { AXIS_TICKS_MOST = 64, AXIS_LABEL = TEXT_CLOCK };

struct axis_tick {
    double place;           /* position along the columns, 0..1 */
    char label[AXIS_LABEL]; /* "1:05", "0:00.2"; with hours "0:30", "2 h", or "1:00:10" */
};

struct axis {
    struct axis_tick tick[AXIS_TICKS_MOST];
    size_t ticks;
    char end[AXIS_LABEL]; /* the time at the right end, "1:34" or "2:05 h"; "" without ticks */
};

/*
 * Returns edge[count + 1], in microseconds, for `count` (>= 1) columns. end_us is when the
 * film ends, INT64_MAX if unknown. The caller frees the array with free(). Returns NULL if out of
 * memory.
 */
int64_t *axis_edges(const struct columns *columns, uint64_t count, int64_t end_us);

/*
 * Returns edge[width + 1] for `width` (>= 1) pixels: pixel x covers [x * count / width, (x + 1) *
 * count / width) of the columns, and time passes evenly within a column. Otherwise as axis_edges.
 */
int64_t *axis_pixel_edges(const struct columns *columns, uint64_t count, int64_t end_us,
                          uint64_t width);

/*
 * Returns ticks at whole multiples of a step, at most `most` (1..AXIS_TICKS_MOST). The step is the
 * smallest that is sufficient: 0.1, 0.2, 0.5 s, 1, 2, 5, 10, 15, 30 s and min, 1, 2, 3, 6, 12, 24
 * h, then multiples of 24 h. Labels are times of the film. They have hours if the last tick has,
 * and then no seconds if the step is a minute or more. They have tenths if the step is below a
 * second. `end` is rounded to the last digit that the labels have.
 */
struct axis axis_make(const int64_t *edge, uint64_t count, int most);

/* Writes a duration for display: "45 s", "1:30 min", "2:05:10 h". */
void axis_length(int64_t us, char *out, size_t size);

#endif
