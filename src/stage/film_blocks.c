#include "film_blocks.h"

#include <string.h>

#include "av.h"
#include "film_jump.h"

void film_blocks_open(struct film_blocks *b, const AVFormatContext *format, AVStream *stream)
{
    static const char *const known[] = {"matroska,webm"};
    *b = (struct film_blocks){.dts = AV_NOPTS_VALUE};
    if (film_av_seekable(format) && film_av_is_one_of(format, known, 1))
        b->frame = film_jump_frame(format, stream);
}

/*
 * True if the file does not have the packet's bytes as they are. A track may leave out those with which all its blocks begin, and libavformat
 * adds heads of some codecs, so that they lie later in the packet than in the file; what zlib packs without making it
 * smaller lies earlier.
 */
static bool is_compressed(const AVFormatContext *format, const AVPacket *packet)
{
    enum { HEAD = 12, COMPARED = 16, LEFT_OUT = 64 };        /* of a block: its track, time and flags, and some more */
    uint8_t file[HEAD + COMPARED];
    if (packet->pos < 0 || packet->size < HEAD + LEFT_OUT + COMPARED || film_av_peek(format, packet->pos, file, sizeof file) != sizeof file)
        return false;
    int head = 4;
    for (int bit = 0x80; bit > 0x08 && (file[0] & bit) == 0; bit >>= 1)
        head++;
    for (int from = HEAD - head; from < HEAD + LEFT_OUT; from++)
        if (memcmp(file + HEAD, packet->data + from, COMPARED) == 0)
            return false;
    return true;
}

bool film_blocks_lost(struct film_blocks *b, const AVFormatContext *format, const AVPacket *packet)
{
    if (b->frame <= 0 || packet->dts == AV_NOPTS_VALUE)
        return false;
    /* All of a track's blocks are compressed, or none is. */
    if (b->dts == AV_NOPTS_VALUE && !is_compressed(format, packet)) {
        b->frame = 0;
        return false;
    }
    /* Where pictures are reordered, libavformat's times jump some packets late. Most clusters begin with a key frame. */
    bool lost = b->dts != AV_NOPTS_VALUE && (packet->flags & AV_PKT_FLAG_KEY || film_jump_is(b->frame, b->dts, packet->dts));
    b->dts = packet->dts;
    return lost;
}
