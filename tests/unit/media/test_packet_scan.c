/* test_packet_scan.c - what the bytes of a packet contain */

#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "nal_bytes.h"

/* ------------------------------------------------------------------ H.264 */

enum {
    SLICE_NON_REF = 0x01,
    SLICE_REF = 0x41,
    SLICE_IDR = 0x65,
    SEI = 0x06,
    SPS = 0x67,
    PPS = 0x68,
    AUD = 0x09
};

TEST(h264_every_prefix)
{
    for (int size = 0; size <= 4; size++) {
        struct bytes idr = {.n = 0}, p = {.n = 0}, b = {.n = 0};
        NAL(&idr, size, AUD, 0xf0);
        NAL(&idr, size, SLICE_IDR, 0x88, 0x84);
        struct packet_info i = scan(STREAM_H264, size, &idr);
        assert_true(i.picture && i.shown && i.closed);
        assert_int_equal(i.rap, RAP_CLOSED);
        assert_false(i.droppable);
        assert_int_equal(i.order, -1);

        NAL(&p, size, SLICE_REF, 0x9a, 0x21);
        i = scan(STREAM_H264, size, &p);
        assert_true(i.picture);
        assert_int_equal(i.rap, RAP_NONE);
        assert_false(i.droppable);

        NAL(&b, size, SLICE_NON_REF, 0x9e, 0x21);
        i = scan(STREAM_H264, size, &b);
        assert_true(i.picture && i.droppable);
        assert_int_equal(i.rap, RAP_NONE);
    }
}

TEST(h264_droppable_needs_every_slice)
{
    struct bytes both = {.n = 0}, sets = {.n = 0}, pps = {.n = 0}, none = {.n = 0};
    NAL(&both, 0, SLICE_NON_REF, 0x9e);
    NAL(&both, 0, SLICE_REF, 0x9e); /* the second field of a pair is referred to */
    assert_false(scan(STREAM_H264, 0, &both).droppable);
    struct bytes first = {.n = 0};
    NAL(&first, 0, SLICE_REF, 0x9e);
    NAL(&first, 0, SLICE_NON_REF, 0x9e); /* or the first one */
    assert_false(scan(STREAM_H264, 0, &first).droppable);
    NAL(&sets, 0, SPS, 0x64, 0, 0x28);
    NAL(&sets, 0, SLICE_NON_REF, 0x9e);
    assert_false(scan(STREAM_H264, 0, &sets).droppable);
    NAL(&pps, 0, PPS, 0xee);
    NAL(&pps, 0, SLICE_NON_REF, 0x9e);
    assert_false(scan(STREAM_H264, 0, &pps).droppable);
    NAL(&none, 0, SPS, 0x64, 0, 0x28);
    struct packet_info i = scan(STREAM_H264, 0, &none);
    assert_false(i.picture || i.droppable);
}

/* A recovery point SEI behind `lead` bytes of another message, in front of an I slice. */
static struct packet_info with_sei(int length_size, size_t lead, uint8_t recovery_byte,
                                   bool escaped)
{
    struct bytes sei = {.n = 0}, packet = {.n = 0};
    PUT(&sei, SEI);
    if (lead > 0 || escaped) {
        PUT(&sei, 5); /* user data, unregistered */
        for (size_t left = lead;; left -= 255) {
            PUT(&sei, (uint8_t)(left < 255 ? left : 255));
            if (left < 255)
                break;
        }
        if (escaped) { /* 00 00 [03] 00: the 03 is not part of the message's `lead` bytes */
            PUT(&sei, 0, 0, 3, 0);
            lead -= 3;
        }
        for (size_t i = 0; i < lead; i++)
            PUT(&sei, (uint8_t)(i % 250 + 5));
    }
    PUT(&sei, 6, 1, recovery_byte, 0x80);
    nal(&packet, length_size, sei.at, sei.n);
    NAL(&packet, length_size, SLICE_REF, 0x88, 0x84);
    return scan(STREAM_H264, length_size, &packet);
}

TEST(h264_recovery_point)
{
    for (int size = 0; size <= 4; size++) {
        struct packet_info i = with_sei(size, 0, 0x84, false); /* ue: "1" = 0 */
        assert_int_equal(i.rap, RAP_OPEN);
        assert_false(i.closed);
        assert_int_equal(with_sei(size, 0, 0x40, false).rap, RAP_NONE); /* "010" = 1 */
        /* "0000 1000 ..." = 15 or more */
        assert_int_equal(with_sei(size, 0, 0x08, false).rap, RAP_NONE);
        /* the number does not end */
        assert_int_equal(with_sei(size, 0, 0x00, false).rap, RAP_NONE);
    }
    /* Behind other messages, long ones too, with lengths that need 0xff bytes. */
    assert_int_equal(with_sei(0, 20, 0x84, false).rap, RAP_OPEN);
    assert_int_equal(with_sei(4, 255, 0x84, false).rap, RAP_OPEN);
    assert_int_equal(with_sei(0, 700, 0x84, false).rap, RAP_OPEN);
    assert_int_equal(with_sei(0, 700, 0x40, false).rap, RAP_NONE);
    /* Emulation prevention bytes are not counted in a message's length. */
    assert_int_equal(with_sei(0, 20, 0x84, true).rap, RAP_OPEN);
    assert_int_equal(with_sei(4, 20, 0x40, true).rap, RAP_NONE);
}

