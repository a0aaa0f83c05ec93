/*
 * stream_select.h - which of a container's video streams is the film.
 *
 * They are numbered from 0 in the container's order, as in ffmpeg's "v:N". Cover pictures and
 * thumbnails have no number, unless there is nothing else.
 */
#ifndef BARCODE_CONTAINER_STREAM_SELECT_H
#define BARCODE_CONTAINER_STREAM_SELECT_H

#include <libavformat/avformat.h>

#include "barcode/base/err.h"
#include "barcode/media/film.h"

/*
 * Index of the stream to take. `selected` is its number, or SOURCE_STREAM_CHOICE: of those that can
 * be decoded the one with the most pixels a picture, among those marked as default where any is; of
 * equals the first. -1: ERR_USAGE for a number that is not there, ERR_INPUT for a container without
 * a film.
 */
int film_stream_choose(const AVFormatContext *format, int selected, const char *path,
                       struct err *e);

/* film->video and film->videos, by film->stream. */
void film_stream_count(const AVFormatContext *format, struct film *film);

/* With -v, logs a line for each of several streams. */
void film_stream_log(AVFormatContext *format, const struct film *film);

#endif
