#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "cache/cache_entry.h"
#include "staged.h"

enum { BYTES = 50000 };

TEST(there_and_back)
{
    static uint8_t data[BYTES], back[BYTES];
    uint8_t *packed = malloc(cache_pack_bound(BYTES));
    struct cache_packer *p = cache_packer_open(NULL);
    assert_true(p && packed);
    uint32_t z = 3;
    for (int noise = 0; noise < 2; noise++) {
        for (int i = 0; i < BYTES; i++) {
            z = z * 1664525u + 1013904223u;
            data[i] = noise ? (uint8_t)(z >> 24) : (uint8_t)(i / 100);
        }
        size_t size = cache_pack(p, data, BYTES, packed, NULL);
        assert_true(size > 0 && size <= cache_pack_bound(BYTES));
        assert_true(noise || size < BYTES / 10);
        memset(back, 0xa5, BYTES);
        assert_true(cache_unpack(p, packed, size, back, BYTES, NULL));
        assert_memory_equal(back, data, BYTES);
    }
    cache_packer_free(&p);
    assert_null(p);
    cache_packer_free(&p);
    free(packed);
}

TEST(what_is_not_packed)
{
    uint8_t data[100] = {1, 2, 3}, packed[300], back[200];
    struct cache_packer *p = cache_packer_open(NULL);
    assert_true(cache_pack_bound(sizeof data) <= sizeof packed);
    size_t size = cache_pack(p, data, sizeof data, packed, NULL);
    struct err e = ERR_INIT;
    assert_false(cache_unpack(p, packed, size, back, 99, &e)); /* too long for the room */
    assert_int_equal(e.code, ERR_FAILED);
    err_clear(&e);
    assert_false(cache_unpack(p, packed, size, back, 200, &e)); /* too short */
    assert_non_null(strstr(e.text, "100 bytes, not 200"));
    for (size_t cut = 0; cut < size; cut++)
        assert_false(cache_unpack(p, packed, cut, back, 100, NULL));
    assert_false(cache_unpack(p, data, sizeof data, back, 100, NULL));
    cache_packer_free(&p);
}

enum { GUARD = 16, POISON = 0xa5 };

/* There and back, with guard bytes round both outputs, and nothing left of what was in them. */
static void round_trip(const uint8_t *rgb, int width, int height)
{
    size_t bytes = (size_t)width * (size_t)height * 3;
    uint8_t *made = malloc(bytes + 2 * GUARD), *back = malloc(bytes + 2 * GUARD),
            *scratch = malloc(bytes);
    assert_true(made && back && scratch);
    memset(made, POISON, bytes + 2 * GUARD);
    memset(back, POISON, bytes + 2 * GUARD);
    cache_residual_make(rgb, width, height, scratch, made + GUARD);
    memset(scratch, POISON, bytes);
    cache_residual_undo(made + GUARD, width, height, scratch, back + GUARD);
    assert_memory_equal(back + GUARD, rgb, bytes);
    for (size_t i = 0; i < GUARD; i++)
        assert_true(made[i] == POISON && made[GUARD + bytes + i] == POISON && back[i] == POISON &&
                    back[GUARD + bytes + i] == POISON);
    free(made);
    free(back);
    free(scratch);
}

TEST(odd_sizes)
{
    static uint8_t rgb[40 * 40 * 3];
    for (int width = 1; width <= 40; width += width < 6 ? 1 : 7)
        for (int height = 1; height <= 40; height += height < 6 ? 1 : 7) {
            staged_draw(rgb, width, height, (uint64_t)(width * 41 + height));
            round_trip(rgb, width, height);
        }
}

/* Any bytes at all, extremes above all: the arithmetic is modulo 256 both ways. */
TEST(noise_and_extremes)
{
    enum { W = 37, H = 23 };
    static uint8_t rgb[W * H * 3];
    uint32_t z = 7;
    for (int round = 0; round < 50; round++) {
        for (size_t i = 0; i < sizeof rgb; i++) {
            z = z * 1664525u + 1013904223u;
            rgb[i] = (uint8_t)(round % 2 ? z >> 24 : z >> 31 ? 255 : 0);
        }
        round_trip(rgb, W, H);
    }
}

/* What it is for: a slope, grey or coloured, leaves the same byte nearly everywhere. */
TEST(slopes_vanish)
{
    enum { W = 64, H = 48 };
    static uint8_t rgb[W * H * 3], scratch[W * H * 3], out[W * H * 3];
    for (int i = 0; i < W * H; i++) {
        rgb[3 * i] = (uint8_t)(100 + i % W);
        rgb[3 * i + 1] = (uint8_t)(20 + i % W + i / W);
        rgb[3 * i + 2] = (uint8_t)(40 + i % W + i / W);
    }
    cache_residual_make(rgb, W, H, scratch, out);
    size_t zeros = 0;
    for (size_t i = 0; i < sizeof out; i++)
        zeros += out[i] == 0;
    assert_true(zeros * 10 > sizeof out * 6);
}