TEST(h264_sei_of_nonsense)
{
    struct bytes lying = {.n = 0}, alone = {.n = 0}, cut_off = {.n = 0};
    NAL(&cut_off, 0, SEI, 6, 200, 0x84, 0x80); /* a recovery point of 200 bytes: not believed */
    NAL(&cut_off, 0, SLICE_REF, 0x88);
    assert_int_equal(scan(STREAM_H264, 0, &cut_off).rap, RAP_NONE);
    NAL(&lying, 0, SEI, 5, 200, 6, 1, 0x84, 0x80); /* a message longer than the NAL */
    NAL(&lying, 0, SLICE_REF, 0x88);
    assert_int_equal(scan(STREAM_H264, 0, &lying).rap, RAP_NONE);
    NAL(&alone, 0, SEI, 6, 1, 0x84, 0x80); /* a recovery point, but no picture */
    struct packet_info i = scan(STREAM_H264, 0, &alone);
    assert_false(i.picture);
    assert_int_equal(i.rap, RAP_NONE);
}

TEST(truncated_lengths)
{
    static const enum bitstream kinds[] = {STREAM_H264, STREAM_HEVC};
    for (size_t k = 0; k < 2; k++) {
        for (int size = 1; size <= 4; size++) {
            struct bytes whole = {.n = 0};
            NAL(&whole, size, kinds[k] == STREAM_H264 ? SLICE_REF : 1 << 1, 1, 2, 3, 4, 5);
            NAL(&whole, size, kinds[k] == STREAM_H264 ? SLICE_IDR : 20 << 1, 1, 2, 3, 4, 5);
            size_t first = whole.n / 2;
            for (struct bytes rap = whole; rap.n-- > 0;) {
                struct packet_info i = scan(kinds[k], size, &rap);
                /* A NAL counts when it is there whole. */
                assert_int_equal(i.picture, rap.n >= first);
                assert_int_equal(i.rap, RAP_NONE);
            }
            assert_int_equal(scan(kinds[k], size, &whole).rap, RAP_CLOSED);
        }
    }
    struct bytes huge = {.n = 0};
    PUT(&huge, 0xff, 0xff, 0xff, 0xff, SLICE_IDR, 0x88);
    assert_false(scan(STREAM_H264, 4, &huge).picture);
    struct bytes zeros = {.n = 0};
    PUT(&zeros, 0, 0, 0, 0, 0, 0, 0, 2, SLICE_IDR, 0x88); /* an empty NAL first */
    assert_int_equal(scan(STREAM_H264, 4, &zeros).rap, RAP_CLOSED);
}

TEST(start_codes_anywhere)
{
    for (size_t zeros = 2; zeros < 9; zeros++) {
        struct bytes b = {.n = 0};
        PUT(&b, 0xaa, 0x55);
        for (size_t i = 0; i < zeros; i++)
            PUT(&b, 0);
        PUT(&b, 1, SLICE_IDR); /* the last byte of the packet is the NAL's only one */
        assert_int_equal(scan(STREAM_H264, 0, &b).rap, RAP_CLOSED);
    }
    struct bytes none = {.n = 0};
    PUT(&none, 0, 0, 2, SLICE_IDR, 0, 1, SLICE_IDR, 0, 0);
    assert_false(scan(STREAM_H264, 0, &none).picture);
    struct bytes end = {.n = 0};
    PUT(&end, SLICE_IDR, 0, 0, 1); /* a start code with nothing behind it */
    assert_false(scan(STREAM_H264, 0, &end).picture);
}

/* ------------------------------------------------------------------ HEVC */

static struct packet_info hevc(int type, int temporal_id, int layer)
{
    struct bytes b = {.n = 0};
    NAL(&b, 0, (uint8_t)(type << 1 | layer >> 5), (uint8_t)((layer & 31) << 3 | (temporal_id + 1)),
        0x80, 0x11);
    return scan(STREAM_HEVC, 0, &b);
}

TEST(hevc_types)
{
    for (int type = 0; type < 64; type++) {
        struct packet_info i = hevc(type, 0, 0);
        bool irap = type >= 16 && type <= 21;
        assert_int_equal(i.picture, type <= 31);
        assert_int_equal(i.rap, type == 20 ? RAP_CLOSED : irap ? RAP_OPEN : RAP_NONE);
        assert_int_equal(i.closed, type == 19 || type == 20);
        assert_int_equal(i.leading, type >= 6 && type <= 9);       /* RADL, RASL */
        assert_int_equal(i.needs_before, type == 8 || type == 9);  /* RASL */
        assert_int_equal(i.droppable, type < 16 && type % 2 == 0); /* *_N */
    }
}

