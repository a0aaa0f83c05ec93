/* test_film_facts.c - which streams are the film, and how bright its container declares it to be */
#include <libavutil/dovi_meta.h>
#include <libavutil/mastering_display_metadata.h>
#include <string.h>

#include "test.h"
#include "media/source.h"
#include "media/container/open.h"
#include "media/ffmpeg/libav.h"

/* One stream of a made container. */
struct made {
    enum AVMediaType type;
    enum AVCodecID codec;
    int width, height, disposition;
};

#define VIDEO(w, h, disposition) \
    { \
        AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_H264, w, h, disposition \
    }
#define SOUND \
    { \
        AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_AAC, 0, 0, AV_DISPOSITION_DEFAULT \
    }
#define COVER \
    { \
        AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_PNG, 4000, 4000, AV_DISPOSITION_ATTACHED_PIC \
    }
#define THUMBNAILS \
    { \
        AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_MJPEG, 4000, 4000, AV_DISPOSITION_TIMED_THUMBNAILS \
    }

static AVFormatContext *make(const struct made *made, size_t count)
{
    AVFormatContext *f = avformat_alloc_context();
    assert_non_null(f);
    for (size_t i = 0; i < count; i++) {
        AVStream *s = avformat_new_stream(f, NULL);
        assert_non_null(s);
        s->codecpar->codec_type = made[i].type;
        s->codecpar->codec_id = made[i].codec;
        s->codecpar->width = made[i].width;
        s->codecpar->height = made[i].height;
        s->disposition = made[i].disposition;
    }
    return f;
}

/* The index that this wish gives. */
static int choose(const struct made *made, size_t count, int selected, struct err *e)
{
    AVFormatContext *f = make(made, count);
    int index = film_stream_choose(f, selected, "f.mkv", e);
    avformat_free_context(f);
    return index;
}

#define CHOOSE(selected, e, ...) \
    choose((const struct made[]){__VA_ARGS__}, \
           sizeof((const struct made[]){__VA_ARGS__}) / sizeof(struct made), selected, e)
#define BY_ITSELF(...) CHOOSE(SOURCE_STREAM_CHOICE, NULL, __VA_ARGS__)

TEST(the_largest_of_the_marked)
{
    const int marked = AV_DISPOSITION_DEFAULT;
    assert_int_equal(BY_ITSELF(SOUND, VIDEO(160, 90, 0), VIDEO(640, 360, 0)), 2);
    assert_int_equal(BY_ITSELF(VIDEO(160, 90, marked), VIDEO(640, 360, 0)), 0);
    assert_int_equal(BY_ITSELF(VIDEO(160, 90, marked), VIDEO(640, 360, 0), VIDEO(320, 180, marked)),
                     2);
    assert_int_equal(BY_ITSELF(VIDEO(640, 360, 0), VIDEO(640, 360, 0)), 0);
    assert_int_equal(BY_ITSELF(COVER, VIDEO(64, 36, 0)), 1);
    assert_int_equal(BY_ITSELF(THUMBNAILS, VIDEO(64, 36, 0)), 1);
}

/* A mark does not help a stream that shows nothing; where none does, the first is as good as any.
 */
TEST(what_cannot_be_decoded_comes_last)
{
    const int marked = AV_DISPOSITION_DEFAULT;
    assert_int_equal(
        BY_ITSELF({AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_NONE, 1920, 1080, marked}, VIDEO(640, 360, 0)),
        1);
    assert_int_equal(BY_ITSELF(VIDEO(0, 0, marked), VIDEO(640, 360, 0)), 1);
    assert_int_equal(BY_ITSELF({AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_NONE, 1920, 1080, 0}), 0);
}

