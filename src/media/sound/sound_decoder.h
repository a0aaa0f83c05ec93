/*
 * sound_decoder.h - decodes a stream of sound on threads of its own, and passes its samples on to a
 * sound_maker (film_sound.h).
 *
 *   sound_decoder_put --segments--> [queue] --> decoder --frames--> [queue] --> sound_maker
 *                               +-> [queue] --> decoder --frames--> [queue] -+
 *
 * The packets are cut into segments. Where the codec allows it (is_apart), each segment has a
 * decoder of its own, which gets the packets before it first, and some are decoded at the same
 * time: NVDEC decodes pictures faster than a thread sound. So what is decoded depends on no thread.
 */
#ifndef BARCODE_SOUND_SOUND_DECODER_H
#define BARCODE_SOUND_SOUND_DECODER_H

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <stdbool.h>

#include "barcode/base/err.h"
#include "media/source.h"

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

#endif
