/*
 * hdr_peak.h - how bright a film gets (light.h), by its first picture.
 */
#ifndef BARCODE_PROBE_HDR_PEAK_H
#define BARCODE_PROBE_HDR_PEAK_H

#include <stdbool.h>

#include "barcode/base/err.h"
#include "barcode/media/film.h"
#include "barcode/media/probe.h"

/* Finds PROBE_LIGHT of `film`, whose video stream is `selected`, as film_bars_probe does. A film
 * without a picture has none. */
bool film_light_probe(const struct film *film, int selected, struct probe_facts *facts,
                      struct err *e);

#endif
