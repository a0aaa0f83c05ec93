#include "sound_codec.h"

#include <libavutil/channel_layout.h>

#include "media/ffmpeg/libav.h"

enum { SAMPLES_MOST = 1 << 22 }; /* of a channel in a frame */

/* HE-AAC, which may be declared as AAC-LC of up to half of 48 kHz, takes longer to begin. */
enum { AAC_RATE_LEAST = 32000 };

/*
 * Decoders that compute with integers, and so give the same samples on every machine. Others get
 * AV_CODEC_FLAG_BITEXACT, with which DTS does so as well.
 */
static const struct {
    enum AVCodecID codec;
    const char *decoder;
} exact[] = {{AV_CODEC_ID_AAC, "aac_fixed"},
             {AV_CODEC_ID_AC3, "ac3_fixed"},
             {AV_CODEC_ID_MP1, "mp1"},
             {AV_CODEC_ID_MP2, "mp2"},
             {AV_CODEC_ID_MP3, "mp3"}};

static const AVCodec *exact_decoder(enum AVCodecID codec)
{
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (exact[i].codec == codec)
            return avcodec_find_decoder_by_name(exact[i].decoder);
    return NULL;
}

AVCodecContext *sound_codec_open(const struct sound_codec *codec, bool first, struct err *e)
{
    AVCodecContext *c = codec->codec ? avcodec_alloc_context3(codec->codec) : NULL;
    int code = AVERROR_DECODER_NOT_FOUND;
    if (codec->codec)
        code = c ? avcodec_parameters_to_context(c, codec->par) : AVERROR(ENOMEM);
    if (code >= 0) {
        c->pkt_timebase = AV_TIME_BASE_Q;
        c->flags |= AV_CODEC_FLAG_BITEXACT;
        c->thread_count = 1;
        c->max_samples = SAMPLES_MOST;
        if (!first) /* from FFmpeg 8 on decoders skip this */
            c->initial_padding = c->delay = 0;
        code = avcodec_open2(c, codec->codec, NULL);
    }
    if (code == AVERROR(ENOMEM))
        av_out_of_memory(codec->path, e);
    if (code < 0)
        avcodec_free_context(&c);
    return c;
}

static bool can_open(const struct sound_codec *codec, struct err *e)
{
    AVCodecContext *c = sound_codec_open(codec, true, e);
    bool opened = c != NULL;
    avcodec_free_context(&c);
    return opened;
}

static bool is_apart(const AVCodecParameters *par)
{
    return par->codec_id == AV_CODEC_ID_AC3 ||
           (par->codec_id == AV_CODEC_ID_AAC && par->profile == AV_PROFILE_AAC_LOW &&
            par->sample_rate >= AAC_RATE_LEAST);
}

/* Returns true if the packet, with a header of ADTS or not, begins with a layout of channels. */
static bool has_layout(const AVPacket *p)
{
    enum { ID_PCE = 5, ADTS = 7, CRC = 2 };
    bool adts = p->size > ADTS + CRC && p->data[0] == 0xff && (p->data[1] & 0xf6) == 0xf0;
    int at = !adts ? 0 : p->data[1] & 1 ? ADTS : ADTS + CRC;
    return p->size > at && p->data[at] >> 5 == ID_PCE;
}

bool sound_codec_is_header(const struct sound_codec *c, const AVPacket *packet)
{
    return av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, NULL) ||
           (c->par->codec_id == AV_CODEC_ID_AAC && has_layout(packet));
}

bool sound_codec_choose(const AVCodecParameters *par, const char *path, struct sound_codec *c,
                        struct err *e)
{
    *c = (struct sound_codec){
        .path = path, .par = par, .codec = exact_decoder(par->codec_id), .apart = is_apart(par)};
    if (can_open(c, e) || e->code != ERR_NONE)
        return e->code == ERR_NONE;
    c->codec = avcodec_find_decoder(par->codec_id);
    if (!can_open(c, e))
        c->codec = NULL;
    return e->code == ERR_NONE;
}

void sound_codec_describe(struct film_sound *s, int rate, const AVChannelLayout *layout)
{
    s->rate = rate > 0 ? rate : 0;
    s->channels = layout->nb_channels;
    if (av_channel_layout_describe(layout, s->layout, sizeof s->layout) < 0)
        s->layout[0] = 0;
    s->layout[sizeof s->layout - 1] = 0;
}
