#include "samples.h"

#include <libavutil/channel_layout.h>
#include <libavutil/samplefmt.h>
#include <math.h>

/* `count` samples, of which every `stride`th of `out` is written. */
typedef void convert(const uint8_t *in, int16_t *out, size_t stride, size_t count);

static int16_t limited(int64_t v)
{
    return (int16_t)(v > INT16_MAX ? INT16_MAX : v < INT16_MIN ? INT16_MIN : v);
}

/* A sample that is no number is silence. */
static int16_t rounded(double v)
{
    v *= 32768;
    return (int16_t)(v >= INT16_MAX   ? INT16_MAX
                     : v <= INT16_MIN ? INT16_MIN
                     : v == v         ? lrint(v)
                                      : 0);
}

static void from_u8(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i * stride] = (int16_t)((in[i] - 128) * 256);
}

static void from_s16(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const int16_t *from = (const int16_t *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = from[i];
}

static void from_s32(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const int32_t *from = (const int32_t *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = limited(((int64_t)from[i] + (1 << 15)) >> 16);
}

static void from_s64(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const int64_t *from = (const int64_t *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = limited(((from[i] >> 32) + (1 << 15)) >> 16);
}

static void from_float(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const float *from = (const float *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = rounded((double)from[i]);
}

static void from_double(const uint8_t *in, int16_t *out, size_t stride, size_t count)
{
    const double *from = (const double *)(const void *)in;
    for (size_t i = 0; i < count; i++)
        out[i * stride] = rounded(from[i]);
}

static convert *converter(enum AVSampleFormat format)
{
    switch (av_get_packed_sample_fmt(format)) {
    case AV_SAMPLE_FMT_U8: return from_u8;
    case AV_SAMPLE_FMT_S16: return from_s16;
    case AV_SAMPLE_FMT_S32: return from_s32;
    case AV_SAMPLE_FMT_S64: return from_s64;
    case AV_SAMPLE_FMT_FLT: return from_float;
    case AV_SAMPLE_FMT_DBL: return from_double;
    default: return NULL;
    }
}

bool samples_known(enum AVSampleFormat format) { return converter(format) != NULL; }

void samples_convert(const AVFrame *frame, int channels, int16_t *out)
{
    convert *to = converter((enum AVSampleFormat)frame->format);
    size_t count = (size_t)frame->nb_samples, all = (size_t)channels;
    if (!av_sample_fmt_is_planar((enum AVSampleFormat)frame->format)) {
        to(frame->extended_data[0], out, 1, count * all);
        return;
    }
    for (size_t c = 0; c < all; c++)
        to(frame->extended_data[c], out + c, all, count);
}

uint64_t samples_mask(const AVChannelLayout *layout)
{
    AVChannelLayout usual = {.nb_channels = 0};
    if (layout->order == AV_CHANNEL_ORDER_UNSPEC)
        av_channel_layout_default(&usual, layout->nb_channels);
    const AVChannelLayout *known = usual.nb_channels > 0 ? &usual : layout;
    return known->order == AV_CHANNEL_ORDER_NATIVE ? known->u.mask : 0;
}
