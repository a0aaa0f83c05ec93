/* test_matroska.c - the elements of a Matroska's header that libavformat does not export */

#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "media/bitstream/matroska.h"

TEST(sizes)
{
    static const struct {
        uint8_t bytes[8];
        size_t room, own;
        int64_t size;
    } t[] = {{{0x81}, 8, 1, 1},  {{0x40, 0x02}, 8, 2, 2},  {{1, 0, 0, 0, 0, 0, 1, 0}, 8, 8, 256},
             {{0xff}, 8, 1, -1}, {{0x40, 0x02}, 1, 0, -1}, {{0}, 8, 0, -1},
             {{0x81}, 0, 0, -1}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        size_t own;
        assert_int_equal(ebml_size(t[i].bytes, t[i].room, &own), t[i].size);
        assert_int_equal(own, t[i].own);
    }
}

/* Sound, a video without PixelCrop, and one with 1, 2, 3, 4 at the left, top, right, bottom. */
static const uint8_t tracks[] = {
    0xae, 0x83, 0x83, 0x81, 2,                               /* sound */
    0xae, 0x88, 0x83, 0x81, 1,    0xe0, 0x83, 0xb0, 0x81, 9, /* video, its width */
    0xae, 0x97, 0xe0, 0x92, 0x54, 0xcc, 0x81, 1,    0x54, 0xbb, 0x82, 0, 2,
    0x54, 0xdd, 0x81, 3,    0x54, 0xaa, 0x82, 0,    4,    0x83, 0x81, 1};

TEST(pixel_crop)
{
    struct film_crop c = matroska_video(tracks, sizeof tracks, 1).crop;
    assert_true(c.left == 1 && c.top == 2 && c.right == 3 && c.bottom == 4);
    for (int number = 0; number < 3; number += 2) {
        c = matroska_video(tracks, sizeof tracks, number).crop;
        assert_true(c.left == 0 && c.top == 0 && c.right == 0 && c.bottom == 0);
    }
}

TEST(ordered_chapters)
{
    static const struct {
        bool ordered;
        size_t size;
        uint8_t bytes[20];
    } t[] = {
        {true, 7, {0x45, 0xb9, 0x84, 0x45, 0xdd, 0x81, 1}},
        {false, 7, {0x45, 0xb9, 0x84, 0x45, 0xdd, 0x81, 0}},
        {false, 3, {0x45, 0xb9, 0x80}},
        /* the default edition, behind an ordered one */
        {false, 14, {0x45, 0xb9, 0x84, 0x45, 0xdd, 0x81, 1, 0x45, 0xb9, 0x84, 0x45, 0xdb, 0x81, 1}},
        /* not the first one, and none is the default */
        {false, 10, {0x45, 0xb9, 0x80, 0x45, 0xb9, 0x84, 0x45, 0xdd, 0x81, 1}}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++)
        assert_int_equal(matroska_is_ordered(t[i].bytes, t[i].size), t[i].ordered);
}

/* Cut after any byte, or with another one. A sanitizer sees a byte too many. */
TEST(damage)
{
    for (size_t size = 0; size <= sizeof tracks; size++) {
        uint8_t *copy = malloc(size + 1);
        memcpy(copy, tracks, size);
        for (size_t i = 0; i < size; i++)
            for (int bit = 0; bit < 8; bit++) {
                copy[i] ^= (uint8_t)(1 << bit);
                (void)matroska_video(copy, size, 1);
                (void)matroska_is_ordered(copy, size);
                copy[i] ^= (uint8_t)(1 << bit);
            }
        free(copy);
    }
}
