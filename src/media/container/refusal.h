/* refusal.h - why a file is not a film that can be read, where libavformat's error is no answer. */
#ifndef BARCODE_CONTAINER_REFUSAL_H
#define BARCODE_CONTAINER_REFUSAL_H

#include <libavformat/avformat.h>
#include <stdbool.h>

#include "barcode/base/err.h"
#include "media/ffmpeg/av_log.h"

enum { STREAMS_MOST = 64 }; /* AVFormatContext.max_streams */

/*
 * Fills `e` with the reason why libavformat could not open `path`, with `code` and the messages
 * `logged` meanwhile. Returns false.
 */
bool refusal_of_container(const char *path, int code, bool piped,
                          const struct av_log_counts *logged, struct err *e);

/*
 * Returns true if the chosen stream can be decoded; otherwise fills `e`. `logged` are the messages
 * of its probing.
 */
bool refusal_check_stream(AVFormatContext *format, const AVStream *s, const char *path,
                          const struct av_log_counts *logged, struct err *e);

/* Fills `e` for a file whose demuxer is not that of a film. Returns false. */
bool refusal_of_demuxer(const char *path, const AVInputFormat *demuxer, struct err *e);

/* Fills `e` for a single image. Returns false. */
bool refusal_of_picture(const char *path, struct err *e);

/*
 * Returns true if a second image of the first one's size is among the first few of a container that
 * was just opened. Reads the container up to there: open it again afterwards. libavformat reads
 * files of images one after another (ffmpeg's image2pipe, raw Motion JPEG) by its demuxers of
 * single images, jpeg_pipe and others. A photograph that contains further images (Multi-Picture
 * Format) is one image.
 */
bool film_pictures_follow(AVFormatContext *format);

#endif
