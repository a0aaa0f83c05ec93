#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nal_bytes.h"
#include "stage/sequence.h"

enum { I = 1, P = 2, B = 3 };
enum { CLOSED = 0x40, BROKEN = 0x20 };

/* A sequence header of this size, with 25 pictures a second; `shape` of a pixel: 1 is square. */
static void header(struct bytes *b, unsigned width, unsigned height, unsigned shape)
{
    PUT(b, 0, 0, 1, 0xb3, (uint8_t)(width >> 4), (uint8_t)(width << 4 | height >> 8), (uint8_t)height, (uint8_t)(shape << 4 | 3), 0xff, 0xff, 0xe0, 0x18);
}

/* MPEG-2's extension; `progressive`, `chroma` (1: 4:2:0) and `low_delay` as H.262 6.2.2.3 has them. */
static void extension(struct bytes *b, unsigned progressive, unsigned chroma, unsigned low_delay)
{
    PUT(b, 0, 0, 1, 0xb5, 0x14, (uint8_t)(0x80 | progressive << 3 | chroma << 1), 0, 1, 0, (uint8_t)(low_delay << 7));
}

static void coded(struct bytes *b, int type)
{
    PUT(b, 0, 0, 1, 0x00, 0, (uint8_t)(type << 3), 0xff, 0xf8, 0, 0, 1, 0x01, 0x2a, 0x55);
}

static void group(struct bytes *b, unsigned flags)
{
    PUT(b, 0, 0, 1, 0xb8, 0, 8, 0, (uint8_t)flags);
}

/* From a block of the packet's exact size, so that the address sanitizer sees a read behind it. */
static struct picture note(struct sequence *s, const struct bytes *b)
{
    struct picture p = {.serial = 1};
    struct nal_info info = scan(STREAM_MPEG2, 0, b);
    uint8_t *copy = malloc(b->n);
    assert_non_null(copy);
    memcpy(copy, b->at, b->n);
    p.cut = info.cut;
    sequence_note(s, copy, b->n, &info, &p);
    free(copy);
    return p;
}

static struct picture key(struct sequence *s, unsigned width, unsigned height, unsigned chroma, unsigned flags)
{
    struct bytes b = {.n = 0};
    header(&b, width, height, 1);
    extension(&b, 1, chroma, 0);
    group(&b, flags);
    coded(&b, I);
    return note(s, &b);
}

static struct picture other(struct sequence *s, int type)
{
    struct bytes b = {.n = 0};
    coded(&b, type);
    return note(s, &b);
}

static void changes_begin_a_sequence(void **state)
{
    (void)state;
    struct sequence s = {.form = 0};
    struct picture p = key(&s, 720, 576, 1, CLOSED);
    assert_true(!p.anew && p.sequence == 0);
    p = key(&s, 720, 576, 1, CLOSED);                   /* said again */
    assert_true(!p.anew && p.sequence == 0);
    p = key(&s, 704, 576, 1, CLOSED);
    assert_true(p.anew && p.sequence == 1 && p.cut == CUT_OPEN);
    p = other(&s, P);
    assert_true(!p.anew && p.sequence == 1);
    p = key(&s, 704, 480, 1, CLOSED);
    assert_true(p.anew && p.sequence == 2);
    p = key(&s, 704, 480, 2, CLOSED);                   /* 4:2:2 */
    assert_true(p.anew && p.sequence == 3);
}

/* Without its extension the header is MPEG-1's. */
static void standards_and_delays_count(void **state)
{
    (void)state;
    struct sequence s = {.form = 0};
    for (unsigned i = 0; i < 4; i++) {
        struct bytes b = {.n = 0};
        header(&b, 352, 288, 1);
        if (i > 0)
            extension(&b, i == 3, 1, i == 2);
        coded(&b, I);
        struct picture p = note(&s, &b);
        assert_int_equal(p.sequence, i > 2 ? 3 : i);
        assert_int_equal(p.cut, CUT_OPEN * (i > 0));    /* without a group's header, too */
    }
}

