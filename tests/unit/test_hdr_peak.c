/*
 * test_hdr_peak.c - how bright a film says it gets: by its container, its first picture.
 */

#include <libavutil/dovi_meta.h>
#include <libavutil/mastering_display_metadata.h>

#include "test.h"
#include "media/container/hdr_metadata.h"
#include "media/ffmpeg/libav.h"
#include "clip.h"

#define X265 \
    "-frames:v 12 -c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -x265-params " \
    "log-level=error:colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc"

/* What the source knows of the film's peak, without a probe and with one. */
static void peaks(const char *name, int before, int after)
{
    struct err e = ERR_INIT;
    struct probe_request request = {.want = PROBE_LIGHT};
    struct probe_facts facts;
    struct source *s = source_open(name, &e);
    assert_non_null(s);
    assert_int_equal(s->film.transfer, TRANSFER_PQ);
    assert_int_equal(s->film.primaries, PRIMARIES_BT2020);
    assert_int_equal(s->film.peak, before);
    assert_true(source_probe(s, &request, &facts, &e));
    assert_int_equal(facts.found, PROBE_LIGHT);
    assert_int_equal(s->film.peak, after);
    /* And it can be looked at again. */
    assert_true(source_probe(s, &request, &facts, &e));
    source_close(&s);
}

TEST(in_films)
{
    if (!clip_encode(X265 ":max-cll=1234,400 said.mp4") ||
        !clip_ffmpeg("-i said.mp4 -c copy said.ts") ||
        !clip_ffmpeg("-i said.mp4 -c copy said.hevc") ||
        !clip_encode(X265 ":hdr10=1:'master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP("
                          "15635,16450)L(20000000,50)' display.mkv") ||
        !clip_encode(X265 " silent.mkv"))
        skip();
    peaks("said.mp4", 0, 1234);
    peaks("said.ts", 0, 1234);
    peaks("said.hevc", 0, 1234);
    peaks("display.mkv", 0, 2000);
    peaks("silent.mkv", 0, 0);
}

/* A recording that begins behind a key frame: nothing can be decoded before the next one. */
TEST(behind_a_key_frame)
{
    if (!clip_encode("-c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -x265-params "
                     "log-level=error:colorprim=bt2020:transfer=smpte2084:"
                     "colormatrix=bt2020nc:keyint=150:min-keyint=150:scenecut=0:repeat-headers=1:"
                     "max-cll=1234,400 whole.ts") ||
        system("tail -c +$((188 * 50 + 1)) whole.ts > behind.ts") != 0)
        skip();
    peaks("behind.ts", 0, 1234);
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

TEST_MAIN(clip_begin, clip_end)
