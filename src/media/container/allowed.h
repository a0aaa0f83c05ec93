/*
 * allowed.h - which demuxers may read a film, and which files they may open. A demuxer may read
 * the film's file alone. Those that open a network, devices or files by other names are not
 * allowed. A playlist is text that names the files of a film (HLS, ffconcat), which libavformat
 * then opens. They must lie in the playlist's folder or below it.
 */
#ifndef BARCODE_CONTAINER_ALLOWED_H
#define BARCODE_CONTAINER_ALLOWED_H

#include <libavformat/avformat.h>
#include <stdbool.h>

#include "barcode/base/err.h"

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
 * (film_input.h), that playlists_file finds. Other files are refused with EPERM. Fails for the film
 * itself with the reason for which film_input_open left it to libavformat.
 */
int allowed_open(AVFormatContext *format, AVIOContext **file, const char *url, int flags,
                 AVDictionary **options);

/* For AVFormatContext.io_close2: closes what allowed_open has opened. */
int allowed_close(AVFormatContext *format, AVIOContext *file);

/*
 * Returns the demuxer of the playlist that a regular file is by its first bytes, or NULL. FFmpeg
 * from 7.1 on finds that of HLS by the file's name, too.
 */
const AVInputFormat *playlist_demuxer(const char *path);

/*
 * Checks a file that `demuxer`, which is_playlist, would read. Returns false with ERR_INPUT if its
 * name is not that of such a playlist (and playlists_allow was not called), if it names a file
 * outside of its folder, or a playlist that it must not name, or if it has no end.
 */
bool playlist_check(const char *path, const AVInputFormat *demuxer, struct err *e);

#endif
