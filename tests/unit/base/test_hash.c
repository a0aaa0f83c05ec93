#include <string.h>

#include "test.h"
#include "base/hash.h"

/* xxHash's own numbers for nothing at all, seed 0: entries on disk must mean the same next year. */
TEST(known_values)
{
    char text[33];
    assert_true(hash_64("", 0) == UINT64_C(0x2d06800538d394c2));
    hash_hex(hash_128("", 0), text);
    assert_string_equal(text, "99aa06d3014798d86001c324468d497f");
}

TEST(every_bit_counts)
{
    uint8_t data[300];
    memset(data, 7, sizeof data);
    struct hash128 whole = hash_128(data, sizeof data);
    uint64_t half = hash_64(data, sizeof data);
    for (size_t bit = 0; bit < sizeof data * 8; bit++) {
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(hash_same(hash_128(data, sizeof data), whole));
        assert_true(hash_64(data, sizeof data) != half);
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(hash_same(hash_128(data, sizeof data), whole));
    assert_false(hash_same(hash_128(data, sizeof data - 1), whole));
}

/* In pieces of any size it is the same. */
TEST(in_pieces)
{
    uint8_t data[5000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 37 >> 3);
    for (size_t piece = 1; piece < 1500; piece += 97) {
        struct hash_stream *s = hash_stream_open();
        assert_non_null(s);
        for (size_t at = 0; at < sizeof data; at += piece)
            hash_stream_add(s, data + at, sizeof data - at < piece ? sizeof data - at : piece);
        assert_true(hash_same(hash_stream_end(&s), hash_128(data, sizeof data)));
        assert_null(s);
    }
}
