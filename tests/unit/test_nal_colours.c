#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "nal_bytes.h"

/* ------------------------------------------------------------------ headers, bit by bit */

struct bits {
    uint8_t at[512];
    size_t n;
};

static void u(struct bits *b, int count, uint32_t value)
{
    for (int i = count - 1; i >= 0; i--, b->n++)
        b->at[b->n / 8] = (uint8_t)(b->at[b->n / 8] | (value >> i & 1) << (7 - b->n % 8));
}

static void ue(struct bits *b, uint32_t value)
{
    int length = 0;
    while ((value + 1) >> (length + 1))
        length++;
    u(b, length, 0);
    u(b, length + 1, value + 1);
}

static void se(struct bits *b, int value)
{
    ue(b, value > 0 ? (uint32_t)value * 2 - 1 : (uint32_t)-value * 2);
}

/* Ends a NAL and puts it into the packet with its emulation prevention bytes. */
static void put_nal(struct bytes *packet, int length_size, struct bits *b)
{
    uint8_t out[1024];
    size_t n = 0, zeros = 0;
    u(b, 1, 1);
    for (size_t i = 0; i < (b->n + 7) / 8; i++) {
        if (zeros == 2 && b->at[i] <= 3) {
            out[n++] = 3;
            zeros = 0;
        }
        zeros = b->at[i] ? 0 : zeros + 1;
        out[n++] = b->at[i];
    }
    nal(packet, length_size, out, n);
}

/* What an SPS may hold before its VUI. */
struct sps {
    unsigned profile, id, chroma, order, cycle;
    bool lists, fields, crop;
    bool vui, aspect, overscan, range, matrix;
};

static void write_lists(struct bits *b, unsigned chroma)
{
    for (int i = 0; i < (chroma == 3 ? 12 : 8); i++) {
        u(b, 1, i % 3 != 1);
        if (i % 3 == 0) {
            int size = i < 6 ? 16 : 64;
            for (int j = 0; j < size; j++)
                se(b, j % 2 ? -3 : 4);
        } else if (i % 3 == 2) {
            se(b, 5);                       /* 13, and then 0: the rest is as it was */
            se(b, -13);
        }
    }
}

static void write_sps(struct bytes *packet, int length_size, const struct sps *s)
{
    struct bits b = {0};
    u(&b, 8, 0x67);
    u(&b, 8, s->profile);
    u(&b, 16, 40);
    ue(&b, s->id);
    if (s->profile >= 100) {
        ue(&b, s->chroma);
        if (s->chroma == 3)
            u(&b, 1, 0);
        ue(&b, 2), ue(&b, 2), u(&b, 1, 0), u(&b, 1, s->lists);
        if (s->lists)
            write_lists(&b, s->chroma);
    }
    ue(&b, 5), ue(&b, s->order);
    if (s->order == 0)
        ue(&b, 4);
    if (s->order == 1) {
        u(&b, 1, 0), se(&b, -7), se(&b, 9), ue(&b, s->cycle);
        for (unsigned i = 0; i < s->cycle; i++)
            se(&b, (int)i - 2);
    }
    ue(&b, 4), u(&b, 1, 0), ue(&b, 119), ue(&b, 67), u(&b, 1, !s->fields);
    if (s->fields)
        u(&b, 1, 1);
    u(&b, 1, 1), u(&b, 1, s->crop);
    for (int i = 0; s->crop && i < 4; i++)
        ue(&b, (unsigned)i);
    u(&b, 1, s->vui);
    if (s->vui) {
        u(&b, 1, s->aspect);
        if (s->aspect)
            u(&b, 8, 255), u(&b, 32, 0x00010001);
        u(&b, 1, s->overscan);
        if (s->overscan)
            u(&b, 1, 1);
        u(&b, 1, s->range);
        if (s->range)
            u(&b, 3, 5), u(&b, 1, 0), u(&b, 1, s->matrix);
        if (s->range && s->matrix)
            u(&b, 24, 0x010101);
    }
    put_nal(packet, length_size, &b);
}

static void write_pps(struct bytes *packet, int length_size, unsigned id, unsigned sps)
{
    struct bits b = {0};
    u(&b, 8, 0x68), ue(&b, id), ue(&b, sps), u(&b, 2, 0);
    put_nal(packet, length_size, &b);
}

static void write_slice(struct bytes *packet, int length_size, unsigned pps)
{
    struct bits b = {0};
    u(&b, 8, 0x65), ue(&b, 0), ue(&b, 7), ue(&b, pps), u(&b, 32, 0x12345678);
    put_nal(packet, length_size, &b);
}

/* Scanned from a block of its exact size, for the address sanitizer. */
static void take(enum bitstream kind, int length_size, const struct bytes *b, size_t n, struct nal_colours *c)
{
    uint8_t *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, b->at, n);
    nal_scan_colours(kind, length_size, copy, n, c);
    free(copy);
}

/* ------------------------------------------------------------------ H.264 */

