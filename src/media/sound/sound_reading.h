/*
 * sound_reading.h - reads a film's sound: packets of the film's reader, decoded by threads that
 * wait for nothing but their input. After an error they take no more, and the reader goes on
 * without the sound.
 */
#ifndef BARCODE_SOUND_SOUND_READING_H
#define BARCODE_SOUND_SOUND_READING_H

#include <libavcodec/avcodec.h>
#include <stdbool.h>
#include <stdint.h>

#include "media/container/demux.h"
#include "media/source.h"

struct sound_reading;

/*
 * Begins to read film->sound_stream beside the pictures: demux_next passes its packets on. Call it
 * after demux_open, before the first packet. All arguments are borrowed until sound_reading_close.
 * Returns NULL if out of memory.
 */
struct sound_reading *sound_reading_open(struct demux *r, const struct film *film,
                                         struct sound_job *job, struct err *e);

/* Reads on for the sound alone. Returns true at the film's end; false if interrupted, or on `e`. */
bool sound_reading_rest(struct sound_reading *s, struct err *e);

/* Closes the decoder as sound_decoder_close does. */
bool sound_reading_close(struct sound_reading **s, bool whole, struct err *e);

/*
 * ---- the clock, exposed for its test ----
 *
 * Converts the stored times of a film's sound to the player's, on the axis of its pictures
 * (timeline.h): with the same origin, and over the same jumps of the stored times. Packets come in
 * the order of the file. Where stored times jump, the pictures decide by how much later times are
 * shifted: they and the sound end and begin at slightly different times there. Pure; one thread.
 */
struct sound_clock {
    int64_t origin_us; /* the stored time that is 0 for a player; TIME_NONE: unknown */
    bool wraps;
    int64_t frame_us; /* of the pictures */
    int64_t most_us;  /* a later time is wrong: it counts as none. INT64_MAX, or set by the user */
    struct sound_track {
        int64_t shift_us; /* added to bridge jumps so far */
        int64_t end_us;   /* where the last packet ends, the player's */
        bool begun;
    } pictures, sound;
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

/* ---- sound_decoder.c ---- */

struct sound_decoder;

/*
 * Starts to decode stream `s`, stream of sound number `number` of the film `path`, for `job`; all
 * are borrowed. NULL for `s`: the film has no sound, which is then silence. So is a stream that
 * cannot be decoded, and film_sound.decoder is empty. Sound from `most_us` on is dropped. Returns
 * NULL if out of memory.
 */
struct sound_decoder *sound_decoder_open(const AVStream *s, int number, const char *path,
                                         int64_t most_us, struct sound_job *job, struct err *e);

/* Returns false if the stream cannot be decoded, or if there is none: no packet is needed. */
bool sound_decoder_works(const struct sound_decoder *d);

/*
 * Queues a packet, whose pts is the player's time in microseconds or AV_NOPTS_VALUE. Moves its
 * reference. May wait for the threads. A packet that cannot be decoded is counted; after an error
 * packets are dropped. Returns false if out of memory.
 */
bool sound_decoder_put(struct sound_decoder *d, AVPacket *packet, struct err *e);

/*
 * Frees *d and sets it to NULL. With `whole` the sound is complete: waits until the packets are
 * decoded, fills job->sound and sets job->done. Without it they are dropped. Returns false on an
 * error of the threads. Does nothing if *d is NULL.
 */
bool sound_decoder_close(struct sound_decoder **d, bool whole, struct err *e);

/* ---- samples of any format as interleaved 16-bit ones, exposed for their test ---- */

/* Returns true if samples_convert knows the format. */
bool samples_known(enum AVSampleFormat format);

/* Writes the samples to out[nb_samples][channels], rounded to the nearest and limited value. */
void samples_convert(const AVFrame *frame, int channels, int16_t *out);

/* Returns FFmpeg's mask of the layout's channels, or 0 if it does not know their places. */
uint64_t samples_mask(const AVChannelLayout *layout);

#endif