TEST(hevc_layers_and_sets)
{
    for (int t = 0; t < 7; t++)
        assert_int_equal(hevc(0, t, 0).temporal_id, t);
    assert_false(hevc(1, 0, 1).picture); /* another layer: not the picture that we decode */
    assert_false(hevc(20, 0, 32).picture);
    struct bytes b = {.n = 0};
    NAL(&b, 2, 33 << 1, 1, 1, 2, 3); /* SPS */
    NAL(&b, 2, 0, 2, 0x80, 0x11);    /* TRAIL_N, temporal id 1 */
    struct packet_info i = scan(STREAM_HEVC, 2, &b);
    assert_true(i.picture);
    assert_false(i.droppable);
    assert_int_equal(i.temporal_id, 1);
    struct bytes mixed = {.n = 0};
    NAL(&mixed, 0, 0, 1, 0x80);
    NAL(&mixed, 0, 1 << 1, 1, 0x80); /* TRAIL_N and TRAIL_R slices: referred to */
    assert_false(scan(STREAM_HEVC, 0, &mixed).droppable);
    struct bytes tiny = {.n = 0};
    NAL(&tiny, 1, 20 << 1); /* half a NAL header */
    assert_false(scan(STREAM_HEVC, 1, &tiny).picture);
}

/* What makes a decoder put out fewer pictures than there are. */
TEST(hevc_hidden_pictures)
{
    for (int type = 0; type < 64; type++) {
        for (int flag = 0; flag < 2; flag++) {
            struct bytes b = {.n = 0};
            NAL(&b, 0, (uint8_t)(type << 1), 1, (uint8_t)(0x80 | flag << 6), 0x11);
            struct packet_info i = scan(STREAM_HEVC, 0, &b);
            assert_int_equal(i.broken_link, type >= 16 && type <= 18);
            assert_int_equal(i.discards, flag && type >= 16 && type <= 20);
            assert_int_equal(i.after_end, type == 36 || type == 37);
            assert_false(i.ends);
        }
    }
    struct bytes before = {.n = 0}, behind = {.n = 0};
    NAL(&before, 4, 36 << 1, 1);
    NAL(&before, 4, 21 << 1, 1, 0x80);
    struct packet_info i = scan(STREAM_HEVC, 4, &before);
    assert_true(i.picture && i.after_end && !i.ends);
    NAL(&behind, 4, 1 << 1, 1, 0x80);
    NAL(&behind, 4, 37 << 1, 1);
    i = scan(STREAM_HEVC, 4, &behind);
    assert_true(i.picture && i.ends && !i.after_end);
}

TEST(hevc_output_flags)
{
    /* pps id 0 ("1"), sps id 1 ("010"), dependent slices, output flags; then as id 3 ("00100"), sps
     * 0 ("1") */
    static const uint8_t plain[] = {0xa8, 0xa0, 0x24, 0x26}, hiding[] = {0xa4, 0xac, 0x25, 0x27};
    for (size_t k = 0; k < sizeof plain; k++) {
        for (int present = 0; present < 2; present++) {
            uint8_t bits = present ? hiding[k] : plain[k];
            struct bytes b = {.n = 0};
            NAL(&b, 0, 34 << 1, 1, bits, 0x80);
            assert_int_equal(scan(STREAM_HEVC, 0, &b).output_flag_present, present);
            assert_int_equal(nal_extradata_has_output_flag(b.at, b.n), present);
            /* one SPS */
            uint8_t hvcc[64] = {
                1, [21] = 3, [22] = 2, [23] = 33, [25] = 1, [27] = 3, [28] = 33 << 1, 1, 0xff,
                /* a short PPS */
                34, 0, 2, 0, 2, 34 << 1, 1, 0, 4, 34 << 1, 1, bits, 0x80};
            assert_int_equal(nal_extradata_has_output_flag(hvcc, 45), present);
            for (size_t size = 0; size < 44; size++)
                assert_false(nal_extradata_has_output_flag(hvcc, size) && !present);
        }
    }
    /* Of another layer than the base: its decoder does not ask for it. */
    struct bytes other = {.n = 0};
    NAL(&other, 0, 34 << 1, 1 << 3 | 1, hiding[0], 0x80);
    NAL(&other, 0, 34 << 1 | 1, 1, hiding[0], 0x80);
    assert_false(nal_extradata_has_output_flag(other.at, other.n));
    assert_false(nal_extradata_has_output_flag(NULL, 0));
}

/* ------------------------------------------------------------------ MPEG-2 */

enum { MPEG_I = 1, MPEG_P, MPEG_B };

static void mpeg_gop(struct bytes *b, bool closed)
{
    PUT(b, 0, 0, 1, 0xb8, 0x00, 0x08, 0x00, (uint8_t)(closed ? 0x40 : 0x00));
}

