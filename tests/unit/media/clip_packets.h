/*
 * clip_packets.h - for tests that damage a film on purpose: where its packets lie.
 */
#ifndef BARCODE_TESTS_CLIP_PACKETS_H
#define BARCODE_TESTS_CLIP_PACKETS_H

#include <libavformat/avformat.h>

#include "media/bitstream/packet_scan.h"
#include "clip.h"

/* What a packet of an MP4 file holds, by number in decoding order. */
struct where {
    int64_t pos;
    int size;
    bool key, droppable;
};

static inline size_t list_packets(const char *path, struct where *to, size_t room)
{
    AVFormatContext *f = NULL;
    AVPacket *p = av_packet_alloc();
    size_t n = 0;
    assert_int_equal(avformat_open_input(&f, path, NULL, NULL), 0);
    while (n < room && av_read_frame(f, p) >= 0) {
        struct packet_info info;
        packet_scan(STREAM_H264, 4, p->data, (size_t)p->size, &info);
        to[n++] = (struct where){p->pos, p->size, info.rap != RAP_NONE, info.droppable};
        av_packet_unref(p);
    }
    av_packet_free(&p);
    avformat_close_input(&f);
    return n;
}

#endif
