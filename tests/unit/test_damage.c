#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <libavutil/pixdesc.h>
#include <malloc.h>

#include "stage/av.h"
#include "clip.h"

/* ------------------------------------------------------------------ what is heard */

static void say(AVCodecContext *c, enum AVCodecID codec, int level, const char *format)
{
    c->codec_id = codec;
    damage_message(c, level, format);
}

static void messages(void **state)
{
    (void)state;
    struct damage_watch w = {0};
    AVCodecContext *c = avcodec_alloc_context3(NULL);
    assert_non_null(c);
    say(c, AV_CODEC_ID_HEVC, AV_LOG_ERROR, "nobody listens");
    damage_watch_messages(&w, c);
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
    assert_true(damage_lent(&w));
    assert_false(damage_lent(&w));
    say(c, AV_CODEC_ID_H264, AV_LOG_ERROR, "Missing reference picture, default is %d\n");
    assert_true(damage_lent(&w));
    say(c, AV_CODEC_ID_AV1, AV_LOG_ERROR, "Unknown Metadata OBU type %d\n");
    say(c, AV_CODEC_ID_MPEG4, AV_LOG_ERROR, "low_delay flag set incorrectly, clearing it\n");
    assert_false(damage_found(&w, 0));
    say(c, AV_CODEC_ID_HEVC, AV_LOG_ERROR, "CABAC_MAX_BIN : %d\n");
    say(c, AV_CODEC_ID_HEVC, AV_LOG_ERROR, "Could not find ref with POC %d\n");
    damage_forget(&w);
    assert_false(damage_found(&w, 0));
    assert_false(damage_lent(&w));
    damage_watch_close(&w);
    avcodec_free_context(&c);
}

/* Of codecs whose decoders err on damage alone each error counts, of others those that are listed. */
static void frank_decoders(void **state)
{
    (void)state;
    static const enum AVCodecID frank[] = {AV_CODEC_ID_FFV1, AV_CODEC_ID_DVVIDEO, AV_CODEC_ID_QTRLE, AV_CODEC_ID_SNOW, AV_CODEC_ID_ZMBV};
    static const enum AVCodecID others[] = {AV_CODEC_ID_MPEG4, AV_CODEC_ID_MJPEG, AV_CODEC_ID_JPEG2000, AV_CODEC_ID_H264, AV_CODEC_ID_HEVC};
    struct damage_watch w = {0};
    AVCodecContext *c = avcodec_alloc_context3(NULL);
    assert_non_null(c);
    damage_watch_messages(&w, c);
    for (size_t i = 0; i < sizeof frank / sizeof *frank; i++) {
        say(c, frank[i], AV_LOG_ERROR, "slice CRC mismatch %X!");
        assert_true(damage_found(&w, 0));
        say(c, frank[i], AV_LOG_WARNING, "odd, but well");
        assert_false(damage_found(&w, 0));
        say(c, others[i], AV_LOG_ERROR, "discarding %d junk bits at end, next would be %X\n");
        assert_false(damage_found(&w, 0));
    }
    say(c, AV_CODEC_ID_GIF, AV_LOG_ERROR, "LZW decode failed\n");
    assert_true(damage_found(&w, 0));
    damage_watch_close(&w);
    avcodec_free_context(&c);
}

/* Of a decoder with threads every word counts, but for what each open GOP's begins with. */
static void a_strict_watch(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    struct damage_watch w = {0};
    AVCodecContext *c = avcodec_alloc_context3(NULL);
    assert_non_null(c);
    damage_watch_messages(&w, c);
    assert_true(damage_watch_strictly(&w, c, &e));
    assert_null(w.settle);
    assert_false(damage_doubted(&w, INT64_MAX));
    say(c, AV_CODEC_ID_H264, AV_LOG_ERROR, "mmco: unref short failure\n");
    say(c, AV_CODEC_ID_H264, AV_LOG_VERBOSE, "Increasing reorder buffer to %d\n");
    assert_false(damage_doubted(&w, INT64_MAX) || damage_found(&w, 0));
    static const struct {
        int level;
        const char *text;
    } word[] = {{AV_LOG_INFO, "concealing %d DC"}, {AV_LOG_ERROR, "error while decoding MB %d %d"}, {AV_LOG_WARNING, "odd, but well"}};
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        say(c, AV_CODEC_ID_H264, word[i].level, word[i].text);
        assert_true(damage_doubted(&w, 0));
        assert_true(damage_doubted(&w, 0));      /* until damage_found is asked */
        assert_true(damage_found(&w, 0));
        assert_false(damage_doubted(&w, 0) || damage_found(&w, 0));
    }
    damage_watch_close(&w);
    avcodec_free_context(&c);
}