/* Picture header, coding extension with the structure (1 top, 2 bottom, 3 frame), one slice. */
static void mpeg_picture(struct bytes *b, int order, int type, int structure)
{
    PUT(b, 0, 0, 1, 0x00, (uint8_t)(order >> 2), (uint8_t)((order & 3) << 6 | type << 3 | 7), 0xff,
        0xf8);
    PUT(b, 0, 0, 1, 0xb5, 0x8f, 0xff, (uint8_t)(0xf0 | structure), 0x80, 0x00);
    PUT(b, 0, 0, 1, 0x01, 0x2b, 0x00);
}

TEST(mpeg2_pictures)
{
    struct bytes i = {.n = 0}, bare = {.n = 0}, p = {.n = 0}, b = {.n = 0};
    PUT(&i, 0, 0, 1, 0xb3, 0x14, 0x00, 0xb4, 0x13, 0xff, 0xff, 0xe0, 0x18); /* sequence header */
    mpeg_gop(&i, false);
    mpeg_picture(&i, 2, MPEG_I, 3);
    struct packet_info info = scan(STREAM_MPEG2, 0, &i);
    assert_true(info.picture && info.shown);
    assert_int_equal(info.rap, RAP_OPEN);
    assert_int_equal(info.order, 2);
    assert_false(info.closed || info.field || info.droppable);

    /* without a GOP header nothing says that decoding may start */
    mpeg_picture(&bare, 7, MPEG_I, 3);
    assert_int_equal(scan(STREAM_MPEG2, 0, &bare).rap, RAP_NONE);

    mpeg_picture(&p, 1023, MPEG_P, 3);
    info = scan(STREAM_MPEG2, 0, &p);
    assert_true(info.picture);
    assert_int_equal(info.order, 1023);
    assert_false(info.droppable);
    mpeg_picture(&b, 513, MPEG_B, 3);
    info = scan(STREAM_MPEG2, 0, &b);
    assert_int_equal(info.order, 513);
    assert_true(info.droppable);
    assert_int_equal(info.rap, RAP_NONE);
}

TEST(mpeg2_closed_and_fields)
{
    struct bytes closed = {.n = 0}, top = {.n = 0}, bottom = {.n = 0}, only_gop = {.n = 0},
                 p = {.n = 0};
    mpeg_gop(&closed, true);
    mpeg_picture(&closed, 0, MPEG_I, 3);
    struct packet_info info = scan(STREAM_MPEG2, 0, &closed);
    assert_true(info.closed && !info.broken_link);
    assert_int_equal(info.rap, RAP_OPEN);
    closed.at[7] = 0x20;
    info = scan(STREAM_MPEG2, 0, &closed);
    assert_true(!info.closed && info.broken_link);
    mpeg_picture(&top, 0, MPEG_P, 1);
    assert_true(scan(STREAM_MPEG2, 0, &top).field);
    mpeg_picture(&bottom, 0, MPEG_P, 2);
    assert_true(scan(STREAM_MPEG2, 0, &bottom).field);
    mpeg_gop(&only_gop, true);
    info = scan(STREAM_MPEG2, 0, &only_gop);
    assert_false(info.picture);
    assert_int_equal(info.rap, RAP_NONE);
    mpeg_gop(&p, true);
    mpeg_picture(&p, 0, MPEG_P, 3); /* a GOP that does not begin with an I picture */
    assert_int_equal(scan(STREAM_MPEG2, 0, &p).rap, RAP_NONE);
}

/* ------------------------------------------------------------------ others */

TEST(others)
{
    struct bytes b = {.n = 0};
    PUT(&b, 1, 2, 3);
    struct packet_info i = scan(STREAM_OTHER, 0, &b);
    assert_true(i.picture && i.shown && !i.unreadable);
    assert_false(i.droppable);
    assert_int_equal(i.rap, RAP_NONE);
}

/* Every kind on every short packet of few values, exactly sized: nothing is read behind the end. */
TEST(nothing_behind_the_end)
{
    static const uint8_t alphabet[] = {0, 1, 3, 6, 0x65, 0xb8, 0xb5, 0x82, 0xc1, 0xff};
    enum { A = sizeof alphabet };
    for (int kind = STREAM_OTHER; kind <= STREAM_AV1; kind++) {
        for (int size = 0; size <= 4; size++) {
            for (unsigned code = 0; code < A * A * A * A; code += 7) {
                struct bytes b = {.n = 0};
                for (unsigned left = code; b.n < 4; left /= A)
                    PUT(&b, alphabet[left % A]);
                for (b.n = 0; b.n <= 4; b.n++) {
                    struct packet_info i = scan((enum bitstream)kind, size, &b);
                    assert_true(i.picture || i.rap == RAP_NONE);
                    assert_true(i.picture || !i.droppable);
                }
            }
        }
    }
}

static bool has_illegal_zeros(enum bitstream kind, int length_size, const uint8_t *data, size_t n)
{
    struct bytes b = {.n = 0};
    put(&b, data, n);
    return scan(kind, length_size, &b).illegal_zeros;
}

