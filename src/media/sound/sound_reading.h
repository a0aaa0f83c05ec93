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
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>

#include "media/container/demux.h"
#include "barcode/base/err.h"
#include "media/film.h"
#include "media/source.h"
#include "sound/film_sound.h"

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

/*
 * ---- decodes a stream of sound on threads of its own, and passes its samples on to a
 * sound_maker (film_sound.h).
 *
 *   sound_decoder_put --segments--> [queue] --> decoder --frames--> [queue] --> sound_maker
 *                               +-> [queue] --> decoder --frames--> [queue] -+
 *
 * The packets are cut into segments. Where the codec allows it (is_apart), each segment has a
 * decoder of its own, which gets the packets before it first, and some are decoded at the same
 * time: NVDEC decodes pictures faster than a thread sound. So what is decoded depends on no thread.
 */

struct sound_decoder;

/*
 * Starts to decode stream `s`, stream of sound number `number` of the film `path`, for `job`. NULL
 * for `s`: the film has no sound, which is then silence. So is a stream that cannot be decoded, and
 * film_sound.decoder is empty. Sound from `most_us` on is dropped. `s`, `path` and `job` are
 * borrowed. Returns NULL if out of memory.
 */
struct sound_decoder *sound_decoder_open(const AVStream *s, int number, const char *path,
                                         int64_t most_us, struct sound_job *job, struct err *e);

/* Returns false if the stream cannot be decoded, or if there is none: no packet is needed. */
bool sound_decoder_works(const struct sound_decoder *d);

/*
 * Queues a packet, whose pts is the player's time in microseconds or AV_NOPTS_VALUE. Moves its
 * reference. May wait for the threads, which wait for nothing but packets. One that cannot be
 * decoded is counted; after an error packets are dropped. The caller's thread. Returns false if out
 * of memory.
 */
bool sound_decoder_put(struct sound_decoder *d, AVPacket *packet, struct err *e);

/*
 * Frees *d and sets it to NULL. With `whole` the sound is complete: waits until the packets are
 * decoded, fills job->sound and sets job->done. Without it they are dropped. Returns false on an
 * error of the threads. Does nothing if *d is NULL.
 */
bool sound_decoder_close(struct sound_decoder **d, bool whole, struct err *e);

/*
 * ---- passes decoded frames on to a sound_maker (film_sound.h), on a thread of its
 * own: analysing sound takes about as long as decoding it.
 *
 * Frames come in lanes, each of one thread. Segment i of the sound comes in lane i % lanes.
 */

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
