/*
 * crop_detect.h - samples key frames spread over a film to find black bars (crop.h).
 */
#ifndef BARCODE_PROBE_CROP_DETECT_H
#define BARCODE_PROBE_CROP_DETECT_H

#include "barcode/media/film.h"
#include "barcode/media/probe.h"

struct AVFormatContext;

/*
 * Finds PROBE_BARS of `film`, whose video stream is `selected` (container_open_stream): opens the
 * file anew, so that nothing that reads it is disturbed. `opened` is the film as it was opened
 * already, which is looked at alone; NULL: it was not. Nothing is found where no place can be
 * sought, or where nothing decodes; that is no failure. False: memory, a thread, an interruption.
 */
bool film_bars_probe(const struct film *film, int selected, const struct AVFormatContext *opened,
                     const struct probe_request *request, struct probe_facts *facts, struct err *e);

#endif
