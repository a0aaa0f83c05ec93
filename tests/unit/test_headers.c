/* test_headers.c - what a key that decoding may start with is given. Headers are the shortest that are believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <libavcodec/packet.h>

#include "nal_bytes.h"
#include "stage/headers.h"

#define SPS 0x67, 66, 0, 30, 0xda, 0x55          /* number 0 */
#define PPS 0x68, 0xce, 0x38                     /* number 0, of SPS 0 */
#define PPS_OTHER 0x68, 0xce, 0x3c
#define PPS_ONE 0x68, 0x5f, 0x80                 /* number 1, of SPS 0 */
#define PPS_LOST 0x68, 0x93, 0x80                /* number 0, of SPS 3, which never came */
#define SLICE 0x65, 0x88, 0x84, 0x21

static struct err e;

static void note(struct headers *h, const struct bytes *b)
{
    assert_true(headers_note(h, b->at, b->n, &e));
}

/* The key `before` must be `after` once it got what it lacks. */
static void gives(struct headers *h, const struct bytes *before, const struct bytes *after)
{
    AVPacket *p = av_packet_alloc();
    assert_non_null(p);
    assert_int_equal(av_new_packet(p, (int)before->n), 0);
    memcpy(p->data, before->at, before->n);
    assert_true(headers_give(h, p, &e));
    assert_int_equal(p->size, after->n);
    assert_memory_equal(p->data, after->at, after->n);
    av_packet_free(&p);
}

static void begin_h264(struct headers *h)
{
    struct bytes extradata = {.n = 0};
    NAL(&extradata, 0, SPS);
    NAL(&extradata, 0, PPS);
    *h = (struct headers){.stream = STREAM_H264};
    assert_true(headers_begin(h, extradata.at, extradata.n, &e));
}

static void films_that_never_change_are_left_alone(void **state)
{
    (void)state;
    struct headers h;
    struct bytes key = {.n = 0}, with = {.n = 0};
    begin_h264(&h);
    NAL(&key, 0, SLICE);
    NAL(&with, 0, SPS);
    NAL(&with, 0, PPS);
    NAL(&with, 0, SLICE);
    gives(&h, &key, &key);
    note(&h, &with);
    gives(&h, &key, &key);
    gives(&h, &with, &with);
    headers_free(&h);
}

static void a_change_is_given_to_the_keys_that_lack_it(void **state)
{
    (void)state;
    struct headers h;
    struct bytes change = {.n = 0}, key = {.n = 0}, full = {.n = 0}, more = {.n = 0}, all = {.n = 0}, own = {.n = 0}, mixed = {.n = 0};
    begin_h264(&h);
    NAL(&change, 0, PPS_OTHER);
    NAL(&change, 0, SLICE);
    NAL(&key, 0, SLICE);
    NAL(&full, 0, SPS);
    NAL(&full, 0, PPS_OTHER);
    NAL(&full, 0, SLICE);
    note(&h, &change);
    gives(&h, &key, &full);
    NAL(&more, 0, PPS_ONE);
    NAL(&more, 0, SLICE);
    note(&h, &more);
    NAL(&all, 0, SPS);
    NAL(&all, 0, PPS_OTHER);
    NAL(&all, 0, PPS_ONE);
    NAL(&all, 0, SLICE);
    gives(&h, &key, &all);
    gives(&h, &all, &all);
    assert_int_equal(h.needed, 2);
    /* All come before its own, in their order: a PPS may go by an SPS that the packet brings. Its slice names what it brings but the SPS. */
    NAL(&own, 0, SPS);
    NAL(&own, 0, PPS);
    NAL(&own, 0, SLICE);
    note(&h, &own);
    NAL(&mixed, 0, SPS);
    NAL(&mixed, 0, PPS);
    NAL(&mixed, 0, PPS_ONE);
    put(&mixed, own.at, own.n);
    gives(&h, &own, &mixed);
    assert_int_equal(h.needed, 2);
    /* New extradata in mid-film: nothing of before is in force. */
    assert_true(headers_begin(&h, key.at, key.n, &e));
    gives(&h, &key, &key);
    headers_free(&h);
}