/* Zeros in a row, in slices alone: encoders break them up. */
TEST(illegal_zeros)
{
    const uint8_t whole[] = {0, 0, 0, 8, 0x65, 0, 0, 3, 0, 0, 3, 1},
                  gap[] = {0, 0, 0, 8, 0x65, 1, 0, 0, 0, 2, 3, 1};
    const uint8_t sei[] = {0, 0, 0, 8, 0x06, 1, 0, 0, 0, 2, 3, 1},
                  end[] = {0, 0, 0, 5, 0x65, 1, 0, 0, 0};
    assert_false(has_illegal_zeros(STREAM_H264, 4, whole, sizeof whole));
    assert_true(has_illegal_zeros(STREAM_H264, 4, gap, sizeof gap));
    assert_false(has_illegal_zeros(STREAM_H264, 4, sei, sizeof sei));
    /* From a stream with start codes. */
    assert_false(has_illegal_zeros(STREAM_H264, 4, end, sizeof end));
    assert_false(has_illegal_zeros(STREAM_MPEG2, 4, gap, sizeof gap));
    const uint8_t slice[] = {0, 0, 0, 5, 0x02, 1, 0, 0, 1}, vps[] = {0, 0, 0, 5, 0x40, 1, 0, 0, 1};
    assert_true(has_illegal_zeros(STREAM_HEVC, 4, slice, sizeof slice));
    assert_false(has_illegal_zeros(STREAM_HEVC, 4, vps, sizeof vps));
    const uint8_t codes[] = {0, 0, 0, 1, 0x65, 9, 0, 0, 0, 0, 1, 0x41, 7, 0, 0, 0, 0},
                  inside[] = {0, 0, 1, 0x65, 9, 0, 0, 0, 9};
    assert_false(has_illegal_zeros(STREAM_H264, 0, codes, sizeof codes));
    assert_true(has_illegal_zeros(STREAM_H264, 0, inside, sizeof inside));
    assert_false(has_illegal_zeros(STREAM_H264, 4, gap, sizeof gap - 1));
    assert_false(has_illegal_zeros(STREAM_H264, 0, inside, 8));
}

/* The part with the parameter sets begins with the prefix of the first one and ends behind the last
 * one. */
static void check_sets(enum bitstream kind, int length_size, const struct bytes *b, size_t from,
                       size_t to)
{
    struct packet_info info;
    packet_scan(kind, length_size, b->at, b->n, &info);
    assert_ptr_equal(info.sets, b->at + from);
    assert_int_equal(info.sets_size, to - from);
}

TEST(where_sets_are)
{
    for (int size = 0; size <= 4; size += 4) {
        size_t head = size ? 4 : 3;
        struct bytes h264 = {.n = 0}, hevc = {.n = 0}, none = {.n = 0};
        NAL(&h264, size, 0x09, 0x10);
        NAL(&h264, size, 0x67, 66, 0, 30, 0xda);
        NAL(&h264, size, 0x06, 5, 1, 0, 0x80);
        NAL(&h264, size, 0x68, 0xce, 0x38);
        NAL(&h264, size, 0x65, 0x88, 0x84);
        check_sets(STREAM_H264, size, &h264, head + 2, 4 * head + 15);
        NAL(&hevc, size, 0x40, 0x01, 0x0c);
        NAL(&hevc, size, 0x26, 0x01, 0xaf);
        check_sets(STREAM_HEVC, size, &hevc, 0, head + 3);
        NAL(&none, size, 0x65, 0x88, 0x84);
        assert_null(scan(STREAM_H264, size, &none).sets);
    }
    struct bytes mpeg2 = {.n = 0}, alone = {.n = 0};
    PUT(&mpeg2, 0, 0, 1, 0xb2, 1);
    PUT(&mpeg2, 0, 0, 1, 0xb3, 0x0a, 0x00, 0x60, 0x13, 0, 0, 1, 0xb5, 0x14, 0x8a);
    alone = mpeg2;
    PUT(&mpeg2, 0, 0, 1, 0x00, 0, 8, 0xff, 0xf8, 0, 0, 1, 1, 0x12);
    check_sets(STREAM_MPEG2, 0, &mpeg2, 5, 19);
    check_sets(STREAM_MPEG2, 0, &alone, 5, 19);
}

