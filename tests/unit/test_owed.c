#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nal_bytes.h"
#include "stage/av.h"

static bool owed(enum AVCodecID id, struct bytes *b, struct picture p)
{
    AVCodecParameters par = {.codec_id = id};
    AVStream stream = {.codecpar = &par};
    struct demux r = {.stream = &stream};
    AVPacket *packet = av_packet_alloc();
    assert_non_null(packet);
    packet->data = b->at;
    packet->size = (int)b->n;
    bool is = owed_is(&r, packet, &p);
    av_packet_free(&packet);
    return is;
}

static void codecs(void **state)
{
    (void)state;
    struct bytes b = {.n = 100};
    assert_true(owed(AV_CODEC_ID_MPEG2VIDEO, &b, (struct picture){.serial = 1}));
    assert_true(owed(AV_CODEC_ID_MJPEG, &b, (struct picture){.serial = 1}));
    assert_false(owed(AV_CODEC_ID_CINEPAK, &b, (struct picture){.serial = 1}));      /* it may say: as before */
}

static void pictures_that_do_not_come(void **state)
{
    (void)state;
    struct bytes b = {.n = 100};
    assert_false(owed(AV_CODEC_ID_H264, &b, (struct picture){.hidden = true}));
    assert_false(owed(AV_CODEC_ID_H264, &b, (struct picture){.field = true}));
    assert_false(owed(AV_CODEC_ID_H264, &b, (struct picture){.empty = true}));
}

/* A VOP that is not coded stands for a picture that was dropped, and zeros behind it are padding. */
static void vops(void **state)
{
    (void)state;
    struct bytes dropped = {.n = 0}, coded = {.n = 0}, none = {.n = 0};
    PUT(&dropped, 0, 0, 1, 0xb6, 0x50, 0x5f);
    dropped.n += 40;
    assert_false(owed(AV_CODEC_ID_MPEG4, &dropped, (struct picture){.serial = 1}));
    PUT(&coded, 0, 0, 1, 0xb2, 'X', 'v', 'i', 'D', 0, 0, 1, 0xb6, 0x50);
    memset(coded.at + coded.n, 0x5f, 40);
    coded.n += 40;
    assert_true(owed(AV_CODEC_ID_MPEG4, &coded, (struct picture){.serial = 1}));
    PUT(&none, 0, 0, 1, 0xb2, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r');
    assert_false(owed(AV_CODEC_ID_MPEG4, &none, (struct picture){.serial = 1}));
}

/* At a film's beginning B pictures may refer to what an editor left out. */
static void what_leads_the_first_key(void **state)
{
    (void)state;
    struct bytes vop = {.n = 0}, b = {.n = 0}, key = {.n = 0};
    PUT(&vop, 0, 0, 1, 0xb6, 0x90);
    memset(vop.at + vop.n, 0x5f, 40);
    vop.n += 40;
    assert_false(owed(AV_CODEC_ID_MPEG4, &vop, (struct picture){.serial = 2}));
    assert_true(owed(AV_CODEC_ID_MPEG4, &vop, (struct picture){.serial = 20}));
    PUT(&b, 0, 0, 1, 0x00, 0x00, 0x58, 0xff, 0xff);
    PUT(&key, 0, 0, 1, 0xb3, 1, 2, 3, 4, 0, 0, 1, 0x00, 0x00, 0x48, 0xff);
    for (int mpeg2 = 0; mpeg2 < 2; mpeg2++) {
        enum AVCodecID id = mpeg2 ? AV_CODEC_ID_MPEG2VIDEO : AV_CODEC_ID_MPEG1VIDEO;
        assert_false(owed(id, &b, (struct picture){.serial = 2}));
        assert_true(owed(id, &b, (struct picture){.serial = 20}));
        assert_true(owed(id, &key, (struct picture){.serial = 0}));
    }
    assert_false(owed(AV_CODEC_ID_H264, &key, (struct picture){.serial = 2, .droppable = true}));
}

static void rubbish(void **state)
{
    (void)state;
    struct demux r = {.traits = run_traits(STREAM_AV1)};
    struct nal_info shown = {.picture = true, .shown = true}, not_shown = {.picture = true}, none = {.unreadable = true};
    struct picture p = {.serial = 5};
    assert_false(owed_is_rubbish(&r, &p, &shown));
    assert_true(owed_is_rubbish(&r, &p, &not_shown));
    r.traits = run_traits(STREAM_VP9);
    assert_false(owed_is_rubbish(&r, &p, &not_shown));
    r.unreadable = 1;
    assert_true(owed_is_rubbish(&r, &p, &not_shown));
    r.traits = run_traits(STREAM_MPEG2);
    assert_true(owed_is_rubbish(&r, &p, &none));
    none.picture = true;
    assert_true(owed_is_rubbish(&r, &p, &none));
    p.serial = 0;                            /* the rest of a picture in front of the film's first one */
    assert_false(owed_is_rubbish(&r, &p, &none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codecs), cmocka_unit_test(pictures_that_do_not_come), cmocka_unit_test(vops), cmocka_unit_test(what_leads_the_first_key), cmocka_unit_test(rubbish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
