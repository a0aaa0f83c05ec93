/* frame_probe.h - facts of a film that take decoding some of its frames. */
#ifndef BARCODE_READER_FRAME_PROBE_H
#define BARCODE_READER_FRAME_PROBE_H

#include "barcode/base/err.h"
#include "media/film.h"
#include "media/probe.h"

struct AVFormatContext;

/*
 * Finds PROBE_BARS of `film`, whose video stream is `requested` (container_open). Opens the file
 * again for each thread, so that other readers are not disturbed. `opened` is the film as it was
 * opened already, which is only inspected, or NULL. If the film is not seekable, or nothing can be
 * decoded, no bars are found, and the function succeeds. Returns false if out of memory, if a
 * thread cannot start, or if interrupted.
 */
bool film_bars_probe(const struct film *film, int requested, const struct AVFormatContext *opened,
                     const struct probe_request *request, struct probe_facts *facts, struct err *e);

/*
 * Finds PROBE_LIGHT of `film` in its first frame, likewise. A film without a frame has none.
 */
bool film_light_probe(const struct film *film, int requested, struct probe_facts *facts,
                      struct err *e);

#endif
