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

#include "media/container/demux.h"
#include "barcode/base/err.h"
#include "media/film.h"
#include "sound_job.h"

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

#endif