static void what_is_no_header_is_not_believed(void **state)
{
    (void)state;
    struct headers h;
    struct bytes bad = {.n = 0}, key = {.n = 0};
    begin_h264(&h);
    NAL(&bad, 0, PPS_LOST);
    NAL(&bad, 0, 0x67, 13, 0, 30, 0xda, 0x55);             /* no profile */
    NAL(&bad, 0, SLICE);
    NAL(&bad, 0, PPS_OTHER);                                /* behind a slice */
    NAL(&key, 0, SLICE);
    note(&h, &bad);
    gives(&h, &key, &key);
    headers_free(&h);
}

static void with_lengths(void **state)
{
    (void)state;
    static const uint8_t avcc[] = {1, 66, 0, 30, 0xff, 0xe1, 0, 6, SPS, 1, 0, 3, PPS};
    struct headers h = {.stream = STREAM_H264};
    struct bytes change = {.n = 0}, key = {.n = 0}, full = {.n = 0};
    assert_true(headers_begin(&h, avcc, sizeof avcc, &e));
    NAL(&change, 4, PPS_OTHER);
    NAL(&change, 4, SLICE);
    NAL(&key, 4, SLICE);
    NAL(&full, 4, SPS);
    NAL(&full, 4, PPS_OTHER);
    NAL(&full, 4, SLICE);
    gives(&h, &key, &key);
    note(&h, &change);
    gives(&h, &key, &full);
    headers_free(&h);
}

static void mpeg2(void **state)
{
    (void)state;
    struct headers h = {.stream = STREAM_MPEG2};
    struct bytes one = {.n = 0}, two = {.n = 0}, key = {.n = 0}, full = {.n = 0};
    NAL(&one, 0, 0xb3, 20, 1, 2);
    NAL(&two, 0, 0xb3, 20, 1, 3);
    NAL(&two, 0, 0xb5, 0x14, 0x8a, 7);
    full = two;
    NAL(&key, 0, 0xb8, 0, 8, 1);
    NAL(&key, 0, 0x00, 0, 0x0f, 1);
    NAL(&key, 0, 0x01, 0x13, 1, 1);
    assert_true(headers_begin(&h, one.at, one.n, &e));
    gives(&h, &key, &key);
    put(&two, key.at, key.n);
    put(&full, key.at, key.n);
    note(&h, &two);
    gives(&h, &key, &full);
    gives(&h, &full, &full);
    headers_free(&h);
}

static void other_codecs_say_all_themselves(void **state)
{
    (void)state;
    struct headers h = {.stream = STREAM_VP9};
    struct bytes b = {.n = 0};
    NAL(&b, 0, SPS);
    assert_true(headers_begin(&h, b.at, b.n, &e));
    note(&h, &b);
    gives(&h, &b, &b);
    headers_free(&h);
}

/* What a look at the first bytes of `b` says, however few they are: MORE up to some place, and `seen` from there on. */
static void looks(const struct headers *h, const struct bytes *b, enum headers_seen seen)
{
    size_t told = 0;
    for (size_t n = 0; n <= b->n; n++) {
        struct headers copy = {.stream = h->stream};
        struct bytes extradata = {.n = 0};
        for (size_t i = 0; i < h->count; i++) {
            if (h->stream != STREAM_MPEG2)
                put(&extradata, (const uint8_t[]){0, 0, 1}, 3);
            put(&extradata, h->one[i].data, h->one[i].size);
        }
        assert_true(headers_begin(&copy, extradata.at, extradata.n, &e));
        copy.length_size = h->length_size;
        enum headers_seen now = headers_look(&copy, b->at, n, &e);
        assert_true(now == HEADERS_MORE ? told == 0 : now == seen);
        told += now != HEADERS_MORE;
        headers_free(&copy);
    }
    assert_true(told > 0 || seen == HEADERS_MORE);
}

