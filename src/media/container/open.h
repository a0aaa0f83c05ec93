/*
 * open.h - opens a film: container, video stream, and what its headers say of it.
 */
#ifndef BARCODE_CONTAINER_OPEN_H
#define BARCODE_CONTAINER_OPEN_H

#include <libavformat/avformat.h>

#include "barcode/base/err.h"
#include "barcode/media/film.h"

/*
 * Opens `path`, finds the video stream, fills `film` (film->path is a copy, the caller's). Also
 * when it fails, *format is the caller's, container_close.
 */
bool container_open(const char *path, AVFormatContext **format, struct film *film, struct err *e);

/* The same with this one of its video streams (film_stream_choose). */
bool container_open_stream(const char *path, int selected, AVFormatContext **format,
                           struct film *film, struct err *e);

/*
 * Opens once more the film that `film` tells of, with its stream found out as `selected` said
 * before (container_open_stream). ERR_INPUT also where that is another one now. *format as above.
 */
bool container_reopen(const struct film *film, int selected, AVFormatContext **format,
                      struct err *e);

/*
 * Opens once more a film that `opened` (lent) is of, in a container whose head names all its
 * streams: what was found out of them is copied, and not found out again, which takes as long as
 * decoding some pictures. *format as above.
 */
bool container_open_again(const char *path, const AVFormatContext *opened, AVFormatContext **format,
                          struct err *e);

/* Closes the container and what it was read through; sets *format to NULL. NULL in it is fine. */
void container_close(AVFormatContext **format);

/* True if the film's file can be sought in: it is there, it is no pipe, and no playlist that names
 * other files. */
bool container_is_seekable(const AVFormatContext *format);

/*
 * Reads up to `bytes` bytes of the film's file at `at`, then goes back to where the file stood.
 * Returns how many came, 0 at the file's end; -1 if it cannot be sought in, or is not read. The
 * thread that reads the film.
 */
int container_peek(const AVFormatContext *format, int64_t at, uint8_t *to, int bytes);

/*
 * Returns the length in microseconds that the header of a truncated AVI declares, 0 for any other
 * file. libavformat shortens that length by the ratio of the file's size to the declared size.
 */
int64_t container_shortened_us(const AVFormatContext *format, const AVStream *stream);

/* The film's nominal frame time, > 0: of its rate, 40 ms where that is unknown. */
int64_t container_frame_us(const struct film *f);

#endif