static AVFrame *marked_picture(int64_t serial, bool whole)
{
    AVFrame *f = av_frame_alloc();
    f->format = AV_PIX_FMT_YUV420P;
    f->width = f->height = 64;
    f->pts = serial;
    assert_int_equal(av_frame_get_buffer(f, 0), 0);
    for (int i = 0; i < AV_NUM_DATA_POINTERS && f->buf[i]; i++)
        memset(f->buf[i]->data, 90, (size_t)f->buf[i]->size);
    if (!whole) {
        f->data[0][8 * f->linesize[0] + 8] = 255;
        f->data[1][4 * f->linesize[1] + 4] = f->data[2][4 * f->linesize[2] + 4] = 0;
    }
    return f;
}

static void add_settling(struct damage_settle *s, int64_t serial, bool whole)
{
    AVFrame *f = marked_picture(serial, whole);
    assert_int_equal(damage_settle_add(s, f), 0);
    av_frame_free(&f);
}

/* A picture is looked at when it is decoded for sure, once, and the first of its packet alone. */
static void settling(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    struct damage_watch w = {.marked = true};
    struct damage_settle *s = damage_settle_open(&e);
    assert_non_null(s);
    add_settling(s, 4, true);
    add_settling(s, 4, false);           /* stands in for a reference */
    add_settling(s, 7, false);
    add_settling(s, 5, true);
    assert_false(damage_settle_look(s, 6, &w));
    assert_true(damage_settle_look(s, 7, &w));
    assert_false(damage_settle_look(s, 7, &w));
    for (int i = 0; i < 500; i++) {
        add_settling(s, i, true);
        if (i < 200)
            assert_false(damage_settle_look(s, i, &w));
    }
    assert_true(damage_settle_look(s, 0, &w));       /* more than it can hold: nobody knows */
    damage_settle_clear(s);
    assert_false(damage_settle_look(s, INT64_MAX, &w));
    add_settling(s, AV_NOPTS_VALUE, true);
    assert_true(damage_settle_look(s, 0, &w));
    damage_settle_free(&s);
    assert_null(s);
    damage_settle_free(&s);
}

/* Damage is handed on up to the next key and to what leads it, but not by a picture that nobody refers to. */
static void spreading(void **state)
{
    (void)state;
    enum { KEY = 1, DROPPABLE = 2, LEADS = 4, HURT = 8, SPOILT = 16 };
    static const int step[] = {KEY, DROPPABLE | HURT | SPOILT, 0, HURT | SPOILT, DROPPABLE | SPOILT, SPOILT, KEY, LEADS | SPOILT, 0,
                               KEY, LEADS, KEY | HURT | SPOILT, LEADS | SPOILT, SPOILT, KEY, 0};
    struct damage_watch w = {0};
    AVPacket *packet = av_packet_alloc();
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        packet->flags = step[i] & KEY ? AV_PKT_FLAG_KEY : 0;
        struct picture p = {.packet = packet, .droppable = step[i] & DROPPABLE, .leading = step[i] & LEADS};
        assert_int_equal(damage_spreads(&w, &p, step[i] & HURT), (step[i] & SPOILT) != 0);
    }
    struct picture p = {.packet = packet};
    packet->flags = 0;
    damage_everywhere(&w);
    assert_true(damage_spreads(&w, &p, false));
    damage_forget(&w);
    assert_false(damage_spreads(&w, &p, false));
    av_packet_free(&packet);
}

/* ------------------------------------------------------------------ what is seen */

/* What a decoder made of the packets: how many were found damaged, and a sum of the pictures' bytes. */
struct made {
    int found, pictures;
    uint64_t sum, black, marks;      /* black and marked samples of luma */
};

static void add_picture(struct made *m, const AVFrame *f)
{
    const AVPixFmtDescriptor *d = av_pix_fmt_desc_get(f->format);
    int step = d->comp[0].step, top = (1 << d->comp[0].depth) - 1;
    m->pictures++;
    for (int y = 0; y < f->height; y++)
        for (int x = 0; x < f->width; x++) {
            uint16_t v = f->data[0][y * f->linesize[0] + x];
            if (step == 2)
                memcpy(&v, f->data[0] + y * f->linesize[0] + 2 * x, 2);
            m->sum = m->sum * 31 + v;
            m->black += v == 16 << (d->comp[0].depth - 8);
            m->marks += v == top;
        }
}

