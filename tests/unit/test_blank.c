#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "stage/blank.h"

static void packets(void **state)
{
    (void)state;
    uint8_t bytes[100] = {0};
    AVPacket *p = av_packet_alloc();
    assert_non_null(p);
    p->data = bytes;
    p->size = sizeof bytes;
    assert_true(blank_is(AV_CODEC_ID_QTRLE, p));
    assert_true(blank_is(AV_CODEC_ID_DVVIDEO, p));
    /* A black picture; one that changes nothing. */
    assert_false(blank_is(AV_CODEC_ID_RAWVIDEO, p));
    assert_false(blank_is(AV_CODEC_ID_V210, p));
    assert_false(blank_is(AV_CODEC_ID_MSVIDEO1, p));
    p->size = 8;
    assert_false(blank_is(AV_CODEC_ID_QTRLE, p));
    p->size = 0;
    assert_false(blank_is(AV_CODEC_ID_QTRLE, p));
    p->size = sizeof bytes;
    for (size_t i = 0; i < sizeof bytes; i += 33) {
        bytes[i] = 1;
        assert_false(blank_is(AV_CODEC_ID_QTRLE, p));
        bytes[i] = 0;
    }
    av_packet_free(&p);
}

/* A raw picture of a palette has a byte a pixel, or a part of one. */
static void raw_pictures(void **state)
{
    (void)state;
    static const struct { int bits, least; } depth[] = {{8, 13 * 4}, {0, 13 * 4}, {4, 7 * 4}, {2, 4 * 4}, {1, 2 * 4}};
    AVCodecParameters par = {.codec_id = AV_CODEC_ID_RAWVIDEO, .format = AV_PIX_FMT_PAL8, .width = 13, .height = 4};
    AVPacket *p = av_packet_alloc();
    assert_non_null(p);
    for (size_t i = 0; i < sizeof depth / sizeof *depth; i++) {
        par.bits_per_coded_sample = depth[i].bits;
        p->size = depth[i].least;
        assert_false(blank_short(&par, p));
        p->size = depth[i].least - 1;
        assert_true(blank_short(&par, p));
        p->size = 0;
        assert_false(blank_short(&par, p));
    }
    p->size = 1;
    assert_true(blank_short(&par, p));
    par.format = AV_PIX_FMT_RGB24;
    assert_false(blank_short(&par, p));
    par.format = AV_PIX_FMT_PAL8;
    par.codec_id = AV_CODEC_ID_QTRLE;
    assert_false(blank_short(&par, p));
    av_packet_free(&p);
}

static bool endless(const char *bytes, int size)
{
    AVPacket *p = av_packet_alloc();
    assert_non_null(p);
    assert_int_equal(av_new_packet(p, size), 0);
    memcpy(p->data, bytes, (size_t)size);
    bool is = blank_endless(p);
    av_packet_free(&p);
    return is;
}

static void jpegs(void **state)
{
    (void)state;
    assert_true(endless("\xff\xd8\xff\xda scan", 9));
    assert_true(endless("\xff\xd8 a small one \xff\xd9\xff\xda scan", 24));
    assert_false(endless("\xff\xd8\xff\xda scan\xff\xd9", 11));
    assert_false(endless("\xff\xd8\xff\xda scan\xff\xd9\0\0\0", 14));
    assert_false(endless("\xff\xd8", 2));
    assert_false(endless("\xff", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(packets), cmocka_unit_test(raw_pictures), cmocka_unit_test(jpegs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
