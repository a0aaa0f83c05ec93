/*
 * film_blocks.h - blocks that vanish from a Matroska whose track is compressed (RFC 9559, 5.1.4.1.31: zlib, bzlib, lzo): one that cannot be
 * unpacked, and all of its cluster behind it, libavformat leaves out in silence. A jump of the times is a hole there. In tracks that are
 * not compressed its demuxer tells of damage, and a jump alone is none.
 */
#ifndef BARCODE_FILM_BLOCKS_H
#define BARCODE_FILM_BLOCKS_H

#include <libavformat/avformat.h>
#include <stdbool.h>
#include <stdint.h>

struct film_blocks {
    int64_t frame;           /* how long a picture stays, in the stream's time base; 0: there is nothing to look for */
    int64_t dts;             /* the last packet's, AV_NOPTS_VALUE: none */
};

void film_blocks_open(struct film_blocks *b, const AVFormatContext *format, AVStream *stream);

/* True if pictures may be missing before `packet`, the stream's next one, if the times leave room for some. The file's position stays. */
bool film_blocks_lost(struct film_blocks *b, const AVFormatContext *format, const AVPacket *packet);

#endif
