/* playlists.h - which files may be playlists, that is, may name other files that are read. */
#ifndef BARCODE_PLAYLISTS_H
#define BARCODE_PLAYLISTS_H

#include <stdbool.h>

/* Lets a playlist have any name from then on. Call it before the first film is opened. */
void playlists_allow(void);

/*
 * Returns true for a regular file that may be a playlist: its name ends as a playlist's does, or
 * playlists_allow was called. Files in and below its folder may then be read. Any thread.
 */
bool playlists_may_be(const char *path);

/* Returns true for such a file that begins as an ffconcat list: FFmpeg opens what it names. */
bool playlists_is_concat(const char *path);

/*
 * Returns the path of `file`, absolute and without links, which the caller frees. Both arguments
 * are paths, or paths behind "file:". Returns NULL with errno if the file cannot be found; with
 * EPERM if it is not a regular file in the folder of `playlist` or below it. Any thread.
 */
char *playlists_file(const char *playlist, const char *file);

#endif