static const uint8_t rest[40] = {0x65, 0x88, 0x84, 0x21, 9, 8, 7};     /* a slice that is longer than what is asked of it */

static void a_look_at_the_first_bytes(void **state)
{
    (void)state;
    for (int length = 0; length <= 4; length += 4) {
        struct headers h;
        struct bytes own = {.n = 0}, none = {.n = 0}, part = {.n = 0}, empty = {.n = 0};
        begin_h264(&h);
        h.length_size = length;
        NAL(&own, length, 0x09, 0xf0);
        NAL(&own, length, SPS);
        NAL(&own, length, PPS_OTHER);
        nal(&own, length, rest, sizeof rest);
        looks(&h, &own, HEADERS_OWN);
        NAL(&none, length, 0x06, 5, 1, 0, 0x80);
        nal(&none, length, rest, sizeof rest);
        looks(&h, &none, HEADERS_LACKING);
        NAL(&part, length, PPS_OTHER);                 /* its SPS is another packet's */
        nal(&part, length, rest, sizeof rest);
        looks(&h, &part, HEADERS_LACKING);
        NAL(&empty, length, SPS);
        NAL(&empty, length, 0x09, 0xf0);
        looks(&h, &empty, HEADERS_MORE);
        assert_true(headers_look(&h, none.at, none.n, &e) == HEADERS_LACKING && !h.changed);
        assert_true(headers_look(&h, own.at, own.n, &e) == HEADERS_OWN && h.changed);
        headers_free(&h);
    }
}

static void a_look_at_mpeg2(void **state)
{
    (void)state;
    struct headers h = {.stream = STREAM_MPEG2};
    struct bytes one = {.n = 0}, own = {.n = 0}, none = {.n = 0};
    NAL(&one, 0, 0xb3, 20, 1, 2);
    assert_true(headers_begin(&h, one.at, one.n, &e));
    NAL(&own, 0, 0xb3, 20, 1, 3);
    NAL(&own, 0, 0xb5, 0x14, 0x8a, 7);
    NAL(&own, 0, 0xb8, 0, 8, 1);
    NAL(&own, 0, 0x00, 0, 0x0f, 1);
    NAL(&none, 0, 0xb8, 0, 8, 1);
    NAL(&none, 0, 0x00, 0, 0x0f, 1);
    looks(&h, &own, HEADERS_OWN);
    looks(&h, &none, HEADERS_LACKING);
    assert_true(headers_look(&h, none.at, none.n, &e) == HEADERS_LACKING && !h.changed);
    assert_true(headers_look(&h, own.at, own.n, &e) == HEADERS_OWN && h.changed);
    headers_free(&h);
}

static void those_that_hold(void **state)
{
    (void)state;
    struct headers a, b;
    struct bytes more = {.n = 0}, other = {.n = 0};
    begin_h264(&a);
    begin_h264(&b);
    assert_true(headers_hold(&a, &b));
    NAL(&more, 0, PPS_ONE);
    note(&a, &more);
    assert_true(headers_hold(&a, &b) && !headers_hold(&b, &a));
    NAL(&other, 0, PPS_OTHER);
    note(&b, &other);
    assert_true(!headers_hold(&a, &b));
    headers_free(&a);
    headers_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(films_that_never_change_are_left_alone), cmocka_unit_test(a_change_is_given_to_the_keys_that_lack_it),
        cmocka_unit_test(what_is_no_header_is_not_believed),      cmocka_unit_test(with_lengths),
        cmocka_unit_test(mpeg2),                                  cmocka_unit_test(other_codecs_say_all_themselves),
        cmocka_unit_test(a_look_at_the_first_bytes),              cmocka_unit_test(a_look_at_mpeg2),
        cmocka_unit_test(those_that_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
