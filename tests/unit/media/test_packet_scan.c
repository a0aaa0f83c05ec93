/* test_packet_scan.c - what the bytes of a packet contain */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "nal_bytes.h"

/*
 * Returns the packet of a text: hexadecimal bytes, "z9" and "x9" for nine zeros and nine other
 * bytes. Before each NAL unit is a '|', behind one that others than units follow a '.'. The size of
 * the units' lengths is `size`; 0: they begin with start codes.
 */
static struct bytes packet_of(const char *text, int size)
{
    struct bytes packet = {.n = 0}, unit = {.n = 0};
    bool framed = false;
    for (char *at = (char *)(uintptr_t)text;; at++) {
        if (*at == '|' || *at == '.' || *at == 0) {
            if (framed)
                nal(&packet, size, unit.at, unit.n);
            else
                put(&packet, unit.at, unit.n);
            framed = *at == '|';
            unit.n = 0;
            if (*at == 0)
                return packet;
        } else if (*at == 'z' || *at == 'x') {
            uint8_t byte = *at == 'z' ? 0 : 0x55;
            for (unsigned long n = strtoul(at + 1, &at, 10); n > 0; n--)
                PUT(&unit, byte);
            at--;
        } else if (*at != ' ') {
            char digits[3] = {at[0], at[1], 0};
            PUT(&unit, (uint8_t)strtoul(digits, NULL, 16));
            at++;
        }
    }
}

/* Returns a word for each fact that is not usual. */
static const char *describe(const struct packet_info *i)
{
    static char text[256];
    const struct {
        bool is;
        const char *word;
    } words[] = {{i->picture, "picture "},
                 {i->unreadable, "unreadable "},
                 {i->rap == RAP_CLOSED, "key "},
                 {i->rap == RAP_OPEN, "open key "},
                 {i->intra, "intra "},
                 {i->droppable, "droppable "},
                 {i->leading, "leading "},
                 {i->needs_before, "needs before "},
                 {i->closed, "closed "},
                 {i->broken_link, "broken link "},
                 {i->after_end, "after end "},
                 {i->ends, "ends "},
                 {i->discards, "discards "},
                 {i->output_flag_present, "output flag "},
                 {i->picture && !i->shown, "hidden "},
                 {i->field, "field "},
                 {i->zeroed, "zeroed "},
                 {i->illegal_zeros, "illegal zeros "}};
    text[0] = 0;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (words[k].is)
            strcat(text, words[k].word);
    size_t used = strlen(text);
    if (i->order >= 0)
        used += (size_t)snprintf(text + used, sizeof text - used, "order %d ", i->order);
    if (i->temporal_id > 0)
        used += (size_t)snprintf(text + used, sizeof text - used, "layer %d ", i->temporal_id);
    text[used > 0 ? used - 1 : 0] = 0;
    return text;
}

/* For packet_of, behind "4:" if only lengths of that size are meant; and as described. */
struct packet_case {
    const char *packet, *is;
};

static void check_packets(enum bitstream stream, const struct packet_case *c, size_t cases)
{
    bool nal = stream == STREAM_H264 || stream == STREAM_HEVC;
    for (size_t i = 0; i < cases; i++) {
        bool one = c[i].packet[1] == ':';
        for (int size = 0; size <= (nal ? 4 : 0); size++) {
            if (one && c[i].packet[0] - '0' != size)
                continue;
            struct bytes b = packet_of(c[i].packet + (one ? 2 : 0), size);
            struct packet_info info = scan(stream, size, &b);
            if (strcmp(describe(&info), c[i].is) != 0)
                fail_msg("%s, size %d: %s, not %s", c[i].packet, size, describe(&info), c[i].is);
        }
    }
}

#define CHECK(stream, ...) \
    check_packets(stream, (const struct packet_case[]){__VA_ARGS__}, \
                  sizeof(const struct packet_case[]){__VA_ARGS__} / sizeof(struct packet_case))

