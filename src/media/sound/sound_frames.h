/*
 * sound_frames.h - passes decoded frames on to a sound_maker (film_sound.h), on a thread of its
 * own: analysing sound takes about as long as decoding it.
 *
 * Frames come in lanes, each of one thread. Segment i of the sound comes in lane i % lanes.
 */
#ifndef BARCODE_SOUND_SOUND_FRAMES_H
#define BARCODE_SOUND_SOUND_FRAMES_H

#include <libavutil/frame.h>
#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "sound/film_sound.h"

enum { SOUND_LANES_MOST = 4 };

struct sound_frames;

/*
 * Starts the thread. A lane has room for `ahead` frames that others are waited for. Sound from
 * `most_us` on is dropped. `maker` is borrowed until the end, and used by the thread alone. Returns
 * NULL if out of memory.
 */
struct sound_frames *sound_frames_open(struct sound_maker *maker, int lanes, size_t ahead,
                                       int64_t most_us, struct err *e);

/* Returns true for a frame of a format, rate and number of channels that can be passed on. */
bool sound_frames_usable(const AVFrame *frame);

/*
 * Queues a usable frame, whose pts is the player's time in microseconds or AV_NOPTS_VALUE. Moves
 * its reference. Returns false if out of memory; and without an error after one of the thread.
 */
bool sound_frames_put(struct sound_frames *s, int lane, AVFrame *frame, struct err *e);

/* Ends a segment: the next one is in the next lane. Returns false as sound_frames_put does. */
bool sound_frames_next(struct sound_frames *s, int lane, struct err *e);

/* Ends a lane, in which nothing comes any more. */
void sound_frames_end(struct sound_frames *s, int lane);

/*
 * Frees *s, after all lanes have ended; sets *s to NULL. With `about` waits until all frames are
 * passed on, and sets its rate, channels and layout to those of the first one, if there is one.
 * Without it drops what is queued. Returns false on the thread's error. Does nothing if *s is NULL.
 */
bool sound_frames_close(struct sound_frames **s, struct film_sound *about, struct err *e);

#endif
