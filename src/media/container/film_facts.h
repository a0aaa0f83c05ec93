/*
 * film_facts.h - what is known of a film before it is decoded: which streams are the film, and what
 * its container and its first key frame declare.
 *
 * Video streams are numbered from 0 in the container's order, as in ffmpeg's "v:N". Cover pictures
 * and thumbnails have no number, unless the container has no other video.
 */
#ifndef BARCODE_CONTAINER_FILM_FACTS_H
#define BARCODE_CONTAINER_FILM_FACTS_H

#include <libavformat/avformat.h>
#include <libavutil/mastering_display_metadata.h>

#include "barcode/base/err.h"
#include "media/film.h"
#include "media/ffmpeg/colour_tags.h"

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

/* With -v, logs a line for each video stream if there are several. */
void film_stream_log(AVFormatContext *format, const struct film *film);

/*
 * Fills what `f`, which has its path, does not have yet, from stream `s`. `tags` are its colour
 * tags from before it was probed. Call it before the first packet is read: the orientation is that
 * of the first key frame (an SEI message of H.264 or HEVC, EXIF of images), to which it reads
 * ahead, else that of the container, as in the ffmpeg program. Returns false on `e`: interrupted,
 * or out of memory.
 */
bool film_facts_read(AVFormatContext *format, AVStream *s, struct colour_tags tags, struct film *f,
                     struct err *e);

/*
 * Returns the duration that an AVI declares, in microseconds, if it is longer than libavformat says
 * because the file is truncated; otherwise 0.
 */
int64_t film_declared_uncut(const AVFormatContext *format, const AVStream *s);

/* Fills peak and dolby_vision from the container's metadata. */
void film_light_of_stream(const AVStream *s, struct film *f);

/*
 * Returns MaxCLL, or else the mastering display's peak; 0 if unknown. Both arguments may be NULL.
 */
int film_light_peak(const AVContentLightMetadata *content,
                    const AVMasteringDisplayMetadata *display);

#endif
