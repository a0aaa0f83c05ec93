/* Sound that is decoded in segments is as if one decoder had decoded all. */

#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
#include <libavutil/samplefmt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "barcode/engine/engine.h"
#include "media/sound/sound_reading.h"
#include "media/source.h"
#include "sound/film_sound.h"
#include "clip.h"

#define PICTURES "-f lavfi -i color=black:s=96x64:r=25:d=8 "
#define VIDEO "-c:v mpeg4 -q:v 4 -g 12 -bf 2 "

/* Reads the sound of a film alone. */
static struct film_sound hear(const char *name)
{
    struct err e = ERR_INIT;
    struct sound_job job = {.done = false};
    struct source *s =
        source_open_stream(name, NULL, SOURCE_STREAM_CHOICE, SOURCE_STREAM_CHOICE, false, &e);
    if (!s || !source_sound(s, &job, &e))
        fail_msg("%s", e.text);
    assert_true(job.done);
    source_close(&s);
    return job.sound;
}

/*
 * Segments that are decoded apart are heard as if one decoder had decoded all: a tone that rises,
 * over more than two segments.
 */
TEST(segments_have_no_seams)
{
    static const char *const codec[] = {"ac3", "aac"}, *const option[] = {"", "-aac_pns 0"};
    for (size_t i = 0; i < 2; i++) {
        char line[400];
        snprintf(line, sizeof line,
                 PICTURES
                 "-f lavfi -i \"aevalsrc=0.4*sin(2*PI*(300*t+40*t*t)):s=48000:d=20\" " VIDEO
                 "-c:a %s %s apart.mkv",
                 codec[i], option[i]);
        assert_true(clip_ffmpeg(line));
        snprintf(line, sizeof line, "-c:a %s_fixed -i apart.mkv -c:v copy -c:a pcm_s16le plain.mkv",
                 codec[i]);
        assert_true(clip_ffmpeg(line));
        struct film_sound apart = hear("apart.mkv"), plain = hear("plain.mkv");
        assert_int_equal(apart.rows, plain.rows);
        for (size_t r = 0; r < apart.rows; r++) {
            const struct sound_row *a = &apart.row[r], *b = &plain.row[r];
            if (abs(a->peak - b->peak) > 1 || abs(a->loudness - b->loudness) > 1 ||
                abs(a->centroid - b->centroid) > 2)
                fail_msg("%s, row %zu: peak %d and %d, loudness %d and %d, centroid %u and %u",
                         codec[i], r, a->peak, b->peak, a->loudness, b->loudness, a->centroid,
                         b->centroid);
        }
        film_sound_free(&apart);
        film_sound_free(&plain);
    }
}

/* Makes a film of PICTURES with 20 s of the tone `sine`, as AAC; `more`: options and its name. */
static void make_film(const char *sine, const char *more)
{
    char line[1000];
    snprintf(line, sizeof line, PICTURES "-f lavfi -i %s:d=20 -c:a aac %s", sine, more);
    assert_true(clip_ffmpeg(line));
}

/* A layout that AAC has no number for: only the first packet of a recording in MPEG-TS has it. */
TEST(layout_in_the_first_packet)
{
    static const char *const name[] = {"first.ts", "joined.ts"};
    static const int channels[] = {6, 1};
    make_film("sine=f=440", "-c:v mpeg2video -af \"pan=5.1(side)|FL=c0|FR=c0|SL=c0\" first.ts");
    make_film("sine=f=440", "-c:v mpeg2video mono.ts");
    assert_int_equal(system("cat mono.ts first.ts mono.ts > joined.ts"), 0);
    for (size_t i = 0; i < 2; i++) {
        struct film_sound s = hear(name[i]);
        assert_int_equal(s.channels, channels[i]);
        assert_int_equal(s.errors, 0);
        film_sound_free(&s);
    }
}

/* A header within the film, as where two recordings were joined, counts for all segments behind. */
TEST(another_header)
{
    make_film("sine=r=48000", "-c:v flv1 -ac 2 one.flv");
    make_film("sine=r=48000", "-c:v flv1 -ac 1 -ar 44100 -output_ts_offset 20 two.flv");
    assert_int_equal(system("(cat one.flv; tail -c +14 two.flv) > both.flv"), 0);
    struct film_sound s = hear("both.flv");
    assert_int_equal(s.errors, 0);
    assert_int_equal(s.gaps, 0);
    film_sound_free(&s);
}

static struct sound_device *open_no_device(const struct engine *g, struct err *e)
{
    (void)g;
    err_set(e, ERR_ENGINE, "the GPU is gone");
    return NULL;
}

/* A GPU that fails is no lack of memory: another engine renders the film, and not this one alone.
 */
TEST(a_device_that_cannot_be_opened)
{
    static const struct engine_ops ops = {.sound = open_no_device};
    struct engine engine = {.ops = &ops};
    struct sound_job job = {.engine = &engine};
    struct err e = ERR_INIT;
    const uint64_t before = err_memory_count();
    assert_null(sound_decoder_open(NULL, 0, "film.mkv", INT64_MAX, &job, &e));
    assert_int_equal(e.code, ERR_ENGINE);
    assert_int_equal(err_memory_count(), before);
}

TEST_FIXTURE(clip_begin, clip_end)

/* ---- samples ---- */

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
