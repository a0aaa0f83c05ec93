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
#include "media/film.h"

/* Returns true if the container has at most cover pictures. */
bool film_has_no_video(const AVFormatContext *format);

/*
 * Returns the index of the chosen stream. `requested` is its number, or SOURCE_STREAM_CHOICE: the
 * stream that can be decoded and has the most pixels a frame, among those marked as default if
 * there are any; of equal ones the first. Returns -1 with ERR_USAGE if that number does not exist,
 * with ERR_INPUT if the container has no film.
 */
int film_stream_choose(const AVFormatContext *format, int requested, const char *path,
                       struct err *e);

/*
 * Returns the index of the stream of sound that belongs to video stream `video` (-1: no video), and
 * sets *number to its number among the streams of sound, from 0. `requested` is that number, or
 * SOURCE_STREAM_CHOICE: of those of the same program, one that can be decoded, is no description
 * for the blind or deaf and no comment, is marked as default, and has the most channels; of equal
 * ones the first. Returns -1 if there is no sound; with ERR_USAGE if there is, but not that number.
 */
int film_sound_choose(const AVFormatContext *format, int video, int requested, int *number,
                      const char *path, struct err *e);

/* Fills film->video and film->videos from film->stream. */
void film_stream_count(const AVFormatContext *format, struct film *film);

/* With -v, logs a line for each video stream if there are several. */
void film_stream_log(AVFormatContext *format, const struct film *film);

#endif
