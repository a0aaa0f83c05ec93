#include "blank.h"

#include "nal.h"

/*
 * Why no packet is all zeros: DV has numbered blocks, QuickTime RLE, Cinepak and SMC tell their length, Road Pizza begins with 0xe1,
 * Dirac with "BBCD". Ut Video tells the length of each code, one of which is not zero. FFV1 and Huffyuv would spell the rarest
 * value for each sample.
 */
static const enum AVCodecID never_blank[] = {
    AV_CODEC_ID_DVVIDEO, AV_CODEC_ID_QTRLE, AV_CODEC_ID_CINEPAK, AV_CODEC_ID_SMC, AV_CODEC_ID_RPZA, AV_CODEC_ID_DIRAC,
    AV_CODEC_ID_UTVIDEO, AV_CODEC_ID_FFV1, AV_CODEC_ID_HUFFYUV, AV_CODEC_ID_FFVHUFF,
};

bool blank_is(enum AVCodecID codec, const AVPacket *packet)
{
    enum { LEAST = 16 };      /* with fewer bytes some writers say that nothing changes */
    bool never = false;
    for (size_t i = 0; i < sizeof never_blank / sizeof *never_blank; i++)
        never |= never_blank[i] == codec;
    size_t size = packet->size > 0 ? (size_t)packet->size : 0;
    return never && size >= LEAST && nal_zeros_at_end(packet->data, size) == size;
}

bool blank_short(const AVCodecParameters *par, const AVPacket *packet)
{
    if (par->codec_id != AV_CODEC_ID_RAWVIDEO || par->format != AV_PIX_FMT_PAL8 || packet->size == 0)
        return false;
    int bits = par->bits_per_coded_sample;
    int64_t row = ((int64_t)par->width * (bits == 1 || bits == 2 || bits == 4 ? bits : 8) + 7) / 8;
    return packet->size < row * par->height;
}

bool blank_endless(const AVPacket *jpeg)
{
    enum { END = 0xd9, SCAN = 0xda };
    for (int i = jpeg->size - 2; i >= 0; i--)
        if (jpeg->data[i] == 0xff && (jpeg->data[i + 1] == END || jpeg->data[i + 1] == SCAN))
            return jpeg->data[i + 1] == SCAN;
    return false;
}
