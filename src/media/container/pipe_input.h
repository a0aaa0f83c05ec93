/*
 * pipe_input.h - films that are no named regular files, as bytes for libavformat: pipes, FIFOs,
 * stdin by whatever name, sockets, terminals. libav's own reading would not hear a signal while it
 * waits for their bytes.
 *
 * A regular file (stdin sent from one) is read from its beginning, wherever the descriptor stands,
 * and can be sought; the others are read once, front to back.
 */
#ifndef BARCODE_CONTAINER_PIPE_INPUT_H
#define BARCODE_CONTAINER_PIPE_INPUT_H

#include <libavformat/avio.h>

#include "barcode/base/err.h"

/*
 * Where libav is to get the film's bytes from here: *io, the caller's, film_input_close. NULL: it
 * is to open the film by its name, and to say what is wrong if it cannot. False, and NULL:
 * ERR_INPUT, or ERR_FAILED without memory.
 */
bool film_input_open(const char *path, AVIOContext **io, struct err *e);

/*
 * True for an MP4 from a pipe whose index stands after its pictures, so that it would have to be
 * read twice. To be asked before anything else is read: it reads the names of the first boxes,
 * which libav gets all the same.
 */
bool film_input_index_last(AVIOContext *io);

/*
 * The same film from its first byte on, through a new AVIOContext for the one that was read so far:
 * *io, of which nobody else has a pointer. Of a pipe the bytes that were read are kept for that, up
 * to 64 MiB: false if there were more, or on ERR_FAILED.
 */
bool film_input_again(AVIOContext **io, struct err *e);

/* It will not be read again from its beginning: lets go of what is kept for that. */
void film_input_go_on(AVIOContext *io);

/* Sets *io to NULL. NULL is fine. */
void film_input_close(AVIOContext **io);

#endif
