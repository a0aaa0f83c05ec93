/*
 * sound_reading.h - reads a film's sound: packets come from the film's reader, and threads decode
 * them beside the pictures (sound_decoder.h).
 *
 * They wait for nothing but their input, so the reader never waits for long. After an error they
 * take no more, and the reader goes on without the sound.
 */
#ifndef BARCODE_SOUND_SOUND_READING_H
#define BARCODE_SOUND_SOUND_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "media/container/demux.h"
#include "barcode/base/err.h"
#include "media/film.h"
#include "media/source.h"

struct sound_reading;

/*
 * Begins to read film->sound_stream beside the pictures: demux_next passes its packets on. Call it
 * after demux_open, before the first packet. All arguments are borrowed until sound_reading_close.
 * Returns NULL if out of memory.
 */
struct sound_reading *sound_reading_open(struct demux *r, const struct film *film,
                                         struct sound_job *job, struct err *e);

/*
 * Reads the rest of the film for its sound, after the last picture that is needed. Returns true if
 * the film was read to its end; false if interrupted, or if there is an error.
 */
bool sound_reading_rest(struct sound_reading *s, struct err *e);

/*
 * Waits until the queued packets are decoded, and frees *s; sets *s to NULL. With `whole` the sound
 * is complete, and the job's result is filled; else the packets are dropped. Returns false on the
 * thread's error. Does nothing if *s is NULL.
 */
bool sound_reading_close(struct sound_reading **s, bool whole, struct err *e);

/*
 * ---- the clock, exposed for its test ----
 *
 * It converts the stored times of a film's sound to the player's, on the axis of its pictures
 * (timeline.h): with the same origin, and over the same jumps of the stored times.
 *
 * Packets come in the order of the file. Where stored times jump, as in a concatenated recording,
 * the pictures decide by how much later times are shifted: they and the sound end and begin at
 * slightly different times there. Pure; one thread.
 */

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
