#include "alpha_decoder.h"

#include <string.h>

static const AVCodec *find_libvpx(enum AVCodecID id)
{
    return id == AV_CODEC_ID_VP8   ? avcodec_find_decoder_by_name("libvpx")
           : id == AV_CODEC_ID_VP9 ? avcodec_find_decoder_by_name("libvpx-vp9")
                                   : NULL;
}

void alpha_note(AVStream *s)
{
    const AVDictionaryEntry *mode = av_dict_get(s->metadata, "alpha_mode", NULL, 0);
    if (mode && strcmp(mode->value, "1") == 0 && s->codecpar->format == AV_PIX_FMT_YUV420P &&
        find_libvpx(s->codecpar->codec_id))
        s->codecpar->format = AV_PIX_FMT_YUVA420P;
}

bool alpha_is_extra(const AVCodecParameters *par)
{
    return par->format == AV_PIX_FMT_YUVA420P && find_libvpx(par->codec_id);
}

const AVCodec *alpha_find_decoder(const AVCodecParameters *par)
{
    return alpha_is_extra(par) ? find_libvpx(par->codec_id) : avcodec_find_decoder(par->codec_id);
}
