/*
 * test_nvdec_check.c - pictures of two decoders compared; a session's that are wrong, on software that stands in (nvdec.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>
#include "clip.h"
#include "stage/nvdec_check.h"

enum { W = 6, H = 4 };

/* 10 bits: one plane a component, low in the word, or as NV12's kin with the bits high. */
static struct frame_view view_wide(uint16_t *at, bool high)
{
    struct frame_view v = {.model = MODEL_YCBCR, .matrix = MATRIX_BT709, .range = RANGE_LIMITED, .bits = 10, .shift = high ? 6 : 0,
                           .width = W, .height = H};
    v.plane[0] = (struct plane){(const uint8_t *)at, W * 2, 2, W, H};
    for (int i = 1; i < 3; i++) {
        uint16_t *chroma = at + W * H + (high ? i - 1 : (i - 1) * W / 2 * H / 2);
        v.plane[i] = (struct plane){(const uint8_t *)chroma, high ? W * 2 : W, high ? 4 : 2, W / 2, H / 2};
    }
    for (int i = 0; i < 3; i++)
        for (int y = 0; y < v.plane[i].height; y++)
            for (int x = 0; x < v.plane[i].width; x++) {
                uint16_t *sample = (uint16_t *)(uintptr_t)(v.plane[i].data + y * v.plane[i].pitch + x * v.plane[i].step);
                *sample = (uint16_t)((500 + 100 * i + 10 * y + x) << v.shift);
            }
    return v;
}

static void every_sample_counts(void **state)
{
    (void)state;
    uint16_t low[W * H * 2] = {0}, high[W * H * 2] = {0};
    struct frame_view a = view_wide(low, false), b = view_wide(high, true);
    assert_int_equal(nvdec_check_difference(&a, &b), 0);
    for (size_t i = 0; i < W * H + W / 2 * H / 2 * 2; i++) {      /* each luma sample, each of the two chromas */
        low[i] ^= 5;
        unsigned d = nvdec_check_difference(&a, &b);
        assert_in_range(d, 1, 5);
        low[i] ^= 5;
    }
    high[W * H + 1] ^= 1 << 15;
    assert_int_equal(nvdec_check_difference(&a, &b), 512);
}

/* Bytes, as three planes and as NV12, of rows that are longer than what is compared at a time: a wrong one is found wherever it is. */
static void long_rows(void **state)
{
    (void)state;
    enum { LONG = 523, HIGH = 3, HALF = (LONG + 1) / 2 };
    uint8_t planes[LONG * HIGH + 2 * HALF * 2], mixed[LONG * HIGH + 2 * HALF * 2];
    struct frame_view a = {.model = MODEL_YCBCR, .bits = 8, .width = LONG, .height = HIGH}, b = a;
    for (size_t i = 0; i < sizeof planes; i++)
        planes[i] = (uint8_t)(i * 7);
    memcpy(mixed, planes, LONG * HIGH);
    a.plane[0] = (struct plane){planes, LONG, 1, LONG, HIGH};
    b.plane[0] = (struct plane){mixed, LONG, 1, LONG, HIGH};
    for (int i = 1; i < 3; i++) {
        const uint8_t *own = planes + LONG * HIGH + (i - 1) * HALF * 2;
        a.plane[i] = (struct plane){own, HALF, 1, HALF, 2};
        b.plane[i] = (struct plane){mixed + LONG * HIGH + i - 1, 2 * HALF, 2, HALF, 2};
        for (int k = 0; k < HALF * 2; k++)
            mixed[LONG * HIGH + 2 * k + i - 1] = own[k];
    }
    assert_int_equal(nvdec_check_difference(&a, &b), 0);
    for (size_t i = 0; i < sizeof mixed; i++) {
        uint8_t was = mixed[i];
        mixed[i] = (uint8_t)(was < 128 ? was + 100 : was - 100);
        assert_int_equal(nvdec_check_difference(&a, &b), 100);
        mixed[i] = was;
    }
}

static void other_shapes(void **state)
{
    (void)state;
    uint16_t low[W * H * 2] = {0}, high[W * H * 2] = {0};
    const struct frame_view a = view_wide(low, false), b = view_wide(high, true);
    struct frame_view c = b;
    c.width--;
    assert_int_equal(nvdec_check_difference(&a, &c), UINT_MAX);
    c = b;
    c.plane[1].height--;
    assert_int_equal(nvdec_check_difference(&a, &c), UINT_MAX);
    c = b;
    c.matrix = MATRIX_BT601;
    assert_int_equal(nvdec_check_difference(&a, &c), UINT_MAX);
    c = b;
    c.range = RANGE_FULL;
    assert_int_equal(nvdec_check_difference(&a, &c), UINT_MAX);
    c = b;
    c.bits = 8;
    assert_int_equal(nvdec_check_difference(&a, &c), UINT_MAX);
}

static struct staged stage(const char *hook, enum decode_choice decode)
{
    struct selection rule = every(3);
    setenv("BARCODE_NVDEC", hook, 1);
    clip_decode = decode;
    struct staged r = clip_stage("clip.mkv", DECODE_PARALLEL, 1, &rule);
    clip_decode = DECODE_AUTO;
    assert_true(r.fine);
    return r;
}

static void wrong_pictures(void **state)
{
    (void)state;
    if (!clip_encode("-c:v libx264 -preset veryfast -x264-params keyint=12:min-keyint=12:bframes=3 clip.mkv"))
        skip();
    static const struct {
        const char *hook;
        enum decode_choice decode;
        bool distrusted, unlike;
    } cases[] = {
        {"software", DECODE_AUTO, false, false}, {"software", DECODE_NVDEC, false, false},
        {"software,wrong", DECODE_AUTO, true, false}, {"software,wrong", DECODE_NVDEC, false, true},
        {"software,wrong", DECODE_CPU, false, false}, {"software,wrong,unchecked", DECODE_NVDEC, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct staged r = stage(cases[i].hook, cases[i].decode);
        assert_int_equal(r.counts.distrusted, cases[i].distrusted);
        assert_int_equal(r.counts.unlike, cases[i].unlike);
        assert_int_equal(stage_must_start_over(&r.counts), cases[i].distrusted);
        staged_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_counts), cmocka_unit_test(long_rows), cmocka_unit_test(other_shapes), cmocka_unit_test(wrong_pictures),
    };
    return cmocka_run_group_tests(tests, clip_begin, clip_end);
}
