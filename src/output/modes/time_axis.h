/*
 * time_axis.h - the times of a film along its columns: edges, the sound of a column, ticks and
 * labels, and --smooth.
 *
 * Column i is displayed from edge[i] to edge[i + 1]. Columns of one frame share its duration
 * evenly, so edges rise from frame to frame. A time that goes back counts as the latest time so
 * far. The last frame has the mean duration of the others, but does not exceed the film's length if
 * that is known. Pure; any thread.
 */
#ifndef BARCODE_MODES_TIME_AXIS_H
#define BARCODE_MODES_TIME_AXIS_H

#include "base/text.h"
#include "output/report.h"

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

/* Returns edge[count + 1], in microseconds, for the report's columns (1 or more). The caller frees
 * the array with free(). Returns NULL if out of memory. */
int64_t *axis_edges(const struct report *r, struct err *e);

/*
 * Returns true if every column of the picture is as wide as its time: they are shots (by_shot of
 * report.h), without --shot-width equal. Then time passes evenly along the whole axis.
 */
bool axis_by_time(const struct report *r);

/* Returns the number of equally wide parts within which time passes evenly: 1 if axis_by_time,
 * otherwise the number of columns. */
uint64_t axis_parts(const struct report *r);

/*
 * Returns edge[width + 1] for `width` (>= 1) pixels: pixel x covers [x * parts / width, (x + 1) *
 * parts / width) of axis_parts. Otherwise as axis_edges. With `width` = axis_parts, these are the
 * edges of the parts.
 */
int64_t *axis_pixel_edges(const struct report *r, uint64_t width, struct err *e);

/*
 * Returns column[width], for `width` (>= 1) pixels: the column under the middle of each. If
 * axis_by_time, it is the one that is on the screen at the middle of the pixel's time. The caller
 * frees the array with free(). Returns NULL if out of memory.
 */
uint32_t *axis_pixel_columns(const struct report *r, uint64_t width, struct err *e);

/* Returns the position of a time along axis_parts with these edges, 0..1. Times outside are at the
 * ends. */
double axis_place(const int64_t *edge, uint64_t parts, int64_t us);

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

/* The sound of each column, from its frame's time to the next column's. */
struct column_sound {
    const struct film_sound *sound; /* NULL: the film has none, or none was read */
    int64_t *edge;
};

/* Returns the film's sound, or NULL if it has none or none was read. Any thread. */
const struct film_sound *report_sound(const struct report *r);

/* Prepares for the columns of a report, which must outlive *c. Returns false if out of memory. */
bool column_sound_open(struct column_sound *c, const struct report *r, struct err *e);

/* Writes the sound of column i of the report. Returns false if the film has none. Any thread. */
bool column_sound_at(const struct column_sound *c, uint64_t i, struct sound_row *row);

void column_sound_close(struct column_sound *c);

/*
 * --smooth: smooths a line of columns' pixels along time in linear light.
 *
 * Column i is displayed for d_i milliseconds, at least 1, and its middle is at m_i. Both come from
 * the edges, each rounded down to a millisecond; m_i is rounded down, too. With S =
 * --smooth in milliseconds a channel of column i becomes
 *
 *     level((2 N + D) / (2 D))
 *     N = sum of d_j (S - |m_j - m_i|) linear(v_j)
 *     D = sum of d_j (S - |m_j - m_i|)
 *
 * over the columns j with |m_j - m_i| < S. This is a triangular filter, 2 S wide at its base and S
 * at half its height, weighted by duration. It works in linear light (colour.h) and rounds half up
 * and then to the nearest level. At the ends of the film the triangle is truncated. A line of one
 * colour does not change.
 *
 * Every line of a strip is smoothed before it is fitted to the width of the image: the single line
 * of a flat strip, or each row of other strips. So the bands of a palette blend along time. The
 * columns and the JSON do not change.
 *
 * S is at most one hour, so N < 2 S^2 2^16 < 2^61; a column longer than an hour counts as one hour.
 * Partial sums wrap modulo 2^64 without affecting the result.
 */
struct smooth;

/*
 * Opens a filter for lines of `count` (>= 1) columns with edge[count + 1] in microseconds.
 * smooth_us is 1000..STRIP_SMOOTH_MOST_US, in whole milliseconds. The caller frees it with free().
 * Returns NULL if out of memory.
 */
struct smooth *smooth_open(const int64_t *edge, uint64_t count, int64_t smooth_us, struct err *e);

/* Smooths line[count][3] in place, in one pass. One thread per filter. */
void smooth_line(struct smooth *s, uint8_t *line);

/* Smooths every `stride`-th value, `count` of them, in place as it does a channel in linear light.
 * One thread per filter. */
void smooth_values(struct smooth *s, uint16_t *value, size_t stride);

#endif
