#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
#include <libavutil/samplefmt.h>
#include <math.h>
#include <string.h>

#include "test.h"
#include "media/sound/sound_reading.h"

/* A frame of four samples of two channels in memory of the caller. */
static AVFrame *frame_of(enum AVSampleFormat format, void *first, void *second)
{
    AVFrame *f = av_frame_alloc();
    assert_non_null(f);
    f->format = format;
    f->nb_samples = 4;
    f->extended_data[0] = first;
    f->extended_data[1] = second;
    return f;
}

/* Checks the planar format, and the packed one with every sample twice. */
static void check(enum AVSampleFormat packed, const void *values, size_t size,
                  const int16_t expected[4])
{
    uint8_t twice[2 * 4 * 8], plane[2][4 * 8];
    int16_t out[8];
    for (size_t i = 0; i < 8; i++)
        memcpy(twice + i * size, (const uint8_t *)values + i / 2 * size, size);
    for (size_t i = 0; i < 4; i++) {
        memcpy(plane[0] + i * size, (const uint8_t *)values + i * size, size);
        memcpy(plane[1] + (3 - i) * size, (const uint8_t *)values + i * size, size);
    }
    AVFrame *f = frame_of(packed, twice, NULL);
    assert_true(samples_known(packed));
    samples_convert(f, 2, out);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(out[i], expected[i / 2]);
    av_frame_free(&f);
    enum AVSampleFormat planar = av_get_planar_sample_fmt(packed);
    assert_true(samples_known(planar));
    f = frame_of(planar, plane[0], plane[1]);
    samples_convert(f, 2, out);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(out[2 * i], expected[i]);
        assert_int_equal(out[2 * i + 1], expected[3 - i]);
    }
    av_frame_free(&f);
}

TEST(every_format)
{
    check(AV_SAMPLE_FMT_U8, (uint8_t[]){0, 127, 128, 255}, 1, (int16_t[]){-32768, -256, 0, 32512});
    check(AV_SAMPLE_FMT_S16, (int16_t[]){-32768, -1, 0, 32767}, 2,
          (int16_t[]){-32768, -1, 0, 32767});
    check(AV_SAMPLE_FMT_S32, (int32_t[]){INT32_MIN, 0x7fff, 0x8000, INT32_MAX}, 4,
          (int16_t[]){-32768, 0, 1, 32767});
    check(AV_SAMPLE_FMT_S64,
          (int64_t[]){INT64_MIN, INT64_C(0x7fffffffffff), INT64_C(0x800000000000), INT64_MAX}, 8,
          (int16_t[]){-32768, 0, 1, 32767});
    check(AV_SAMPLE_FMT_FLT, (float[]){-7, 0.6f / 32768, 1, NAN}, 4,
          (int16_t[]){-32768, 1, 32767, 0});
    check(AV_SAMPLE_FMT_FLT, (float[]){-INFINITY, -0.6f / 32768, 0.4f / 32768, INFINITY}, 4,
          (int16_t[]){-32768, -1, 0, 32767});
    check(AV_SAMPLE_FMT_DBL, (double[]){-1, 0.4 / 32768, 32767.4 / 32768, NAN}, 8,
          (int16_t[]){-32768, 0, 32767, 0});
    assert_false(samples_known(AV_SAMPLE_FMT_NONE));
    assert_false(samples_known((enum AVSampleFormat)999));
}

TEST(masks)
{
    AVChannelLayout l = AV_CHANNEL_LAYOUT_5POINT1;
    assert_int_equal(samples_mask(&l), AV_CH_LAYOUT_5POINT1);
    l = (AVChannelLayout){.order = AV_CHANNEL_ORDER_UNSPEC, .nb_channels = 2};
    assert_int_equal(samples_mask(&l), AV_CH_LAYOUT_STEREO);
    l.nb_channels = 63; /* no usual layout */
    assert_int_equal(samples_mask(&l), 0);
    l = (AVChannelLayout){.order = AV_CHANNEL_ORDER_AMBISONIC, .nb_channels = 4};
    assert_int_equal(samples_mask(&l), 0);
}
