/*
 * sound_clock.h - converts the stored times of a film's sound to the player's, on the axis of its
 * pictures (timeline.h): with the same origin, and over the same jumps of the stored times.
 *
 * Packets come in the order of the file. Where stored times jump, as in a concatenated recording,
 * the pictures decide by how much later times are shifted: they and the sound end and begin at
 * slightly different times there. Pure; one thread.
 */
#ifndef BARCODE_SOUND_SOUND_CLOCK_H
#define BARCODE_SOUND_SOUND_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The time of one stream. */
struct sound_track {
    int64_t shift_us; /* added to bridge jumps so far */
    int64_t end_us;   /* where the last packet ends, the player's */
    bool begun;
};

struct sound_clock {
    int64_t origin_us; /* the stored time that is 0 for a player; TIME_NONE: unknown */
    bool wraps;
    int64_t frame_us; /* of the pictures */
    int64_t most_us;  /* a later time is wrong: it counts as none. INT64_MAX, or set by the user */
    struct sound_track pictures, sound;
};

/*
 * Returns the clock of a film whose container starts at `origin_us`, and its pictures at
 * `pictures_us` (stored times; TIME_NONE: unknown). `wraps`, `frame_us`: as in struct film_clock.
 */
struct sound_clock sound_clock_begin(int64_t origin_us, int64_t pictures_us, bool wraps,
                                     int64_t frame_us);

/* Records the decoding time of a packet of the pictures; TIME_NONE: it has none. */
void sound_clock_picture(struct sound_clock *c, int64_t stored_us);

/*
 * Returns the player's time of a packet of sound that is stored at `stored_us` and lasts for
 * `lasts_us`; it may be before 0. TIME_NONE: it has no usable time, and follows the last packet.
 */
int64_t sound_clock_at(struct sound_clock *c, int64_t stored_us, int64_t lasts_us);

#endif