static void every_kind_of_sps(void **state)
{
    (void)state;
    static const unsigned profiles[] = {66, 77, 100, 110, 122, 244};
    for (unsigned i = 0; i < 6 * 4096; i++) {
        struct sps s = {.profile = profiles[i % 6], .id = i / 6 & 1 ? 31 : 0, .chroma = i / 12 & 1 ? 3 : 1, .lists = i / 24 & 1,
                        .order = i / 48 % 3, .cycle = i / 48 % 4, .fields = i / 192 & 1, .crop = i / 384 & 1, .vui = i / 768 & 1,
                        .aspect = i / 1536 & 1, .overscan = i / 3072 & 1, .range = i / 6144 & 1, .matrix = i / 12288 & 1};
        struct bytes b = {.n = 0};
        struct nal_colours c = {0};
        write_sps(&b, 4, &s);
        write_pps(&b, 4, 3, s.id);
        write_slice(&b, 4, 3);
        take(STREAM_H264, 4, &b, b.n, &c);
        if (c.unsaid.range != !(s.vui && s.range) || c.unsaid.matrix != !(s.vui && s.range && s.matrix))
            fail_msg("SPS %u: range %s, matrix %s", i, c.unsaid.range ? "unsaid" : "said", c.unsaid.matrix ? "unsaid" : "said");
    }
}

/* A picture goes by the SPS that its PPS names, until either is sent anew. */
static void the_picture_s_own_sets(void **state)
{
    (void)state;
    const struct sps silent = {.profile = 100, .id = 1, .chroma = 1},
                     says = {.profile = 100, .id = 2, .chroma = 1, .vui = true, .range = true, .matrix = true},
                     range = {.profile = 100, .id = 1, .chroma = 1, .vui = true, .range = true};
    struct nal_colours c = {0};
    struct bytes b = {.n = 0};
    write_slice(&b, 0, 0);                    /* nothing seen yet: the decoder knows more */
    take(STREAM_H264, 0, &b, b.n, &c);
    assert_false(c.unsaid.matrix || c.unsaid.range);
    b.n = 0;
    write_sps(&b, 0, &silent);
    write_sps(&b, 0, &says);
    write_pps(&b, 0, 0, 1);
    write_pps(&b, 0, 255, 2);
    take(STREAM_H264, 0, &b, b.n, &c);
    const struct { unsigned pps; bool unsaid; } slices[] = {{0, true}, {255, false}, {0, true}, {255, false}};
    for (size_t i = 0; i < 4; i++) {
        b.n = 0;
        write_slice(&b, 0, slices[i].pps);
        take(STREAM_H264, 0, &b, b.n, &c);
        assert_int_equal(c.unsaid.matrix, slices[i].unsaid);
        assert_int_equal(c.unsaid.range, slices[i].unsaid);
    }
    b.n = 0;
    write_sps(&b, 0, &range);
    write_slice(&b, 0, 0);
    take(STREAM_H264, 0, &b, b.n, &c);
    assert_true(c.unsaid.matrix);
    assert_false(c.unsaid.range);
    b.n = 0;
    write_pps(&b, 0, 0, 2);
    write_slice(&b, 0, 0);
    take(STREAM_H264, 0, &b, b.n, &c);
    assert_false(c.unsaid.matrix || c.unsaid.range);
    b.n = 0;
    write_slice(&b, 0, 77);                   /* a PPS that never came */
    take(STREAM_H264, 0, &b, b.n, &c);
    assert_false(c.unsaid.matrix || c.unsaid.range);
}

static void extradata(void **state)
{
    (void)state;
    const struct sps silent = {.profile = 100, .chroma = 1, .vui = true};
    struct bytes head = {.n = 0}, b = {.n = 0}, plain = {.n = 0};
    PUT(&head, 1, 100, 0, 40, 0xff, 0xe1);
    write_sps(&head, 2, &silent);
    PUT(&head, 1);
    write_pps(&head, 2, 0, 0);
    write_sps(&plain, 0, &silent);
    write_pps(&plain, 0, 0, 0);
    write_slice(&b, 4, 0);
    for (int i = 0; i < 2; i++) {
        const struct bytes *extra = i ? &plain : &head;
        struct nal_colours c = {0};
        nal_extradata_colours(STREAM_H264, extra->at, extra->n, &c);
        take(STREAM_H264, 4, &b, b.n, &c);
        assert_true(c.unsaid.matrix && c.unsaid.range);
        for (size_t n = 0; n < extra->n; n++) {
            uint8_t *copy = malloc(n ? n : 1);
            assert_non_null(copy);
            memcpy(copy, extra->at, n);
            nal_extradata_colours(STREAM_H264, copy, n, &(struct nal_colours){0});
            free(copy);
        }
    }
    nal_extradata_colours(STREAM_H264, NULL, 0, &(struct nal_colours){0});
}

/* ------------------------------------------------------------------ MPEG-2, others */

