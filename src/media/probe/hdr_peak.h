/* hdr_peak.h - the peak brightness of a film (light.h), from its first frame. */
#ifndef BARCODE_PROBE_HDR_PEAK_H
#define BARCODE_PROBE_HDR_PEAK_H

#include <stdbool.h>

#include "barcode/base/err.h"
#include "media/film.h"
#include "media/probe.h"

/*
 * Finds PROBE_LIGHT of `film`, whose video stream is `requested`, like film_bars_probe. A film
 * without a frame has none.
 */
bool film_light_probe(const struct film *film, int requested, struct probe_facts *facts,
                      struct err *e);

#endif
