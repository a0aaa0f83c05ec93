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

enum change { LEFT_OUT, COPIED, BEHIND_AN_EMPTY_ONE };

/* Copies packets one by one. `change` may do as it likes with each. */
static inline void remux(const char *from, const char *to,
                         enum change (*change)(AVPacket *p, int number))
{
    AVFormatContext *in = NULL, *out = NULL;
    AVPacket *p = av_packet_alloc(), *none = av_packet_alloc();
    assert_true(avformat_open_input(&in, from, NULL, NULL) == 0 &&
                avformat_find_stream_info(in, NULL) >= 0);
    assert_true(avformat_alloc_output_context2(&out, NULL, NULL, to) >= 0);
    AVStream *s = avformat_new_stream(out, NULL);
    assert_true(s && avcodec_parameters_copy(s->codecpar, in->streams[0]->codecpar) >= 0);
    s->codecpar->codec_tag = 0;
    s->time_base = in->streams[0]->time_base;
    assert_true(avio_open(&out->pb, to, AVIO_FLAG_WRITE) >= 0 &&
                avformat_write_header(out, NULL) >= 0);
    for (int number = 0; av_read_frame(in, p) >= 0; av_packet_unref(p)) {
        enum change how = change(p, number++);
        av_packet_rescale_ts(p, in->streams[0]->time_base, s->time_base);
        p->stream_index = 0;
        if (how == BEHIND_AN_EMPTY_ONE) {
            none->pts = none->dts = p->dts - 1;
            assert_true(av_write_frame(out, none) >= 0);
        }
        assert_true(how == LEFT_OUT || av_write_frame(out, p) >= 0);
    }
    assert_true(av_write_trailer(out) >= 0);
    avio_closep(&out->pb);
    avformat_free_context(out);
    avformat_close_input(&in);
    av_packet_free(&p);
    av_packet_free(&none);
}

#endif
