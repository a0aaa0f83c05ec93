
#include "test.h"
#include "media/bitstream/display_orientation.h"
#include "nal_bytes.h"

/* Reads from a block of the exact size, so that the address sanitizer sees a read behind it. */
static bool orientation_of(enum bitstream kind, int length_size, const struct bytes *b,
                           struct display_orientation *o)
{
    uint8_t *copy = malloc(b->n);
    assert_non_null(copy);
    memcpy(copy, b->at, b->n);
    bool found = nal_display_orientation(kind, length_size, copy, b->n, o);
    free(copy);
    return found;
}

/* hor_flip, not ver_flip, 0x4000 of 65536, and a repetition period. */
#define TURNED 0x48, 0x00, 0x18
/* An angle of 7, after an emulation prevention byte. */
#define ESCAPED 0x00, 0x00, 0x03, 0xf8

TEST(h264)
{
    for (int length_size = 0; length_size <= 4; length_size += 4) {
        struct display_orientation o = {false, false, 1};
        struct bytes b = {.n = 0};
        NAL(&b, length_size, 9, 0xf0);
        NAL(&b, length_size, 6, 5, 2, 1, 2, 47, 3, TURNED, 0x80);
        NAL(&b, length_size, 0x65, 0x88, 0x84);
        assert_true(orientation_of(STREAM_H264, length_size, &b, &o));
        assert_true(o.hor_flip && !o.ver_flip);
        assert_int_equal(o.anticlockwise, 0x4000);
        for (; b.n > 0; b.n--)
            orientation_of(STREAM_H264, length_size, &b, &o);
    }
    struct display_orientation o;
    struct bytes escaped = {.n = 0};
    NAL(&escaped, 4, 6, 47, 3, ESCAPED, 0x80);
    assert_true(orientation_of(STREAM_H264, 4, &escaped, &o));
    assert_true(!o.hor_flip && !o.ver_flip);
    assert_int_equal(o.anticlockwise, 7);
}

TEST(hevc)
{
    struct display_orientation o;
    struct bytes b = {.n = 0}, layer = {.n = 0}, suffix = {.n = 0};
    NAL(&b, 0, 39 << 1, 1, 47, 3, TURNED, 0x80);
    NAL(&layer, 0, 39 << 1, 1 << 3 | 1, 47, 3, TURNED, 0x80);
    NAL(&suffix, 0, 40 << 1, 1, 47, 3, TURNED, 0x80);
    assert_true(orientation_of(STREAM_HEVC, 0, &b, &o));
    assert_true(o.hor_flip && !o.ver_flip);
    assert_int_equal(o.anticlockwise, 0x4000);
    assert_true(nal_extradata_display_orientation(b.at, b.n, &o));
    assert_false(orientation_of(STREAM_HEVC, 0, &layer, &o));
    assert_false(orientation_of(STREAM_HEVC, 0, &suffix, &o));
}

TEST(none)
{
    struct display_orientation o;
    struct bytes cancelled = {.n = 0}, later = {.n = 0}, other = {.n = 0}, truncated = {.n = 0};
    NAL(&cancelled, 4, 6, 47, 3, 0xc8, 0, 0x18, 0x80);
    NAL(&later, 4, 0x65, 0x88, 0x84);
    NAL(&later, 4, 6, 47, 3, TURNED, 0x80);
    NAL(&other, 4, 6, 5, 5, 47, 3, TURNED, 0x80);
    NAL(&truncated, 4, 6, 47, 9, TURNED, 0x80);
    assert_false(orientation_of(STREAM_H264, 4, &cancelled, &o));
    assert_false(orientation_of(STREAM_H264, 4, &later, &o));
    assert_false(orientation_of(STREAM_H264, 4, &other, &o));
    assert_false(orientation_of(STREAM_H264, 4, &truncated, &o));
}
