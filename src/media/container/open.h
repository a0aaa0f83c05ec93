/* open.h - opens a film: finds its container and video stream, and reads its headers. */
#ifndef BARCODE_CONTAINER_OPEN_H
#define BARCODE_CONTAINER_OPEN_H

#include <libavformat/avformat.h>

#include "barcode/base/err.h"
#include "media/film.h"

/*
 * Opens `path`, finds video stream `requested` (film_stream_choose) and fills `film`; film->path is
 * a copy that the caller frees. The caller closes *format with container_close, also after a
 * failure.
 */
bool container_open(const char *path, int requested, AVFormatContext **format, struct film *film,
                    struct err *e);

/*
 * Does the same with a film in several files, `parts`, which are borrowed until the film is closed;
 * NULL: the file `path`. film->faults is set before: it records what cannot be read. So is
 * film->sound: SOURCE_SOUND_NONE, or which stream of sound film->sound_stream shall be. Its packets
 * are discarded, except those that are read ahead. The caller also frees film->list.
 */
bool container_open_parts(const char *path, const struct film_parts *parts, int requested,
                          AVFormatContext **format, struct film *film, struct err *e);

/*
 * Opens a film again, with its stream chosen by the same `requested` (container_open). Fails
 * with ERR_INPUT if the file is another film now. *format as above.
 */
bool container_reopen(const struct film *film, int requested, AVFormatContext **format,
                      struct err *e);

/*
 * Opens again the film of `opened` (borrowed), whose header describes all streams. Copies the
 * parameters of the streams, because probing them again takes as long as decoding some pictures.
 * *format as above.
 */
bool container_open_again(const struct film *film, const AVFormatContext *opened,
                          AVFormatContext **format, struct err *e);

/* Closes the container and its input; sets *format to NULL. Does nothing if *format is NULL. */
void container_close(AVFormatContext **format);

/* Returns true if the film is a seekable file: not a pipe, and not a playlist. */
bool container_is_seekable(const AVFormatContext *format);

/*
 * Reads up to `bytes` bytes of the film's file from `at`, and restores the position. Returns how
 * many bytes were read, 0 at the end of the file; -1 if the file is not seekable or cannot be read.
 * Call it on the thread that reads the film.
 */
int container_peek(const AVFormatContext *format, int64_t at, uint8_t *to, int bytes);

/* Converts a time of the stream to microseconds, limited to -TIME_MOST..TIME_MOST. */
int64_t container_us(const AVStream *s, int64_t time);

/*
 * Returns the stored time that is 0 for a player, in microseconds: where the file's earliest stream
 * begins. TIME_NONE if no stream has times.
 */
int64_t container_start_us(const AVFormatContext *format);

/*
 * Reads the next packet and keeps it for container_read: a pipe cannot be read twice. Sets *packet
 * to it, owned by `format`, or to NULL at the end of the film or after an error. Returns false if
 * out of memory.
 */
bool container_read_ahead(AVFormatContext *format, const AVPacket **packet);

/* Reads as av_read_frame does, the packets of container_read_ahead first. */
int container_read(AVFormatContext *format, AVPacket *packet);

/* Seeks as av_seek_frame does, and drops the packets of container_read_ahead. */
int container_seek(AVFormatContext *format, int stream, int64_t time, int flags);

#endif