/* Units of H.264: 01, 41, 65 slices (non-reference, reference, IDR), 06 SEI, 67, 68 sets. */
TEST(h264)
{
    CHECK(STREAM_H264, {"| 09 f0 | 65 88 84", "picture key intra closed"},
          {"| 41 9a 21", "picture"}, {"| 01 9e 21", "picture droppable"},
          {"| 41 88 84", "picture intra"}, /* slice_type 7, and 5: P */
          {"| 41 88 84 | 41 9a 21", "picture"},
          /* A field of a pair is referred to: not droppable, nor with parameter sets. */
          {"| 01 9e | 41 9e", "picture"}, {"| 41 9e | 01 9e", "picture"},
          {"| 67 64 00 28 | 01 9e", "picture"}, {"| 68 ee | 01 9e", "picture"},
          {"| 67 64 00 28", ""}, {"| 67 64 00 28 | 06 01 01 80", ""},
          /* where the slice was, zeros */
          {"| 06 01 01 80 . z200", "unreadable"}, {"z200", "unreadable"},
          /* start codes anywhere, and none */
          {"0:aa 55 z2 01 65", "picture key intra closed"},
          {"0:aa 55 z3 01 65", "picture key intra closed"},
          {"0:aa 55 z4 01 65", "picture key intra closed"},
          {"0:aa 55 z7 01 65", "picture key intra closed"},
          {"0:aa 55 z8 01 65", "picture key intra closed"},
          {"0:00 00 02 65 00 01 65 00 00", "unreadable"}, {"0:65 00 00 01", "unreadable"},
          {"4:ff ff ff ff 65 88", "unreadable"},
          {"4:z4 00 00 00 02 65 88", "picture key intra closed"}); /* an empty unit first */
}

TEST(h264_recovery_point)
{
    CHECK(STREAM_H264, {"| 06 06 01 84 80 | 41 88 84", "picture open key intra"}, /* "1" = 0 */
          {"| 06 06 01 40 80 | 41 88 84", "picture intra"},                       /* "010" = 1 */
          {"| 06 06 01 08 80 | 41 88 84", "picture intra"},                       /* 15 or more */
          {"| 06 06 01 00 80 | 41 88 84", "picture intra"},                       /* does not end */
          /* behind other messages, with lengths that need 0xff bytes */
          {"| 06 05 14 x20 06 01 84 80 | 41 88 84", "picture open key intra"},
          {"4:| 06 05 ff 00 x255 06 01 84 80 | 41 88 84", "picture open key intra"},
          {"0:| 06 05 ff ff be x700 06 01 84 80 | 41 88 84", "picture open key intra"},
          {"0:| 06 05 ff ff be x700 06 01 40 80 | 41 88 84", "picture intra"},
          /* emulation prevention bytes are not counted in a message's length */
          {"| 06 05 14 00 00 03 00 x17 06 01 84 80 | 41 88 84", "picture open key intra"},
          {"| 06 05 14 00 00 03 00 x17 06 01 40 80 | 41 88 84", "picture intra"},
          /* messages that are longer than the unit, and one without a picture */
          {"| 06 06 c8 84 80 | 41 88", "picture intra"},
          {"| 06 05 c8 06 01 84 80 | 41 88", "picture intra"}, {"| 06 06 01 84 80", ""});
}

enum { SLICE_REF = 0x41, SLICE_IDR = 0x65 };

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
}

/* ------------------------------------------------------------------ HEVC */

/* What makes a decoder put out fewer pictures than there are, too. */
TEST(hevc_types)
{
    for (int type = 0; type < 64; type++) {
        for (int flag = 0; flag < 2; flag++) {
            struct bytes b = {.n = 0};
            NAL(&b, 0, (uint8_t)(type << 1), 1, (uint8_t)(0x80 | flag << 6), 0x11);
            struct packet_info i = scan(STREAM_HEVC, 0, &b);
            bool irap = type >= 16 && type <= 21;
            assert_int_equal(i.picture, type <= 31);
            assert_int_equal(i.rap, type == 20 ? RAP_CLOSED : irap ? RAP_OPEN : RAP_NONE);
            assert_int_equal(i.closed, type == 19 || type == 20);
            assert_int_equal(i.leading, type >= 6 && type <= 9);       /* RADL, RASL */
            assert_int_equal(i.needs_before, type == 8 || type == 9);  /* RASL */
            assert_int_equal(i.droppable, type < 16 && type % 2 == 0); /* *_N */
            assert_int_equal(i.broken_link, type >= 16 && type <= 18);
            assert_int_equal(i.discards, flag && type >= 16 && type <= 20);
            assert_int_equal(i.after_end, type == 36 || type == 37);
            assert_false(i.ends);
        }
    }
}

