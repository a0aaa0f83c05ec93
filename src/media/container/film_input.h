/*
 * film_input.h - reads films for libavformat: files, disks, pipes, FIFOs, stdin under any name,
 * sockets, terminals. libavformat's own reading does not notice a signal while it waits for data,
 * and its demuxers do not report every read that fails.
 *
 * A file is read from its beginning, wherever its descriptor is positioned, and is seekable. A pipe
 * is read once, front to back; the last 8 MiB are kept, because the demuxers of GIF and APNG seek
 * back to the start of a frame.
 */
#ifndef BARCODE_CONTAINER_FILM_INPUT_H
#define BARCODE_CONTAINER_FILM_INPUT_H

#include <libavformat/avio.h>

#include "read_faults.h"
#include "barcode/base/err.h"
#include "base/film_id.h"

/*
 * Opens the film's input as *io; the caller closes it with film_input_close. `path` and `faults`
 * are borrowed.
 * *io is NULL if libavformat is to open the film by its name, and to report any error. Returns
 * false, with *io NULL, on ERR_INPUT, on ERR_FAILED if the system fails, or on ERR_MEMORY.
 */
bool film_input_open(const char *path, struct read_faults *faults, AVIOContext **io, struct err *e);

/* Does the same with several files, `parts` being borrowed, whose bytes follow one another. *io is
 * NULL only on an error. */
bool film_input_open_parts(const struct film_parts *parts, struct read_faults *faults,
                           AVIOContext **io, struct err *e);

/* Does the same with a copy of a text. */
bool film_input_open_text(const char *text, AVIOContext **io, struct err *e);

/*
 * Opens the regular file `path` that the playlist `film`, an input, names, as *io. `name` is for
 * messages. Its faults are those of the film: if it cannot be opened, the film lacks it, or fails
 * with the system. `path`: NULL: it is not found, for the reason in errno. Returns 0 or an errno.
 */
int film_input_open_beside(const AVIOContext *film, const char *path, const char *name,
                           AVIOContext **io);

/*
 * Returns true for an MP4 from a pipe whose index comes after its media data, so that it would have
 * to be read twice. Call it before anything is read. It reads the headers of the first boxes, and
 * libavformat can still read those bytes.
 */
bool film_input_index_last(AVIOContext *io);

/*
 * Replaces *io by a new AVIOContext that reads the film from its first byte again. Nobody else may
 * have a pointer to *io. Up to 64 MiB of a pipe are kept for this: returns false if more were read,
 * or on ERR_FAILED.
 */
bool film_input_again(AVIOContext **io, struct err *e);

/* Keeps no more bytes for film_input_again, which cannot be called any more. */
void film_input_go_on(AVIOContext *io);

/* Closes the input and sets *io to NULL. Does nothing if *io is NULL. */
void film_input_close(AVIOContext **io);

#endif
