/*
 * timecode.h - SMPTE timecode (ST 12-1): hours, minutes, seconds and frames.
 *
 * Frames are counted by the rate, rounded: 24 of 23.976. At 29.97 and 59.94 frames per second such
 * a clock is 3.6 s an hour behind. Drop frame leaves out the first 2 (or 4) numbers of each minute,
 * except of each tenth one.
 */
#ifndef BARCODE_FORMATS_TIMECODE_H
#define BARCODE_FORMATS_TIMECODE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "media/film.h"

struct timecode {
    double rate;     /* frames per second */
    int base;        /* the rate, rounded: 1 or more */
    int drop;        /* numbers that a minute leaves out; 0: no drop frame */
    int64_t zero_us; /* when frame 0 begins */
};

enum { TIMECODE_TEXT = 32 };

/*
 * Returns the timecode of frames from time 0. A rate such as 29.97 or 19001/317, as Matroska's
 * nanoseconds give it, counts as N * 1000 / 1001. `drop` has an effect at 29.97 and 59.94 only.
 */
struct timecode timecode_of(double rate, bool drop);

/* Returns that of a film, from its first frame; by 25 frames per second if its rate is unknown. */
struct timecode timecode_of_film(const struct film *film, bool drop);

/* Returns the number of the frame that begins nearest to a time; 0 before frame 0. */
int64_t timecode_frame(const struct timecode *t, int64_t time_us);

/* Writes "01:02:03:04", with drop frame "01:02:03;04". After 24 hours it begins again. */
void timecode_text(const struct timecode *t, int64_t frame, char text[TIMECODE_TEXT]);

/* Writes an event of a CMX 3600 edit list, a cut: where the source and the record begin and end. */
void timecode_put_event(FILE *f, const struct timecode *t, size_t number, const char *reel,
                        const int64_t frame[4]);

#endif
