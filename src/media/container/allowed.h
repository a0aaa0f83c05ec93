/*
 * allowed.h - which demuxers may read a film, and which files they may open. A demuxer may read
 * the film's file alone. Those that open a network, devices or files by other names are not
 * allowed.
 */
#ifndef BARCODE_CONTAINER_ALLOWED_H
#define BARCODE_CONTAINER_ALLOWED_H

#include <libavformat/avformat.h>

/*
 * Sets the context's format_whitelist: the demuxers of films, and `more`, a list of names
 * ("": none). Contexts that its demuxer opens get the same list. Returns 0 or an AVERROR. Any
 * thread.
 */
int allowed_demuxers(AVFormatContext *format, const char *more);

/* Returns the names of the demuxers of films: "aa,aac,...". Static; "none" if out of memory. */
const char *allowed_names(void);

/*
 * For AVFormatContext.io_open: opens those files of a playlist, which is the input format->pb
 * (pipe_input.h), that playlists_file finds. Other files are refused with EPERM. Fails for the film
 * itself with the reason for which film_input_open left it to libavformat.
 */
int allowed_open(AVFormatContext *format, AVIOContext **file, const char *url, int flags,
                 AVDictionary **options);

/* For AVFormatContext.io_close2: closes what allowed_open has opened. */
int allowed_close(AVFormatContext *format, AVIOContext *file);

#endif
