/*
 * film_zeros.h - holes of which the demuxer says nothing: it looks for what comes next, and jumps over zeros in silence.
 *
 * Neither sign is one alone. Films pause, and writers pad. Where the times jump and more zeros lie in the
 * file nearby than a packet holds (of silence, of padding), something of the film vanished. So it did where the times jump and
 * ASF's packets, all of one size, lie otherwise than before: bytes were taken out.
 */
#ifndef BARCODE_FILM_ZEROS_H
#define BARCODE_FILM_ZEROS_H

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

enum { FILM_ZEROS_NEAR = 32 };      /* packets: so long a demuxer may guess at times before a stored one corrects it */

struct film_zeros {
    size_t run;                     /* so many zeros are more than a packet holds; 0: the container has no such holes */
    int64_t frame;                  /* how long one stays, in the stream's time base; 0: unknown */
    int64_t dts;                    /* the last packet's, AV_NOPTS_VALUE: it has none            */
    int64_t at[FILM_ZEROS_NEAR];    /* where the latest packets lie in the file                  */
    uint64_t packets;
    unsigned size;                  /* ASF: of each of the file's packets, else 0           */
};

void film_zeros_open(struct film_zeros *z, AVFormatContext *format, AVStream *stream);

/* True if there is such a hole before `packet`, the stream's next one. The file's position stays. */
bool film_zeros_before(struct film_zeros *z, AVIOContext *file, const AVPacket *packet);

#endif
