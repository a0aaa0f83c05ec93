/*
 * sound_frames.h - passes decoded frames on to a sound_maker (film_sound.h), on a thread of its
 * own: analysing sound takes about as long as decoding it.
 */
#ifndef BARCODE_SOUND_SOUND_FRAMES_H
#define BARCODE_SOUND_SOUND_FRAMES_H

#include <libavutil/frame.h>
#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/sound/film_sound.h"

struct sound_frames;

/*
 * Starts the thread. Sound from `most_us` on is dropped. `maker` is borrowed until the end, and
 * used by the thread alone. Returns NULL if out of memory.
 */
struct sound_frames *sound_frames_open(struct sound_maker *maker, int64_t most_us, struct err *e);

/* Returns true for a frame of a format, rate and number of channels that can be passed on. */
bool sound_frames_usable(const AVFrame *frame);

/*
 * Queues a usable frame, whose pts is the player's time in microseconds or AV_NOPTS_VALUE. Moves
 * its reference. Returns false on the thread's error.
 */
bool sound_frames_put(struct sound_frames *s, AVFrame *frame, struct err *e);

/*
 * Waits until all frames are passed on, and frees *s; sets *s to NULL. Returns false on the
 * thread's error. Without `whole` drops what is queued. Does nothing if *s is NULL.
 */
bool sound_frames_close(struct sound_frames **s, bool whole, struct err *e);

#endif
