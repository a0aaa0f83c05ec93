/* reader.h - the reading thread, which is the caller's, and what it finds before it decodes. */
#ifndef BARCODE_READER_READER_H
#define BARCODE_READER_READER_H

#include <stdbool.h>

#include "media/container/demux.h"
#include "media/schedule/decode_pass.h"
#include "barcode/base/err.h"

/*
 * Reads the complete film from the position of `r`, and queues its chunks; decodes what cannot be
 * cut into chunks. Returns after the last chunk is queued, with the counts of what was read.
 * Returns true also if the pass was stopped by another thread.
 */
bool film_read(struct decode_pass *s, struct demux *r, struct err *e);

/* ---- keyframe_reader.c: for --keyframes ---- */

/*
 * Does the same with chunks of one key frame each, without bad ones: those that fill columns. With
 * an index only these are read, otherwise the complete film.
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

/* ---- frame_probe.c: facts that take decoding some frames ---- */

/*
 * Finds PROBE_BARS of `film`, whose video stream is `requested` (container_open_parts). Opens the file
 * again for each thread; `opened`, which may be NULL, is only inspected. If the film is not
 * seekable, or nothing can be decoded, no bars are found. Returns false on `e`: out of memory, or
 * interrupted.
 */
bool film_bars_probe(const struct film *film, int requested, const AVFormatContext *opened,
                     const struct probe_request *request, struct probe_facts *facts, struct err *e);

/* Finds PROBE_LIGHT of `film` in its first frame, likewise. A film without a frame has none. */
bool film_light_probe(const struct film *film, int requested, struct probe_facts *facts,
                      struct err *e);

#endif