/* 288 lines are 18 macroblocks, 240 are 15: only of these do fields need one more. */
static void interlacing_counts_where_fields_need_more_rows(void **state)
{
    (void)state;
    for (unsigned height = 240; height <= 288; height += 48) {
        struct sequence s = {.form = 0};
        for (unsigned i = 0; i < 2; i++) {
            struct bytes b = {.n = 0};
            header(&b, 352, height, 1);
            extension(&b, i, 1, 0);
            coded(&b, I);
            struct picture p = note(&s, &b);
            assert_int_equal(p.anew, i == 1 && height == 240);
        }
    }
}

/* A header without a picture, or in front of one that is no key, and one without a size. */
static void headers_elsewhere(void **state)
{
    (void)state;
    struct sequence s = {.form = 0};
    key(&s, 720, 576, 1, CLOSED);
    struct bytes alone = {.n = 0}, nothing = {.n = 0}, with_p = {.n = 0};
    header(&alone, 352, 288, 1);
    extension(&alone, 1, 1, 0);
    assert_false(note(&s, &alone).anew);
    assert_true(other(&s, P).anew);
    assert_false(other(&s, P).anew);
    header(&nothing, 0, 288, 1);
    coded(&nothing, I);
    assert_false(note(&s, &nothing).anew);
    header(&with_p, 720, 576, 1);
    coded(&with_p, P);
    struct picture p = note(&s, &with_p);
    assert_true(p.anew && p.cut == CUT_NONE);
}

static void what_leads_a_sequence(void **state)
{
    (void)state;
    static const unsigned flags[] = {0, CLOSED, BROKEN};
    for (size_t i = 0; i < 3; i++) {
        struct sequence s = {.form = 0};
        key(&s, 720, 576, 1, flags[i]);
        struct picture p = other(&s, B);                /* the film's beginning is not for us to judge */
        assert_true(!p.orphan && !p.hidden);
        key(&s, 704, 576, 1, flags[i]);
        p = other(&s, B);
        assert_int_equal(p.orphan, flags[i] == 0);
        assert_int_equal(p.hidden, flags[i] == BROKEN);
        other(&s, P);
        p = other(&s, B);
        assert_true(!p.orphan && !p.hidden);
    }
}

static void pixels_become_square(void **state)
{
    (void)state;
    struct sequence s = {.form = 0};
    struct bytes wide = {.n = 0}, square = {.n = 0};
    header(&wide, 720, 576, 3);
    extension(&wide, 0, 1, 0);
    coded(&wide, I);
    PUT(&wide, 0, 0, 1, 0xb3, 0x2d, 0x02, 0x40, 0x33);  /* behind the picture's header: none of ours */
    header(&square, 720, 576, 1);
    extension(&square, 0, 1, 0);
    coded(&square, I);
    PUT(&square, 0, 0, 1, 0xb3, 0x2d, 0x02, 0x40, 0x33);
    assert_false(note(&s, &square).shaped);
    struct picture p = note(&s, &wide);
    assert_true(p.shaped && p.anew);
    assert_true(note(&s, &square).shaped);              /* its key may be given the header that was in force (headers.h) */
    assert_true(sequence_is_shaped(wide.at, wide.n));
    sequence_square(wide.at, wide.n);
    assert_false(sequence_is_shaped(wide.at, wide.n));
    assert_memory_equal(wide.at, square.at, square.n);
}

/* Cut anywhere, it is read no further than it goes. */
static void torn_packets(void **state)
{
    (void)state;
    struct bytes whole = {.n = 0};
    header(&whole, 720, 576, 3);
    extension(&whole, 0, 1, 0);
    coded(&whole, I);
    for (size_t n = 1; n < whole.n; n++) {
        struct sequence s = {.form = 0};
        struct bytes part = whole;
        part.n = n;
        note(&s, &part);
        uint8_t *copy = malloc(n);
        assert_non_null(copy);
        memcpy(copy, whole.at, n);
        sequence_square(copy, n);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_begin_a_sequence), cmocka_unit_test(standards_and_delays_count),
        cmocka_unit_test(interlacing_counts_where_fields_need_more_rows), cmocka_unit_test(headers_elsewhere),
        cmocka_unit_test(what_leads_a_sequence), cmocka_unit_test(pixels_become_square), cmocka_unit_test(torn_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