/* Decodes a clip; of every `ruined`th packet, 0: none, only a part is left and the rest is zeros. */
static struct made decode(const char *name, int threads, bool careful, int ruined)
{
    struct made m = {0};
    struct err e = ERR_INIT;
    struct film film;
    AVFormatContext *f = NULL;
    struct damage_watch w = {0};
    assert_true(film_av_open(name, &f, &film, &e));
    AVCodecContext *c = decoder_open(f->streams[film.stream], film.path, threads, &e);
    AVPacket *p = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    assert_true(c && p && frame && damage_watch_open(&w, c, careful, &e));
    for (int n = 1, more = 1; more; n++) {
        more = av_read_frame(f, p) >= 0;
        if (more && ruined > 0 && n % ruined == 0 && p->size > 60)
            memset(p->data + p->size / 3, 0, (size_t)(p->size - p->size / 3));
        m.found += damage_found(&w, avcodec_send_packet(c, more ? p : NULL));
        av_packet_unref(p);
        while (avcodec_receive_frame(c, frame) >= 0) {
            add_picture(&m, frame);
            av_frame_unref(frame);
        }
    }
    m.found += damage_found(&w, 0);
    av_frame_free(&frame);
    av_packet_free(&p);
    avcodec_free_context(&c);
    damage_watch_close(&w);
    avformat_close_input(&f);
    free(film.path);
    return m;
}

static const char *const hevc[] = {"8.mkv", "10.mkv", "444.mkv", "grey.mkv"};

static bool make_hevc(void)
{
    static const char *const format[] = {"yuv420p", "yuv420p10le", "yuv444p", "gray"};
    char line[256];
    for (int i = 0; i < 4; i++) {
        snprintf(line, sizeof line, "-c:v libx265 -preset ultrafast -pix_fmt %s -x265-params log-level=error:wpp=1:pools=2:frame-threads=1:keyint=10:ctu=%d:min-cu-size=8 %s",
                 format[i], 16 << i % 3, hevc[i]);
        if (!clip_encode(line))
            return false;
    }
    return true;
}

/* Intact films: nothing is found, and no mark is left in a picture. */
static void nothing_is_wrong(void **state)
{
    (void)state;
    if (!make_hevc() || !clip_encode("-c:v mpeg4 -bf 2 -q:v 4 asp.avi") || !clip_encode("-c:v mpeg2video -bf 2 -q:v 4 two.mkv") ||
        !clip_encode("-c:v libx264 -preset veryfast -x264-params keyint=20:open-gop=1:bframes=3 avc.mkv"))
        skip();
    static const char *const name[] = {"8.mkv", "10.mkv", "444.mkv", "grey.mkv", "asp.avi", "two.mkv", "avc.mkv"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct made plain = decode(name[i], 1, false, 0);
        assert_int_equal(plain.pictures, CLIP_FRAMES);
        for (int way = 0; way < 3; way++) {
            struct made m = decode(name[i], way == 2 ? 3 : 1, way == 1, 0);
            assert_int_equal(m.found, 0);
            assert_int_equal(m.marks, 0);
            assert_true(m.sum == plain.sum);
        }
    }
}

/* Slices that end early: found, and the careful decoder gives the same whatever the memory held. */
static void unfinished_pictures(void **state)
{
    (void)state;
    if (!make_hevc())
        skip();
    int found = 0;
    uint64_t black = 0;
    for (int i = 0; i < 4; i++) {
        mallopt(M_PERTURB, 0x5a);
        struct made one = decode(hevc[i], 1, true, 17);
        mallopt(M_PERTURB, 0xc3);
        struct made other = decode(hevc[i], 1, true, 17);
        mallopt(M_PERTURB, 0);
        assert_true(one.sum == other.sum);
        assert_int_equal(one.found, other.found);
        assert_int_equal(decode(hevc[i], 1, false, 17).found, one.found);
        found += one.found;
        black += one.black;
    }
    /* Of zeros the decoder may make whole blocks; not of all. */
    assert_in_range(found, 5, 4 * (CLIP_FRAMES / 17 + 1));
    /* What never came shows the picture before it: the film has no black. */
    assert_true(black < 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages), cmocka_unit_test(frank_decoders), cmocka_unit_test(a_strict_watch), cmocka_unit_test(settling), cmocka_unit_test(spreading), cmocka_unit_test(nothing_is_wrong), cmocka_unit_test(unfinished_pictures),
    };
    return cmocka_run_group_tests(tests, clip_begin, clip_end);
}
