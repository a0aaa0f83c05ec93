/* declared_length.h - how long a film is by what its container declares, before it is read. */
#ifndef BARCODE_CONTAINER_DECLARED_LENGTH_H
#define BARCODE_CONTAINER_DECLARED_LENGTH_H

#include <libavformat/avformat.h>

#include "media/film_length.h"

/*
 * Returns the length of video stream `s`, by the best evidence: the table of all frames, the
 * stream's own duration, a tag of the stream, the container's duration. `rate` is its frame rate,
 * 0/1 if unknown.
 */
struct film_length declared_length(const AVFormatContext *format, AVStream *s, AVRational rate);

/*
 * Returns the duration that an AVI declares, in microseconds, if it is longer than libavformat says
 * because the file is truncated; otherwise 0.
 */
int64_t declared_length_cut(const AVFormatContext *format, const AVStream *s);

#endif