TEST(extradata)
{
    uint8_t avcc[7] = {1, 100, 0, 40, 0xfc | 3, 0xe0, 0}, hvcc[23] = {1, [21] = 0x0c | 3};
    for (int i = 0; i < 4; i++) {
        avcc[4] = (uint8_t)(0xfc | i);
        assert_int_equal(nal_length_size(STREAM_H264, avcc, sizeof avcc), i + 1);
        hvcc[21] = (uint8_t)(0x0c | i);
        assert_int_equal(nal_length_size(STREAM_HEVC, hvcc, sizeof hvcc), i + 1);
    }
    hvcc[0] = 0;
    hvcc[1] = 0x21; /* version 0, as some writers leave it */
    assert_int_equal(nal_length_size(STREAM_HEVC, hvcc, sizeof hvcc), 4);
    const uint8_t annexb[23] = {0, 0, 0, 1, 0x67, 0x64, 0, 0x28},
                  short_code[23] = {0, 0, 1, 0x40, 1};
    assert_int_equal(nal_length_size(STREAM_H264, annexb, sizeof annexb), 0);
    assert_int_equal(nal_length_size(STREAM_HEVC, annexb, sizeof annexb), 0);
    assert_int_equal(nal_length_size(STREAM_HEVC, short_code, sizeof short_code), 0);
    assert_int_equal(nal_length_size(STREAM_H264, avcc, 6), 0);
    assert_int_equal(nal_length_size(STREAM_HEVC, hvcc, 22), 0);
    assert_int_equal(nal_length_size(STREAM_H264, NULL, 0), 0);
    assert_int_equal(nal_length_size(STREAM_VP9, avcc, sizeof avcc), 0);
}

TEST(vp8_frames)
{
    struct bytes b = {.n = 0};
    /* a first partition of 2 bytes */
    PUT(&b, 0x50, 0x00, 0x00, 0x9d, 0x01, 0x2a, 16, 0, 16, 0, 1, 2);
    struct packet_info i = scan(STREAM_VP8, 0, &b);
    assert_true(i.picture && i.shown && !i.droppable);
    assert_int_equal(i.rap, RAP_CLOSED);
    b.at[0] = 0x51;
    i = scan(STREAM_VP8, 0, &b);
    assert_true(i.picture && i.shown);
    assert_int_equal(i.rap, RAP_NONE);
    b.at[0] = 0x41; /* show_frame 0: an alternative reference */
    i = scan(STREAM_VP8, 0, &b);
    assert_true(i.picture && !i.shown && !i.unreadable);
    b.at[0] = 0x0e | 0x50; /* version bits do not matter */
    assert_int_equal(scan(STREAM_VP8, 0, &b).rap, RAP_CLOSED);
    b.at[3] = 0x9c; /* no key's start code */
    i = scan(STREAM_VP8, 0, &b);
    assert_true(!i.picture && i.unreadable);
    b.at[0] = 0x51;
    b.at[1] = 1; /* the first partition is larger than the packet */
    assert_true(scan(STREAM_VP8, 0, &b).unreadable);
    b.n = 2;
    assert_true(!scan(STREAM_VP8, 0, &b).picture && scan(STREAM_VP8, 0, &b).unreadable);
}

/* frame marker, profile (low bit first), [reserved], show_existing 0, frame type, show_frame */
static uint8_t vp9_header(int profile, bool inter, bool shown)
{
    unsigned v = 2u << 6 | (unsigned)(profile & 1) << 5 | (unsigned)(profile >> 1) << 4;
    int at = profile == 3 ? 1 : 2; /* of frame_type, after reserved_zero */
    return (uint8_t)(v | (unsigned)inter << at | (unsigned)shown << (at - 1));
}

/* The header and, after error_resilient_mode, the sync code of a key: profile 3's reserved bit
 * moves it. */
static void vp9_begin(struct bytes *b, int profile, bool inter, bool shown)
{
    const uint32_t code = 0x498342u << (profile == 3 ? 7 : 8);
    PUT(b, vp9_header(profile, inter, shown), (uint8_t)(code >> 24), (uint8_t)(code >> 16),
        (uint8_t)(code >> 8), (uint8_t)code);
}

TEST(vp9_frames)
{
    for (int profile = 0; profile < 4; profile++) {
        struct bytes b = {.n = 0};
        vp9_begin(&b, profile, false, true);
        struct packet_info i = scan(STREAM_VP9, 0, &b);
        assert_true(i.picture && i.shown && !i.droppable);
        assert_int_equal(i.rap, RAP_CLOSED);
        b.at[0] = vp9_header(profile, true, true);
        i = scan(STREAM_VP9, 0, &b);
        assert_true(i.shown);
        assert_int_equal(i.rap, RAP_NONE);
        b.at[0] = vp9_header(profile, true, false);
        b.at[4] = 1;
        i = scan(STREAM_VP9, 0, &b);
        assert_true(i.picture && !i.shown && !i.unreadable);
        PUT(&b, 0, 0, 0); /* not shown, and zeros where a superframe's index was */
        i = scan(STREAM_VP9, 0, &b);
        assert_true(!i.picture && i.unreadable);
        b.at[0] = vp9_header(profile, false, true);
        b.at[2] ^= 1; /* no sync code */
        assert_true(scan(STREAM_VP9, 0, &b).unreadable);
    }
    struct bytes existing = {.n = 0}, junk = {.n = 0};
    PUT(&existing, 0x88); /* profile 0, show_existing_frame 1, of slot 0 */
    struct packet_info i = scan(STREAM_VP9, 0, &existing);
    assert_true(i.picture && i.shown);
    assert_int_equal(i.rap, RAP_NONE);
    PUT(&junk, 0x40, 0x49);
    assert_false(scan(STREAM_VP9, 0, &junk).picture);
}

