/*
 * playlist.h - text that names the files of a film (HLS, ffconcat), which libavformat then opens.
 * They must lie in the playlist's folder or below it.
 */
#ifndef BARCODE_CONTAINER_PLAYLIST_H
#define BARCODE_CONTAINER_PLAYLIST_H

#include <libavformat/avformat.h>
#include <stdbool.h>

#include "barcode/base/err.h"

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
