#include "image_pipe.h"

#include <libavcodec/avcodec.h>
#include <string.h>

#include "base/limits.h"

enum { LOOKED_AT = 5 }; /* images; the first ones of a film may be damaged */

/*
 * Returns true if the codec has a parser. Without one the demuxer returns the complete file as one
 * image.
 */
static bool can_be_split(enum AVCodecID codec)
{
    AVCodecParserContext *parser = av_parser_init((int)codec);
    bool can = parser != NULL;
    av_parser_close(parser);
    return can;
}

/*
 * Returns true for a JPEG whose header lists further images of the same photograph (another
 * viewpoint, or a gain map).
 */
static bool is_photograph(enum AVCodecID codec, const AVPacket *packet)
{
    const uint8_t *data = packet->data;
    size_t size = packet->size > 0 ? (size_t)packet->size : 0;
    if (codec != AV_CODEC_ID_MJPEG)
        return false;
    for (size_t at = 2; at + 8 <= size && data[at] == 0xff && data[at + 1] != 0xda;) {
        if (data[at + 1] == 0xe2 && memcmp(data + at + 4, "MPF", 4) == 0)
            return true;
        at += 2 + ((size_t)data[at + 2] << 8 | data[at + 3]);
    }
    return false;
}

/* Returns how many decoded images have the size of the first one; stops at two. */
static int count_alike(AVCodecContext *c, AVFrame *frame, int so_far, int size[2])
{
    for (; so_far < 2 && avcodec_receive_frame(c, frame) >= 0; av_frame_unref(frame)) {
        if (so_far == 0) {
            size[0] = frame->width;
            size[1] = frame->height;
        }
        so_far += frame->width == size[0] && frame->height == size[1];
    }
    return so_far;
}

static bool has_second_image(AVFormatContext *format, AVCodecContext *c, AVPacket *packet,
                             AVFrame *frame)
{
    int alike = 0, size[2] = {0, 0};
    bool photograph = false;
    for (int i = 0; i < LOOKED_AT && alike < 2 && !photograph && av_read_frame(format, packet) >= 0;
         i++) {
        photograph = i == 0 && is_photograph(c->codec_id, packet);
        avcodec_send_packet(c, packet);
        av_packet_unref(packet);
        alike = count_alike(c, frame, alike, size);
    }
    avcodec_send_packet(c, NULL);
    return !photograph && count_alike(c, frame, alike, size) > 1;
}

bool film_pictures_follow(AVFormatContext *format)
{
    const AVCodecParameters *par = format->nb_streams > 0 ? format->streams[0]->codecpar : NULL;
    const AVCodec *codec =
        par && can_be_split(par->codec_id) ? avcodec_find_decoder(par->codec_id) : NULL;
    AVCodecContext *c = codec ? avcodec_alloc_context3(codec) : NULL;
    if (c)
        c->max_pixels = (int64_t)limits_pixels();
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    bool follow = false;
    if (c && packet && frame) {
        c->thread_count = 1;
        /*
         * avformat_find_stream_info must come first: the demuxer of a pipe needs it to know the
         * size.
         */
        follow = avformat_find_stream_info(format, NULL) >= 0 &&
                 avcodec_open2(c, codec, NULL) >= 0 && has_second_image(format, c, packet, frame);
    }
    avcodec_free_context(&c);
    av_packet_free(&packet);
    av_frame_free(&frame);
    return follow;
}
