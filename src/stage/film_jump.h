/*
 * film_jump.h - jumps of a stream's times, behind which pictures may be missing. A jump alone proves nothing: films pause, and some are of
 * variable rate. film_zeros.h, film_fragments.h and film_blocks.h ask for a sign besides.
 */
#ifndef BARCODE_FILM_JUMP_H
#define BARCODE_FILM_JUMP_H

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

/* How long a picture stays at the stream's nominal rate, in its time base, > 0; 0: unknown, or less than the time base can say. */
int64_t film_jump_frame(const AVFormatContext *format, AVStream *stream);

/*
 * True if a packet of time `to` comes a picture and a half or more behind one of time `from`, of pictures that stay for `frame`, > 0, in the
 * same unit. Of AV_NOPTS_VALUE nothing is known: false. A damaged film may have any times.
 */
bool film_jump_is(int64_t frame, int64_t from, int64_t to);

#endif
