/*
 * reader.h - the reading thread, which is the caller's.
 */
#ifndef BARCODE_READER_READER_H
#define BARCODE_READER_READER_H

#include <stdbool.h>

#include "media/container/demux.h"
#include "media/gop/chunker.h"
#include "media/schedule/decode_pass.h"
#include "barcode/base/err.h"
#include "barcode/media/film.h"
#include "barcode/media/probe.h"

/*
 * Reads the film through, from where `r` stands, and queues its chunks; what cannot be cut into
 * runs it decodes too. Returns after the last run is queued; fills the counts of what was read.
 * True also when staging was stopped from elsewhere.
 */
bool film_read(struct decode_pass *s, struct demux *r, struct err *e);

/* ---- keyframe_reader.c: the same for --keyframes: key frames alone ---- */

/*
 * As film_read, with runs of one key frame each: those that serve columns (keyframe_chunks.h).
 * Where the container has an index only they are read, else the film is read through. Key frames
 * among staging's faults are passed over.
 */
bool film_keys_read(struct decode_pass *s, struct demux *r, struct err *e);

/*
 * PROBE_KEYS: how many key frames the film has. Uses the index, or reads on from where `r` stands,
 * its film's start; what a reading finds out about the length is said too. *facts is as it was when
 * it fails.
 */
bool film_keys_probe(struct demux *r, const struct film *film, struct probe_facts *facts,
                     struct err *e);

/* ---- length.c: what can be found out before staging ---- */

/* PROBE_LENGTH: reads on from where `r` stands, its film's start. *facts is as it was when it
 * fails. */
bool film_probe_length(struct demux *r, const struct film *film, struct probe_facts *facts,
                       struct err *e);

/* ---- sequential.c: one decoder over everything from `state` on, in the calling thread ---- */

bool sequential_decode(struct decode_pass *s, struct demux *r, struct chunker_state *state,
                       struct err *e);

#endif
