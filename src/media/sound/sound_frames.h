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

/* Sets the rate, channels and layout of *s. */
void sound_frames_describe(struct film_sound *s, int rate, const AVChannelLayout *layout);

/* ---- samples of any format as interleaved 16-bit ones ---- */

/* Returns true if samples_convert knows the format. */
bool samples_known(enum AVSampleFormat format);

/*
 * Writes the samples of `frame` to out[nb_samples][channels]: rounded to the nearest value, and
 * limited to 16 bits. The format must be known.
 */
void samples_convert(const AVFrame *frame, int channels, int16_t *out);

/* Returns FFmpeg's mask of the frame's channels, or 0 if it does not know their places. */
uint64_t samples_mask(const AVChannelLayout *layout);

#endif
