/* reader.h - the reading thread, which is the caller's. */
#ifndef BARCODE_READER_READER_H
#define BARCODE_READER_READER_H

#include <stdbool.h>

#include "media/container/demux.h"
#include "media/gop/chunker.h"
#include "media/schedule/decode_pass.h"
#include "barcode/base/err.h"
#include "media/film.h"
#include "media/probe.h"

/*
 * Reads the complete film from the position of `r`, and queues its chunks; decodes what cannot be
 * cut into chunks. Returns after the last chunk is queued, with the counts of what was read.
 * Returns true also if the pass was stopped by another thread.
 */
bool film_read(struct decode_pass *s, struct demux *r, struct err *e);

/* ---- keyframe_reader.c: for --keyframes ---- */

/*
 * Does the same with chunks of one key frame each: those that fill columns (keyframe_chunks.h).
 * With an index only these are read, otherwise the complete film. Skips the bad key frames of the
 * pass.
 */
bool film_keys_read(struct decode_pass *s, struct demux *r, struct err *e);

/*
 * Finds the `want` (PROBE_KEYS, PROBE_LENGTH, PROBE_END) of the film: by the index, or by reading
 * on from the position of `r`, the start of the film. A failure leaves *facts unchanged.
 */
bool film_keys_probe(struct demux *r, const struct film *film, unsigned want,
                     struct probe_facts *facts, struct err *e);

/* ---- sequential.c: one decoder over everything from `state` on, in the calling thread ---- */

bool sequential_decode(struct decode_pass *s, struct demux *r, struct chunker_state *state,
                       struct err *e);

#endif
