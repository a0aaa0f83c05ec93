/*
 * sound_decoder.h - decodes a stream of sound, and passes its samples on to a sound_maker
 * (film_sound.h) by sound_frames.h. One thread.
 */
#ifndef BARCODE_SOUND_SOUND_DECODER_H
#define BARCODE_SOUND_SOUND_DECODER_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>

#include "barcode/base/err.h"
#include "barcode/media/sound_job.h"

struct sound_decoder;

/*
 * Opens a decoder of stream `s`, stream of sound number `number` of the film `path`, for `job`.
 * NULL for `s`: the film has no sound, which is then silence. So is a stream that cannot be
 * decoded, and film_sound.decoder is empty. Sound from `most_us` on is dropped. `path` and `job`
 * are borrowed. Returns NULL if out of memory.
 */
struct sound_decoder *sound_decoder_open(const AVStream *s, int number, const char *path,
                                         int64_t most_us, struct sound_job *job, struct err *e);

/* Returns false if the stream cannot be decoded, or if there is none: no packet is needed. */
bool sound_decoder_works(const struct sound_decoder *d);

/*
 * Decodes a packet, whose pts is the player's time in microseconds or AV_NOPTS_VALUE; NULL: the
 * stream ends. A packet that cannot be decoded is counted. Returns false if out of memory, or if
 * the samples cannot be passed on.
 */
bool sound_decoder_put(struct sound_decoder *d, AVPacket *packet, struct err *e);

/* Ends the sound: fills job->sound, and sets job->done. */
bool sound_decoder_finish(struct sound_decoder *d, struct err *e);

/* Frees *d and sets it to NULL. Does nothing if *d is NULL. */
void sound_decoder_free(struct sound_decoder **d);

#endif