TEST(vp9_superframes)
{
    struct bytes b = {.n = 0};
    PUT(&b, vp9_header(0, true, false), 1, 2, 3); /* hidden */
    PUT(&b, vp9_header(0, true, true), 1);        /* shown */
    PUT(&b, 0xc1, 4, 2, 0xc1);                    /* index: two frames, one byte a size */
    struct packet_info i = scan(STREAM_VP9, 0, &b);
    assert_true(i.picture && i.shown);
    assert_int_equal(i.rap, RAP_NONE);
    /* a hidden key and a frame that shows */
    memcpy(b.at, (const uint8_t[]){vp9_header(0, false, false), 0x49, 0x83, 0x42}, 4);
    i = scan(STREAM_VP9, 0, &b);
    assert_true(i.shown);
    assert_int_equal(i.rap, RAP_CLOSED);
    struct bytes alone = {.n = 0};
    PUT(&alone, vp9_header(0, true, false), 1, 0xc0, 1, 0xc0); /* an index of one frame adds none */
    assert_false(scan(STREAM_VP9, 0, &alone).shown);
}

TEST(av1_units)
{
    struct bytes shown = {.n = 0}, hidden = {.n = 0}, existing = {.n = 0}, none = {.n = 0},
                 zeroed = {.n = 0};
    PUT(&shown, 0x12, 0, 0x32, 2, 0x10, 7); /* temporal delimiter; a frame with show_frame */
    struct packet_info i = scan(STREAM_AV1, 0, &shown);
    assert_true(i.picture && i.shown && !i.unreadable);
    PUT(&hidden, 0x32, 2, 0x20, 7);
    i = scan(STREAM_AV1, 0, &hidden);
    assert_true(i.picture && !i.shown && !i.unreadable);
    PUT(&existing, 0x1a, 1, 0x80); /* a frame header with show_existing_frame */
    assert_true(scan(STREAM_AV1, 0, &existing).shown);
    PUT(&none, 0x7a, 2, 1, 1); /* padding alone */
    i = scan(STREAM_AV1, 0, &none);
    assert_true(!i.picture && !i.unreadable);
    PUT(&zeroed, 0x32, 2, 0x20, 7, 0, 0, 0, 0); /* a hidden frame; zeros for the other */
    i = scan(STREAM_AV1, 0, &zeroed);
    assert_true(!i.picture && i.unreadable);
    struct bytes long_one = {.n = 0};
    PUT(&long_one, 0x32, 0x85, 0x01, 0x10); /* 133 bytes, of which there is one */
    assert_true(scan(STREAM_AV1, 0, &long_one).unreadable);
}

/* What is no picture by its own account, and what is damage. */
TEST(empty_or_unreadable)
{
    static const uint8_t zeros[200];
    for (int size = 0; size <= 4; size++) {
        struct bytes sets = {.n = 0}, zeroed = {.n = 0}, nothing = {.n = 0}, hevc = {.n = 0};
        NAL(&sets, size, SPS, 0x64, 0, 0x28);
        NAL(&sets, size, SEI, 1, 1, 0x80);
        struct packet_info i = scan(STREAM_H264, size, &sets);
        assert_true(!i.picture && !i.unreadable);
        NAL(&zeroed, size, SEI, 1, 1, 0x80);
        put(&zeroed, zeros, sizeof zeros); /* where the slice was */
        assert_true(scan(STREAM_H264, size, &zeroed).unreadable);
        put(&nothing, zeros, sizeof zeros);
        assert_true(scan(STREAM_H264, size, &nothing).unreadable);
        assert_true(scan(STREAM_HEVC, size, &nothing).unreadable);
        NAL(&hevc, size, 36 << 1, 1); /* end of sequence */
        i = scan(STREAM_HEVC, size, &hevc);
        assert_true(!i.picture && !i.unreadable);
    }
    struct bytes end = {.n = 0}, nothing = {.n = 0}, slice = {.n = 0}, head = {.n = 0};
    PUT(&end, 0, 0, 1, 0xb7);
    assert_false(scan(STREAM_MPEG2, 0, &end).unreadable);
    put(&nothing, zeros, sizeof zeros);
    assert_true(scan(STREAM_MPEG2, 0, &nothing).unreadable);
    PUT(&slice, 0, 0, 1, 1, 0x22, 0x33); /* its picture's header is gone */
    assert_true(scan(STREAM_MPEG2, 0, &slice).unreadable);
    PUT(&head, 0, 0, 1, 0, 0, 0x08, 0xff, 0xf8);
    put(&head, zeros, sizeof zeros); /* its slices are */
    assert_true(!scan(STREAM_MPEG2, 0, &head).picture && scan(STREAM_MPEG2, 0, &head).unreadable);
}

/* A container's table that points into the middle of pictures gives the rest of one and the
 * beginning of the next. */