/* Units of HEVC: 00, 02 slices (TRAIL_N, TRAIL_R), 28 IDR_N_LP, 2a CRA, 42 SPS, 48, 4a ends. */
TEST(hevc)
{
    CHECK(STREAM_HEVC, {"| 00 01 80 11", "picture droppable"},
          {"| 00 02 80 11", "picture droppable layer 1"},
          {"| 00 07 80 11", "picture droppable layer 6"},
          {"| 02 09 80 11", ""}, /* another layer: not the picture that we decode */
          {"| 29 01 80 11", ""}, {"| 42 01 01 02 03 | 00 02 80 11", "picture layer 1"},
          {"| 00 01 80 | 02 01 80", "picture"}, {"| 28", ""}, /* half a header */
          {"| 48 01 | 2a 01 80", "picture open key after end"},
          {"| 02 01 80 | 4a 01", "picture ends"}, {"| 48 01", "after end"}, {"z200", "unreadable"});
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

/* A GOP header; open, closed, or with a broken link. A picture's coding extension and a slice. */
#define OPEN "| b8 00 08 00 00 "
#define CLOSED "| b8 00 08 00 40 "
#define BROKEN "| b8 00 08 00 20 "
#define FRAME " ff f8 | b5 8f ff f3 80 00 | 01 2b 00"

TEST(mpeg2)
{
    CHECK(
        STREAM_MPEG2,
        {"| b3 14 00 b4 13 ff ff e0 18 " OPEN "| 00 00 8f" FRAME, "picture open key intra order 2"},
        /* without a GOP header nothing says that decoding may start */
        {"| 00 01 cf" FRAME, "picture order 7"}, {"| 00 ff d7" FRAME, "picture order 1023"},
        {"| 00 80 5f" FRAME, "picture droppable order 513"},
        {CLOSED "| 00 00 0f" FRAME, "picture open key intra closed order 0"},
        {BROKEN "| 00 00 0f" FRAME, "picture open key intra broken link order 0"},
        {"| 00 00 17 ff f8 | b5 8f ff f1 80 00 | 01 2b 00", "picture field order 0"},
        {"| 00 00 17 ff f8 | b5 8f ff f2 80 00 | 01 2b 00", "picture field order 0"},
        {CLOSED, "closed"}, {CLOSED "| 00 00 17" FRAME, "picture closed order 0"}, {"| b7", ""},
        {"z200", "unreadable"}, {"| 01 22 33", "unreadable"}, /* its picture's header is gone */
        {"| 00 00 08 ff f8 z200", "unreadable"},              /* its slices are */
        /* A table that points into the middle of pictures gives the rest of one before another. */
        {"| 00 00 08 ff f8 | 01 22 33", "picture order 0"},
        {"z5 | 00 00 08 ff f8 | 01 22 33", "picture order 0"},
        {"5a 00 00 | 00 00 08 ff f8 | 01 22 33", "picture unreadable order 0"});
}

TEST(slice_rows_of_mpeg2)
{
#define PICTURE "| 00 00 08 ff f8 | b5 8f ff f3 80 00 | "
    static const struct {
        const char *bytes;
        int rows;
    } t[] = {{PICTURE "01 2b 00 | 02 2b 00 | 02 2b 00 | 03 2b 00", 3},
             {PICTURE "01 2b 00 | 03 2b 00", -1},
             {PICTURE "02 2b 00 | 03 2b 00", -1},
             {PICTURE "01 2b 00 | 02 2b 00 | 01 2b 00", -1},
             {PICTURE "01 2b 00 | 02 2b 00 | 00 00 08 ff f8 | 01 2b 00", 2}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct bytes packet = packet_of(t[i].bytes, 0);
        assert_int_equal(scan(STREAM_MPEG2, 0, &packet).slice_rows, t[i].rows);
    }
}

/* ------------------------------------------------------------------ others */

TEST(vp8)
{
    CHECK(STREAM_VP8, {"50 00 00 9d 01 2a 10 00 10 00 01 02", "picture key"}, /* two bytes follow */
          {"51 00 00 9d 01 2a 10 00 10 00 01 02", "picture"},
          {"41 00 00 9d 01 2a 10 00 10 00 01 02", "picture hidden"}, /* show_frame 0 */
          {"5e 00 00 9d 01 2a 10 00 10 00 01 02", "picture key"}, /* the version does not matter */
          {"5e 00 00 9c 01 2a 10 00 10 00 01 02", "unreadable"},  /* no key's start code */
          {"51 01 00 9c 01 2a 10 00 10 00 01 02", "unreadable"},  /* a too large partition */
          {"51 01", "unreadable"});
}

/* Of each profile a key with its sync code, shown, hidden, without a superframe's index. */
TEST(vp9)
{
    CHECK(STREAM_VP9, {"82 49 83 42 00", "picture key"}, {"86 49 83 42 00", "picture"},
          {"84 49 83 42 01", "picture hidden"}, {"84 49 83 42 01 z3", "unreadable"},
          {"82 49 82 42 01 z3", "unreadable"}, {"a2 49 83 42 00", "picture key"},
          {"a6 49 83 42 00", "picture"}, {"a4 49 83 42 01", "picture hidden"},
          {"a4 49 83 42 01 z3", "unreadable"}, {"a2 49 82 42 01 z3", "unreadable"},
          {"92 49 83 42 00", "picture key"}, {"96 49 83 42 00", "picture"},
          {"94 49 83 42 01", "picture hidden"}, {"94 49 83 42 01 z3", "unreadable"},
          {"92 49 82 42 01 z3", "unreadable"}, {"b1 24 c1 a1 00", "picture key"},
          {"b3 24 c1 a1 00", "picture"}, {"b2 24 c1 a1 01", "picture hidden"},
          {"b2 24 c1 a1 01 z3", "unreadable"}, {"b1 24 c0 a1 01 z3", "unreadable"},
          {"88", "picture"}, /* show_existing_frame */
          {"40 49", "unreadable"},
          /* Superframes: hidden and shown; a hidden key and one that shows; an index of one adds
           * none. */
          {"84 01 02 03 86 01 c1 04 02 c1", "picture"},
          {"80 49 83 42 86 01 c1 04 02 c1", "picture key"}, {"84 01 c0 01 c0", "picture hidden"});
}

TEST(av1)
{
    CHECK(STREAM_AV1, {"12 00 32 02 10 07", "picture"}, /* a delimiter; a frame with show_frame */
          {"32 02 20 07", "picture hidden"}, {"1a 01 80", "picture"}, /* show_existing_frame */
          {"7a 02 01 01", ""},                                        /* padding alone */
          {"32 02 20 07 z4", "unreadable"}, /* a hidden frame; zeros for the other */
          {"32 85 01 10", "unreadable"});   /* 133 bytes, of which there is one */
    CHECK(STREAM_OTHER, {"01 02 03", "picture"});
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

/* Zeros in a row that encoders break up, in slices alone; and so many that data is missing. */
TEST(zeros)
{
    CHECK(STREAM_H264, {"4:| 65 00 00 03 00 00 03 01", "picture key intra closed"},
          {"4:| 65 01 00 00 00 02 03 01", "picture key intra closed illegal zeros"},
          {"4:| 06 01 00 00 00 02 03 01", ""},
          {"4:| 65 01 00 00 00", "picture key intra closed"}, /* from a stream with start codes */
          {"0:00 00 00 01 65 09 00 00 00 00 01 41 07 z4", "picture key closed"},
          {"0:| 65 09 00 00 00 09", "picture key intra closed illegal zeros"},
          {"0:| 65 09 00 00 00", "picture key intra closed"},
          {"4:00 00 00 08 65 01 00 00 00 02 03", "unreadable"}, {"4:| 41 x299 z64", "picture"},
          {"4:| 41 x45 z64 x190 z64", "picture zeroed illegal zeros"});
    CHECK(STREAM_HEVC, {"4:| 02 01 00 00 01", "picture illegal zeros"}, {"4:| 40 01 00 00 01", ""});
    CHECK(STREAM_MPEG2, {"00 00 00 08 65 01 00 00 00 02 03 01", "unreadable"},
          {"x101 z64 x135", "unreadable"}); /* has stuffing zeros */
    CHECK(STREAM_VP9, {"x300", "unreadable"}, {"x101 z64 x135", "unreadable zeroed"},
          {"x102 z63 x135", "unreadable"}); /* one too few */
}

/*
 * The part with the parameter sets begins with the prefix of the first one and ends behind the last
 * one.
 */
static void check_sets(enum bitstream kind, int size, const char *text, size_t from, size_t to)
{
    struct packet_info info;
    const struct bytes b = packet_of(text, size);
    packet_scan(kind, size, b.at, b.n, &info);
    assert_ptr_equal(info.sets, to > 0 ? b.at + from : NULL);
    assert_int_equal(info.sets_size, to - from);
}

TEST(where_sets_are)
{
    for (int size = 0; size <= 4; size += 4) {
        size_t head = size ? 4 : 3;
        check_sets(STREAM_H264, size,
                   "| 09 10 | 67 42 00 1e da | 06 05 01 00 80 | 68 ce 38 | 65 88 84", head + 2,
                   4 * head + 15);
        check_sets(STREAM_HEVC, size, "| 40 01 0c | 26 01 af", 0, head + 3);
        check_sets(STREAM_H264, size, "| 65 88 84", 0, 0);
    }
#define SEQUENCE "| b2 01 | b3 0a 00 60 13 | b5 14 8a"
    check_sets(STREAM_MPEG2, 0, SEQUENCE "| 00 00 08 ff f8 | 01 12", 5, 19);
    check_sets(STREAM_MPEG2, 0, SEQUENCE, 5, 19);
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

/* ------------------------------------------------------------------ orientation */

/* Reads from a block of the exact size, so that the address sanitizer sees a read behind it. */
static bool has_orientation(enum bitstream kind, const char *text, size_t cut)
{
    struct bytes b = packet_of(text, 0);
    size_t size = b.n > cut ? b.n - cut : 0;
    uint8_t *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, b.at, size);
    bool has = nal_has_orientation(kind, NULL, 0, copy, size);
    free(copy);
    return has;
}

#define TURNED "48 00 18 80"

TEST(orientations)
{
    const char *h264 = "| 09 f0 | 06 05 02 01 02 2f 03 " TURNED "| 65 88 84";
    assert_true(has_orientation(STREAM_H264, h264, 0));
    for (size_t cut = 1; cut < 30; cut++)
        has_orientation(STREAM_H264, h264, cut);
    assert_false(has_orientation(STREAM_H264, "| 06 05 05 2f 03 " TURNED, 0));
    assert_false(has_orientation(STREAM_H264, "| 06 2f 09 " TURNED, 0)); /* is truncated */
    /* HEVC: in the base layer, before the slices, or in the extradata */
    const char *layer = "| 4e 09 2f 03 " TURNED;
    assert_true(has_orientation(STREAM_HEVC, "| 4e 01 2f 03 " TURNED, 0));
    assert_false(has_orientation(STREAM_HEVC, layer, 0));
    assert_false(has_orientation(STREAM_HEVC, "| 50 01 2f 03 " TURNED, 0));
    struct bytes extradata = packet_of("| 4e 01 2f 03 " TURNED, 0), b = packet_of(layer, 0);
    assert_true(nal_has_orientation(STREAM_HEVC, extradata.at, extradata.n, b.at, b.n));
}
