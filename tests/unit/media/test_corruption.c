
#include "test.h"
#include "media/container/open.h"
#include "media/decode/decoder.h"
#include "film_pass.h"

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

/* Decodes a clip as a session does; returns how many packets were found damaged. */
static int count_damaged(const char *name, int threads)
{
    struct err e = ERR_INIT;
    struct film film;
    AVFormatContext *f = NULL;
    struct corruption_watch w = {0};
    int found = 0, frames = 0;
    assert_true(container_open(name, SOURCE_STREAM_CHOICE, &f, &film, &e));
    AVCodecContext *c = decoder_open(f->streams[film.stream], film.path, threads, &e);
    AVPacket *p = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    assert_true(c && p && frame);
    corruption_watch_open(&w, c);
    for (bool more = true; more;) {
        more = container_read(f, p) >= 0;
        found += damage_found(&w, avcodec_send_packet(c, more ? p : NULL));
        av_packet_unref(p);
        for (; avcodec_receive_frame(c, frame) >= 0; frames++)
            av_frame_unref(frame);
    }
    found += damage_found(&w, 0);
    assert_int_equal(frames, CLIP_FRAMES);
    av_frame_free(&frame);
    av_packet_free(&p);
    avcodec_free_context(&c);
    container_close(&f);
    free(film.path);
    return found;
}

static const char *const hevc[] = {"8.mkv", "10.mkv", "444.mkv", "grey.mkv"};

static bool make_hevc(void)
{
    static const char *const format[] = {"yuv420p", "yuv420p10le", "yuv444p", "gray"};
    char line[256];
    for (int i = 0; i < 4; i++) {
        snprintf(line, sizeof line,
                 "-c:v libx265 -preset ultrafast -pix_fmt %s -x265-params "
                 "log-level=error:wpp=1:pools=2:frame-threads=1:keyint=10:ctu=%d:min-cu-size=8 %s",
                 format[i], 16 << i % 3, hevc[i]);
        if (!clip_encode(line))
            return false;
    }
    return true;
}

/* Nothing is found in films without damage. */
TEST(nothing_is_wrong)
{
    if (!make_hevc() || !clip_encode("-c:v mpeg4 -bf 2 -q:v 4 asp.avi") ||
        !clip_encode("-c:v mpeg2video -bf 2 -q:v 4 two.mkv") ||
        !clip_encode(
            "-c:v libx264 -preset veryfast -x264-params keyint=20:open-gop=1:bframes=3 avc.mkv"))
        skip();
    static const char *const name[] = {"8.mkv",   "10.mkv",  "444.mkv", "grey.mkv",
                                       "asp.avi", "two.mkv", "avc.mkv"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        for (int threads = 1; threads <= 3; threads += 2)
            assert_int_equal(count_damaged(name[i], threads), 0);
}

TEST_FIXTURE(clip_begin, clip_end)
