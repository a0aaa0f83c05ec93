#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(packets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