static void mpeg2(void **state)
{
    (void)state;
    struct nal_colours c = {0};
    struct bytes b = {.n = 0};
    PUT(&b, 0, 0, 1, 0x00, 0x00, 0x0f, 0xff, 0, 0, 1, 0x01, 0x22, 0x22);      /* a picture alone */
    take(STREAM_MPEG2, 0, &b, b.n, &c);
    assert_false(c.unsaid.matrix);
    struct bytes bare = {.n = 0}, full = {.n = 0};
    PUT(&bare, 0, 0, 1, 0xb3, 0x14, 0x00, 0xb4, 0x23, 0, 0, 1, 0xb5, 0x14, 0x82, 0x00, 0x01);
    full = bare;
    PUT(&bare, 0, 0, 1, 0xb5, 0x22, 0x14, 0x00, 0xb4);                         /* a display extension without colours */
    PUT(&full, 0, 0, 1, 0xb5, 0x23, 0x06, 0x06, 0x06);
    for (int i = 0; i < 4; i++) {
        struct bytes *head = i % 2 ? &full : &bare;
        take(STREAM_MPEG2, 0, head, head->n, &c);
        take(STREAM_MPEG2, 0, &b, b.n, &c);
        assert_int_equal(c.unsaid.matrix, i % 2 == 0);
        assert_false(c.unsaid.range);
    }
}

static void others_say_all(void **state)
{
    (void)state;
    static const enum bitstream kinds[] = {STREAM_OTHER, STREAM_HEVC, STREAM_VP8, STREAM_VP9, STREAM_AV1};
    const struct sps silent = {.profile = 100, .chroma = 1};
    struct bytes b = {.n = 0};
    write_sps(&b, 4, &silent);
    write_pps(&b, 4, 0, 0);
    write_slice(&b, 4, 0);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct nal_colours c = {0};
        take(kinds[i], 4, &b, b.n, &c);
        nal_extradata_colours(kinds[i], b.at, b.n, &c);
        assert_false(c.unsaid.matrix || c.unsaid.range);
    }
}

/* Cut anywhere, and with any bytes: nothing is read behind the end, and every loop ends. */
static void nonsense(void **state)
{
    (void)state;
    const struct sps long_one = {.profile = 244, .id = 31, .chroma = 3, .lists = true, .order = 1, .cycle = 3, .vui = true, .aspect = true};
    struct bytes b = {.n = 0};
    write_sps(&b, 0, &long_one);
    write_pps(&b, 0, 200, 31);
    write_slice(&b, 0, 200);
    uint32_t z = 1;
    for (size_t n = 0; n <= b.n; n++) {
        for (int kind = STREAM_OTHER; kind <= STREAM_AV1; kind++) {
            struct nal_colours c = {0};
            struct bytes noisy = b;
            take((enum bitstream)kind, 0, &b, n, &c);
            for (size_t i = 3; i < n; i++)
                if ((z = z * 1664525 + 1013904223) >> 28 == 0)
                    noisy.at[i] = (uint8_t)(z >> 8);
            take((enum bitstream)kind, 0, &noisy, n, &c);
        }
    }
}

/* hvcC's 22 bytes, an array of one SEI NAL: mastering display of 4,000 cd/m2, MaxCLL 1,234, an emulation prevention byte in between. */
static void light_in_extradata(void **state)
{
    (void)state;
    uint8_t record[128] = {1, 1};
    size_t n = 22;
    static const uint8_t sei[] = {
        0x4e, 0x01, 137, 24, 0x33, 0xc2, 0x86, 0xc4, 0x1d, 0x4c, 0x0b, 0xb8, 0x84, 0xd0, 0x3e, 0x80, 0x3d, 0x13, 0x40, 0x42, 0x02, 0x62, 0x5a, 0x00,
        0x00, 0x03, 0x00, 0x00, 0x03, 0x01, 144, 4, 0x04, 0xd2, 0x01, 0x90, 0x80,
    };
    record[n++] = 1;
    record[n++] = 39;
    record[n++] = 0;
    record[n++] = 1;
    record[n++] = 0;
    record[n++] = sizeof sei;
    memcpy(record + n, sei, sizeof sei);
    record[21] = 3;
    n += sizeof sei;
    struct nal_light light = nal_extradata_light(record, n);
    assert_int_equal(light.display, 4000);
    assert_int_equal(light.content, 1234);
    for (size_t cut = 0; cut < n; cut++) {
        uint8_t *part = malloc(cut + 1);
        assert_non_null(part);
        memcpy(part, record, cut);
        light = nal_extradata_light(part, cut);
        assert_true(light.content == 0 || light.content == 1234);
        free(part);
    }
    light = nal_extradata_light((const uint8_t *)"\0\0\1", 3);
    assert_int_equal(light.content + light.display, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_sps), cmocka_unit_test(the_picture_s_own_sets), cmocka_unit_test(extradata),
        cmocka_unit_test(mpeg2), cmocka_unit_test(others_say_all), cmocka_unit_test(nonsense), cmocka_unit_test(light_in_extradata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
