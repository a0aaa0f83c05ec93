
#include "test.h"
#include "media/decode/decoder.h"
#include "clip.h"

/* ------------------------------------------------------------------ what is heard */

static void say(AVCodecContext *c, enum AVCodecID codec, int level, const char *format)
{
    c->codec_id = codec;
    corruption_message(c, level, format);
}

TEST(messages)
{
    struct corruption_watch w = {0};
    AVCodecContext *c = avcodec_alloc_context3(NULL);
    assert_non_null(c);
    say(c, AV_CODEC_ID_HEVC, AV_LOG_ERROR, "nobody listens");
    corruption_watch_messages(&w, c);
    assert_false(damage_found(&w, 0));
    assert_true(damage_found(&w, -1));
    assert_false(damage_found(&w, 0));
    say(c, AV_CODEC_ID_HEVC, AV_LOG_WARNING, "odd, but well");
    say(c, AV_CODEC_ID_HEVC, AV_LOG_ERROR, "Invalid setup for format %s: missing configuration.\n");
    say(c, AV_CODEC_ID_H264, AV_LOG_ERROR, "mmco: unref short failure\n");
    say(c, AV_CODEC_ID_H264, AV_LOG_INFO, "conceal");
    assert_false(damage_found(&w, 0));
    say(c, AV_CODEC_ID_HEVC, AV_LOG_ERROR, "CABAC_MAX_BIN : %d\n");
    say(c, AV_CODEC_ID_HEVC, AV_LOG_ERROR, "CABAC_MAX_BIN : %d\n");
    assert_true(damage_found(&w, 0));
    assert_false(damage_found(&w, 0));
    say(c, AV_CODEC_ID_MPEG2VIDEO, AV_LOG_ERROR, "ac-tex damaged at %d %d\n");
    assert_true(damage_found(&w, 0));
    say(c, AV_CODEC_ID_H264, AV_LOG_INFO, "concealing %d DC, %d AC, %d MV errors in %c frame\n");
    assert_true(damage_found(&w, 0));
    /* Of intact films too: Dolby Vision, Axis cameras, old DivX, references that nobody uses. */
    say(c, AV_CODEC_ID_HEVC, AV_LOG_ERROR, "RPU validation failed: 0 <= mapping_idc = %d <= 1\n");
    say(c, AV_CODEC_ID_HEVC, AV_LOG_ERROR, "Could not find ref with POC %d\n");
    assert_true(corruption_has_substitutes(&w));
    assert_false(corruption_has_substitutes(&w));
    say(c, AV_CODEC_ID_H264, AV_LOG_ERROR, "Missing reference picture, default is %d\n");
    assert_true(corruption_has_substitutes(&w));
    say(c, AV_CODEC_ID_AV1, AV_LOG_ERROR, "Unknown Metadata OBU type %d\n");
    say(c, AV_CODEC_ID_MPEG4, AV_LOG_ERROR, "low_delay flag set incorrectly, clearing it\n");
    assert_false(damage_found(&w, 0));
    say(c, AV_CODEC_ID_HEVC, AV_LOG_ERROR, "CABAC_MAX_BIN : %d\n");
    say(c, AV_CODEC_ID_HEVC, AV_LOG_ERROR, "Could not find ref with POC %d\n");
    corruption_reset(&w);
    assert_false(damage_found(&w, 0));
    assert_false(corruption_has_substitutes(&w));
    avcodec_free_context(&c);
}

/* An error counts if the codec's decoder logs errors only for corrupt data, or if it is listed. */
TEST(decoders_whose_errors_mean_corruption)
{
    static const enum AVCodecID codec[] = {AV_CODEC_ID_FFV1, AV_CODEC_ID_DVVIDEO, AV_CODEC_ID_QTRLE,
                                           AV_CODEC_ID_SNOW, AV_CODEC_ID_ZMBV};
    static const enum AVCodecID others[] = {AV_CODEC_ID_MPEG4, AV_CODEC_ID_MJPEG,
                                            AV_CODEC_ID_JPEG2000, AV_CODEC_ID_H264,
                                            AV_CODEC_ID_HEVC};
    struct corruption_watch w = {0};
    AVCodecContext *c = avcodec_alloc_context3(NULL);
    assert_non_null(c);
    corruption_watch_messages(&w, c);
    for (size_t i = 0; i < sizeof codec / sizeof *codec; i++) {
        say(c, codec[i], AV_LOG_ERROR, "slice CRC mismatch %X!");
        assert_true(damage_found(&w, 0));
        say(c, codec[i], AV_LOG_WARNING, "odd, but well");
        assert_false(damage_found(&w, 0));
        say(c, others[i], AV_LOG_ERROR, "discarding %d junk bits at end, next would be %X\n");
        assert_false(damage_found(&w, 0));
    }
    say(c, AV_CODEC_ID_GIF, AV_LOG_ERROR, "LZW decode failed\n");
    assert_true(damage_found(&w, 0));
    avcodec_free_context(&c);
}

/*
 * A complaint is there until damage_found is asked: decoders with threads may have it at any time.
 */
TEST(complaints_are_heard)
{
    struct corruption_watch w = {0};
    AVCodecContext *c = avcodec_alloc_context3(NULL);
    assert_non_null(c);
    corruption_watch_messages(&w, c);
    assert_false(corruption_reported(&w));
    say(c, AV_CODEC_ID_H264, AV_LOG_INFO, "concealing %d DC");
    assert_true(corruption_reported(&w));
    assert_true(corruption_reported(&w));
    assert_true(damage_found(&w, 0));
    assert_false(corruption_reported(&w) || damage_found(&w, 0));
    avcodec_free_context(&c);
}

/* Damage is handed on up to the next key and to what leads it, but not by a picture that nobody
 * refers to. */
TEST(spreading)
{
    enum { KEY = 1, DROPPABLE = 2, LEADS = 4, HURT = 8, SPOILT = 16 };
    static const int step[] = {KEY,
                               DROPPABLE | HURT | SPOILT,
                               0,
                               HURT | SPOILT,
                               DROPPABLE | SPOILT,
                               SPOILT,
                               KEY,
                               LEADS | SPOILT,
                               0,
                               KEY,
                               LEADS,
                               KEY | HURT | SPOILT,
                               LEADS | SPOILT,
                               SPOILT,
                               KEY,
                               0};
    struct corruption_watch w = {0};
    AVPacket *packet = av_packet_alloc();
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        packet->flags = step[i] & KEY ? AV_PKT_FLAG_KEY : 0;
        struct picture p = {
            .packet = packet, .droppable = step[i] & DROPPABLE, .leading = step[i] & LEADS};
        assert_int_equal(corruption_spreads(&w, &p, step[i] & HURT), (step[i] & SPOILT) != 0);
    }
    struct picture p = {.packet = packet};
    packet->flags = 0;
    corruption_is_everywhere(&w);
    assert_true(corruption_spreads(&w, &p, false));
    corruption_reset(&w);
    assert_false(corruption_spreads(&w, &p, false));
    av_packet_free(&packet);
}

/* ------------------------------------------------------------------ what is seen */

TEST_FIXTURE(clip_begin, clip_end)
