#include "libav.h"

#include <libavutil/error.h>
#include <stdio.h>
#include <string.h>

bool av_out_of_memory(const char *path, struct err *e)
{
    return err_set(e, ERR_MEMORY, "out of memory while '%s' was being decoded", path);
}

const char *av_error_text(int code, char text[128])
{
    if (av_strerror(code, text, 128) < 0)
        snprintf(text, 128, "libav error %d", code);
    return text;
}

/* ---- Alpha of VP8 and VP9 ---- */

static const AVCodec *find_libvpx(enum AVCodecID id)
{
    switch (id) {
    case AV_CODEC_ID_VP8: return avcodec_find_decoder_by_name("libvpx");
    case AV_CODEC_ID_VP9: return avcodec_find_decoder_by_name("libvpx-vp9");
    default: return NULL;
    }
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