TEST(by_number)
{
    struct err e = ERR_INIT;
    for (int i = 0; i < 2; i++)
        assert_int_equal(CHOOSE(i, &e, COVER, VIDEO(640, 360, 0), SOUND, VIDEO(160, 90, 0)),
                         1 + 2 * i);
    assert_int_equal(CHOOSE(0, &e, SOUND, COVER), 1); /* when there is nothing else */
    assert_int_equal(CHOOSE(2, &e, COVER, VIDEO(640, 360, 0), SOUND, VIDEO(160, 90, 0)), -1);
    assert_string_equal(e.text,
                        "'f.mkv' has 2 video streams, numbered from 0: there is no --stream 2");
    assert_int_equal(e.code, ERR_USAGE);
    err_clear(&e);
    assert_int_equal(CHOOSE(1, &e, VIDEO(640, 360, 0), SOUND), -1);
    assert_string_equal(e.text, "'f.mkv' has one video stream, number 0: there is no --stream 1");
}

TEST(none)
{
    static const int selected[] = {SOURCE_STREAM_CHOICE, 0};
    for (size_t i = 0; i < 2; i++) {
        struct err e = ERR_INIT;
        assert_int_equal(CHOOSE(selected[i], &e, SOUND), -1);
        assert_string_equal(e.text, "'f.mkv' has no video stream, only sound");
        assert_int_equal(e.code, ERR_INPUT);
    }
    assert_int_equal(CHOOSE(SOURCE_STREAM_OR_SOUND, NULL, SOUND, VIDEO(160, 90, 0)), 1);
    struct err e = ERR_INIT;
    assert_int_equal(CHOOSE(SOURCE_STREAM_CHOICE, &e, SOUND, COVER), -1);
    assert_string_equal(e.text, "'f.mkv' has no video stream, only a cover picture");
}

/* Gives the stream a copy of `size` bytes as its side data of type `type`, in the place of what it
 * has. */
static void set_side_data(AVStream *s, enum AVPacketSideDataType type, const void *data,
                          size_t size)
{
#if AV_COMPAT_6_1
    AVCodecParameters *c = s->codecpar;
    AVPacketSideData *side =
        av_packet_side_data_new(&c->coded_side_data, &c->nb_coded_side_data, type, size, 0);
    assert_non_null(side);
    memcpy(side->data, data, size);
#else
    uint8_t *to = av_stream_new_side_data(s, type, size);
    assert_non_null(to);
    memcpy(to, data, size);
#endif
}

/* MaxCLL counts before the display; both are held below PQ's end. */
TEST(by_the_container)
{
    AVFormatContext *format = avformat_alloc_context();
    AVStream *s = format ? avformat_new_stream(format, NULL) : NULL;
    assert_non_null(s);
    struct film f = {.peak = 7};
    film_light_of_stream(s, &f);
    assert_int_equal(f.peak + f.dolby_vision, 0);
    AVMasteringDisplayMetadata display = {.max_luminance = {15000000, 10000}, .has_luminance = 1};
    set_side_data(s, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, &display, sizeof display);
    film_light_of_stream(s, &f);
    assert_int_equal(f.peak, 1500);
    AVContentLightMetadata content = {.MaxCLL = 600};
    set_side_data(s, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, &content, sizeof content);
    film_light_of_stream(s, &f);
    assert_int_equal(f.peak, 600);
    content.MaxCLL = 65535;
    set_side_data(s, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, &content, sizeof content);
    AVDOVIDecoderConfigurationRecord dolby = {.dv_profile = 5};
    set_side_data(s, AV_PKT_DATA_DOVI_CONF, &dolby, sizeof dolby);
    film_light_of_stream(s, &f);
    assert_int_equal(f.peak, 10000);
    assert_int_equal(f.dolby_vision, 5);
    /* Profiles 8 and 10 have a base layer of HDR10 (1), SDR (2) or HLG (4), but 10 may have none.
     */
    static const int profile[][3] = {{8, 1, 0}, {7, 6, 0}, {10, 1, 0}, {10, 4, 0}, {10, 0, 10}};
    for (size_t i = 0; i < sizeof profile / sizeof *profile; i++) {
        dolby = (AVDOVIDecoderConfigurationRecord){.dv_profile = (uint8_t)profile[i][0],
                                                   .dv_bl_signal_compatibility_id =
                                                       (uint8_t)profile[i][1]};
        set_side_data(s, AV_PKT_DATA_DOVI_CONF, &dolby, sizeof dolby);
        film_light_of_stream(s, &f);
        assert_int_equal(f.dolby_vision, profile[i][2]);
    }
    avformat_free_context(format);
}
