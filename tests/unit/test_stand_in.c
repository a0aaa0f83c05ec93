/*
 * test_stand_in.c - the row of grey that HEVC's decoder reads in place of pictures which are not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include "stage/av.h"
#include "clip.h"

static AVFrame *asked_for(enum AVPixelFormat format, int width, int height)
{
    AVFrame *f = av_frame_alloc();
    f->format = format;
    f->width = width;
    f->height = height;
    return f;
}

/* Every sample that a decoder may read is the middle of its range. */
static void is_grey(const AVFrame *f, int plane, int depth)
{
    assert_int_equal(f->linesize[plane], 0);
    for (int x = -100; x < f->width + 100; x++) {
        uint16_t value = 0;
        memcpy(&value, f->data[plane] + (ptrdiff_t)x * (depth > 8 ? 2 : 1), depth > 8 ? 2 : 1);
        assert_int_equal(value, 1 << (depth - 1));
    }
}

static void rows(void **state)
{
    (void)state;
    static const struct {
        enum AVPixelFormat format;
        int depth, planes;
    } kind[] = {{AV_PIX_FMT_YUV420P, 8, 3}, {AV_PIX_FMT_YUV420P10, 10, 3}, {AV_PIX_FMT_YUV444P12, 12, 3}, {AV_PIX_FMT_GRAY8, 8, 1}, {AV_PIX_FMT_GBRP10, 10, 3}};
    struct stand_in s = {0};
    AVFrame *first = NULL;
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        AVFrame *f = asked_for(kind[i].format, 190, 4000), *other = asked_for(kind[i].format, 190, 4000);
        assert_false(stand_in_is(&s, f));
        assert_int_equal(stand_in_lend(&s, f), 0);
        assert_int_equal(stand_in_lend(&s, other), 0);
        for (int p = 0; p < kind[i].planes; p++)
            is_grey(f, p, kind[i].depth);
        for (int p = kind[i].planes; p < AV_NUM_DATA_POINTERS; p++)
            assert_null(f->data[p]);
        assert_ptr_equal(f->buf[0]->data, other->buf[0]->data);
        assert_true(stand_in_is(&s, f) && f->extended_data == f->data && !f->buf[1]);
        av_frame_free(&other);
        if (first)
            av_frame_free(&f);
        else
            first = f;
    }
    is_grey(first, 0, 8);                      /* it keeps the row of its kind, and is no picture still */
    assert_true(stand_in_is(&s, first));
    AVFrame *wider = asked_for(AV_PIX_FMT_GBRP10, 1920, 8);
    assert_int_equal(stand_in_lend(&s, wider), 0);
    is_grey(wider, 2, 10);
    /* Whatever was written there, the next one finds it grey. */
    AVFrame *next = asked_for(AV_PIX_FMT_GBRP10, 1920, 8);
    memset(wider->data[0], 7, 400);
    assert_int_equal(stand_in_lend(&s, next), 0);
    is_grey(next, 1, 10);
    av_frame_free(&next);
    stand_in_close(&s);
    stand_in_close(&s);
    is_grey(wider, 0, 10);
    av_frame_free(&wider);
    av_frame_free(&first);
}

/* What came, from some key on: a sum over each picture; whether pictures stood in for others; refused ones. */
struct came {
    int pictures, errors;
    bool lent;
    uint64_t sum[CLIP_FRAMES];
};

static uint64_t sum_of(const AVFrame *f)
{
    uint64_t sum = 0;
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < f->height >> (p > 0); y++)
            for (int x = 0; x < (f->width >> (p > 0)) * 2; x++)
                sum = sum * 31 + f->data[p][y * f->linesize[p] + x];
    return sum;
}

static void take(AVCodecContext *c, const struct damage_watch *w, AVFrame *frame, struct came *came)
{
    int code;
    while ((code = decoder_receive(c, frame)) >= 0) {
        assert_false(stand_in_is(&w->stand_in, frame));
        came->sum[came->pictures++] = sum_of(frame);
        av_frame_unref(frame);
    }
    came->errors += code == AVERROR_BUG;
}

/* From the key number `from` on. `told`: the watch hears of each packet, as it must. */
static struct came decode_from(const char *name, int from, bool told)
{
    struct came came = {0};
    struct err e = ERR_INIT;
    struct film film;
    AVFormatContext *f = NULL;
    struct damage_watch w = {0};
    assert_true(film_av_open(name, &f, &film, &e));
    AVCodecContext *c = decoder_open(f->streams[film.stream], film.path, 1, &e);
    AVPacket *p = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    assert_true(c && p && frame && damage_watch_open(&w, c, false, &e));
    for (int key = -1; av_read_frame(f, p) >= 0; av_packet_unref(p)) {
        key += (p->flags & AV_PKT_FLAG_KEY) != 0;
        if (key < from)
            continue;
        int code = told ? decoder_send(c, p) : avcodec_send_packet(c, p);
        assert_true(code >= 0);
        if (told)
            assert_false(damage_found(&w, code));
        take(c, &w, frame, &came);
    }
    came.lent = w.stand_in.row != NULL;
    assert_true(decoder_send(c, NULL) >= 0);
    take(c, &w, frame, &came);
    av_frame_free(&frame);
    av_packet_free(&p);
    decoder_close(&c);
    damage_watch_close(&w);
    film_av_close(&f);
    free(film.path);
    return came;
}

static bool make_open_gop(void)
{
    return clip_encode("-c:v libx265 -preset veryfast -pix_fmt yuv420p10le -x265-params log-level=error:pools=1:frame-threads=1:keyint=20:min-keyint=20:open-gop=1:bframes=4:ref=4 open.mkv");
}

/* From a key that names pictures which are not there, what follows is as when they are. */
static void an_open_gop(void **state)
{
    (void)state;
    if (!make_open_gop())
        skip();
    struct came all = decode_from("open.mkv", 0, true);
    assert_int_equal(all.pictures, CLIP_FRAMES);
    int lent = 0;
    for (int from = 1; from < 3; from++) {
        struct came some = decode_from("open.mkv", from, true);
        assert_int_equal(some.errors, 0);
        assert_in_range(some.pictures, 10, CLIP_FRAMES - 10);
        for (int i = 1; i <= some.pictures; i++)
            assert_true(some.sum[some.pictures - i] == all.sum[CLIP_FRAMES - i]);
        lent += some.lent;
    }
    assert_int_equal(lent, 2);
    assert_false(all.lent);
}

/* Were a picture decoded into that row after all, it would not be shown. */
static void never_a_picture(void **state)
{
    (void)state;
    if (!make_open_gop())
        skip();
    struct came came = decode_from("open.mkv", 0, false);
    assert_true(came.errors > 0);
    assert_true(came.pictures < CLIP_FRAMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows), cmocka_unit_test(an_open_gop), cmocka_unit_test(never_a_picture),
    };
    return cmocka_run_group_tests(tests, clip_begin, clip_end);
}
