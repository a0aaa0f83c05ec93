/*
 * parts_input.h - a film in several files (film_id.h) as one input of libavformat. Images and
 * films that have timestamps are read by the demuxer "concat": each part begins where the last one
 * ends. Program streams of MPEG and raw streams may be cut anywhere, so their bytes are joined.
 */
#ifndef BARCODE_CONTAINER_PARTS_INPUT_H
#define BARCODE_CONTAINER_PARTS_INPUT_H

#include <libavformat/avformat.h>

#include "barcode/base/err.h"
#include "media/film.h"

/*
 * Sets film->list, which the caller frees, from film->path and film->parts. Opens each part that is
 * no image, to find its length, with its video stream chosen by `requested` (container_open).
 * Sets film->length.duration_us to the end of the last part, or to -1 if that is unknown, and its
 * source. Returns false with ERR_INPUT if a part cannot be opened, or does not continue the first
 * one.
 */
bool parts_input_describe(struct film *film, int requested, struct err *e);

/* Returns true if the bytes of the parts are joined: film->list is empty. */
bool parts_input_is_bytes(const struct film *film);

/*
 * Calls avformat_open_input for a context whose pb reads film->list, or the joined bytes. Returns
 * its result.
 */
int parts_input_open(const struct film *film, AVFormatContext **format);

#endif