TEST(mpeg2_begins_in_another)
{
    struct bytes whole = {.n = 0}, stuffed = {.n = 0}, astray = {.n = 0};
    PUT(&whole, 0, 0, 1, 0, 0, 0x08, 0xff, 0xf8, 0, 0, 1, 1, 0x22, 0x33);
    PUT(&stuffed, 0, 0, 0, 0, 0);
    put(&stuffed, whole.at, whole.n);
    PUT(&astray, 0x5a, 0, 0);
    put(&astray, whole.at, whole.n);
    assert_true(scan(STREAM_MPEG2, 0, &whole).picture && !scan(STREAM_MPEG2, 0, &whole).unreadable);
    assert_true(scan(STREAM_MPEG2, 0, &stuffed).picture &&
                !scan(STREAM_MPEG2, 0, &stuffed).unreadable);
    assert_true(scan(STREAM_MPEG2, 0, &astray).picture &&
                scan(STREAM_MPEG2, 0, &astray).unreadable);
}

TEST(intra_pictures)
{
    struct bytes i_slices = {.n = 0}, mixed = {.n = 0};
    NAL(&i_slices, 4, SLICE_REF, 0x88, 0x84); /* first_mb 0, slice_type 7 */
    assert_true(scan(STREAM_H264, 4, &i_slices).intra);
    NAL(&mixed, 4, SLICE_REF, 0x88, 0x84);
    NAL(&mixed, 4, SLICE_REF, 0x9a, 0x21); /* slice_type 5: P */
    assert_false(scan(STREAM_H264, 4, &mixed).intra);
}

TEST(zeros_in_pictures)
{
    static const uint8_t zeros[ZEROED_BYTES];
    struct bytes whole = {.n = 0}, zeroed = {.n = 0}, padded = {.n = 0};
    for (int i = 0; i < 300; i++)
        PUT(&whole, (uint8_t)(i % 7 + 1));
    memcpy(zeroed.at, whole.at, 300);
    memcpy(zeroed.at + 101, zeros, sizeof zeros);
    zeroed.n = 300;
    assert_false(scan(STREAM_VP9, 0, &whole).zeroed);
    assert_true(scan(STREAM_VP9, 0, &zeroed).zeroed);
    assert_false(scan(STREAM_MPEG2, 0, &zeroed).zeroed); /* has stuffing zeros */
    memcpy(zeroed.at + 101, whole.at, 1);
    assert_false(scan(STREAM_VP9, 0, &zeroed).zeroed); /* one too few */
    nal(&padded, 4, whole.at, 300);
    padded.at[3] += ZEROED_BYTES;
    padded.at[2] += padded.at[3] < ZEROED_BYTES;
    put(&padded, zeros, sizeof zeros);
    assert_false(scan(STREAM_H264, 4, &padded).zeroed);
    memcpy(padded.at + 50, zeros, sizeof zeros);
    assert_true(scan(STREAM_H264, 4, &padded).zeroed);
}

/* ------------------------------------------------------------------ orientation */

/* Reads from a block of the exact size, so that the address sanitizer sees a read behind it. */
static bool has_orientation(enum bitstream kind, const struct bytes *b)
{
    uint8_t *copy = malloc(b->n);
    assert_non_null(copy);
    memcpy(copy, b->at, b->n);
    bool has = nal_has_orientation(kind, NULL, 0, copy, b->n);
    free(copy);
    return has;
}

#define TURNED 0x48, 0x00, 0x18

TEST(orientation_of_h264)
{
    struct bytes b = {.n = 0}, other = {.n = 0}, truncated = {.n = 0};
    NAL(&b, 0, 9, 0xf0);
    NAL(&b, 0, 6, 5, 2, 1, 2, 47, 3, TURNED, 0x80);
    NAL(&b, 0, 0x65, 0x88, 0x84);
    NAL(&other, 0, 6, 5, 5, 47, 3, TURNED, 0x80);
    NAL(&truncated, 0, 6, 47, 9, TURNED, 0x80);
    assert_true(has_orientation(STREAM_H264, &b));
    assert_false(has_orientation(STREAM_H264, &other) || has_orientation(STREAM_H264, &truncated));
    for (; b.n > 0; b.n--)
        has_orientation(STREAM_H264, &b);
}

TEST(orientation_of_hevc)
{
    struct bytes b = {.n = 0}, layer = {.n = 0}, suffix = {.n = 0};
    NAL(&b, 0, 39 << 1, 1, 47, 3, TURNED, 0x80);
    NAL(&layer, 0, 39 << 1, 1 << 3 | 1, 47, 3, TURNED, 0x80);
    NAL(&suffix, 0, 40 << 1, 1, 47, 3, TURNED, 0x80);
    assert_true(has_orientation(STREAM_HEVC, &b));
    assert_true(nal_has_orientation(STREAM_HEVC, b.at, b.n, layer.at, layer.n));
    assert_false(has_orientation(STREAM_HEVC, &layer) || has_orientation(STREAM_HEVC, &suffix));
}
