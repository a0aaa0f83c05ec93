/*
 * gaps.h - places of a film where pictures vanished without a packet, and how many must have stood there.
 *
 * The reader knows in decoding order that something is gone; what is gone shows in display order, as a gap in time between
 * two pictures that a hole lies between. Without a hole a gap is none: films of variable rate have them.
 * Pure; one thread; copy freely.
 */
#ifndef BARCODE_GOP_GAPS_H
#define BARCODE_GOP_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HOLES_KEPT = 64 };       /* the latest; GOPs of more holes than that have no gaps to speak of */

struct holes {
    uint64_t after[HOLES_KEPT]; /* serial of the first picture after each */
    uint64_t noted;
    int64_t latest_us;          /* holes_reached's */
};

/* There is a hole right before picture `serial`, in decoding order. */
void holes_note(struct holes *h, uint64_t serial);

/*
 * Pictures `a` and `b` (serials) are displayed one right after the other: may a hole's pictures have stood between them?
 * `reordered`: the codec decodes pictures in another order than it shows them.
 */
bool holes_between(const struct holes *h, uint64_t a, uint64_t b, bool reordered);

/* True if there is one between pictures `a` and `b` of the file, a < b, or right before `a`. */
bool holes_inside(const struct holes *h, uint64_t a, uint64_t b);

/*
 * A picture is displayed at film time `time_us`: the latest such time so far. What is missing is missed from there on, for behind
 * a hole demuxers guess at times, and a picture may seem to come back from where others are missed already.
 */
int64_t holes_reached(struct holes *h, int64_t time_us);

/*
 * How many frames of `frame_us` are missing between frames at film times from_us < to_us; 0 for less than one and a half
 * frames, and for more than an hour, which is a jump of the clock.
 */
uint64_t holes_frames(int64_t from_us, int64_t to_us, int64_t frame_us);

/* The time of missing frame `i` of `count`, from 1; i = count + 1 gives to_us. */
int64_t holes_time(int64_t from_us, int64_t to_us, uint64_t i, uint64_t count);

#ifdef __cplusplus
}
#endif
#endif
