/*
 * stream_select.h - chooses the video stream of a container that is the film.
 *
 * Video streams are numbered from 0 in the container's order, as in ffmpeg's "v:N". Cover pictures
 * and thumbnails have no number, unless the container has no other video.
 */
#ifndef BARCODE_CONTAINER_STREAM_SELECT_H
#define BARCODE_CONTAINER_STREAM_SELECT_H

#include <libavformat/avformat.h>

#include "barcode/base/err.h"
#include "barcode/media/film.h"

/*
 * Returns the index of the chosen stream. `requested` is its number, or SOURCE_STREAM_CHOICE: the
 * stream that can be decoded and has the most pixels a frame, among those marked as default if
 * there are any; of equal ones the first. Returns -1 with ERR_USAGE if that number does not exist,
 * with ERR_INPUT if the container has no film.
 */
int film_stream_choose(const AVFormatContext *format, int requested, const char *path,
                       struct err *e);

/* Fills film->video and film->videos from film->stream. */
void film_stream_count(const AVFormatContext *format, struct film *film);

/* With -v, logs a line for each video stream if there are several. */
void film_stream_log(AVFormatContext *format, const struct film *film);

#endif
