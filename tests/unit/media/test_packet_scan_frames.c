
#include "test.h"
#include "nal_bytes.h"

enum { SEI = 0x06, SPS = 0x67, SLICE_REF = 0x41 };

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
