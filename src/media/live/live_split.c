#include "live_split.h"

#include <stdlib.h>
#include <string.h>

struct live_split {
    AVCodecParserContext *parser; /* NULL: the codec has none, and packets are pictures */
    AVCodecContext *codec;        /* for the parser alone; never opened */
    const AVPacket *packet;
    int at;
    bool over;
};

struct live_split *live_split_open(const AVStream *stream, struct err *e)
{
    struct live_split *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->parser = av_parser_init(stream->codecpar->codec_id);
    s->codec = avcodec_alloc_context3(NULL);
    if (s->codec && avcodec_parameters_to_context(s->codec, stream->codecpar) >= 0)
        return s;
    live_split_close(&s);
    err_memory(e, sizeof *s->codec);
    return NULL;
}

void live_split_begin(struct live_split *s, const AVPacket *packet)
{
    s->packet = packet;
    s->at = 0;
    s->over = false;
}

static int make_picture(const struct live_split *s, const uint8_t *data, int bytes,
                        AVPacket *picture)
{
    int code = av_new_packet(picture, bytes);
    if (code < 0)
        return code;
    memcpy(picture->data, data, (size_t)bytes);
    picture->stream_index = s->packet->stream_index;
    picture->flags = s->packet->flags;
    bool key = s->parser->key_frame == 1 ||
               (s->parser->key_frame < 0 && s->parser->pict_type == AV_PICTURE_TYPE_I);
    picture->flags |= key ? AV_PKT_FLAG_KEY : 0;
    return 0;
}

int live_split_next(struct live_split *s, AVPacket *picture)
{
    const AVPacket *p = s->packet;
    while (s->parser && !s->over) {
        uint8_t *data = NULL;
        int bytes = 0;
        s->over = s->at == p->size; /* without bytes, the parser gives what it holds */
        s->at +=
            av_parser_parse2(s->parser, s->codec, &data, &bytes, s->over ? NULL : p->data + s->at,
                             p->size - s->at, p->pts, p->dts, p->pos);
        if (bytes > 0)
            return make_picture(s, data, bytes, picture);
    }
    if (s->over)
        return AVERROR_EOF;
    s->over = true;
    return av_packet_ref(picture, p);
}

void live_split_close(struct live_split **s)
{
    if (!*s)
        return;
    if ((*s)->parser)
        av_parser_close((*s)->parser);
    avcodec_free_context(&(*s)->codec);
    free(*s);
    *s = NULL;
}
