/* test_mp4_box.c - heads of boxes, of both lengths, and what is none. */

#include "test.h"
#include "media/container/film_input.h"

#define NEXT(text, at) mp4_box_next((const uint8_t *)(text), sizeof(text) - 1, at)
#define IS(text, name) mp4_box_is((const uint8_t *)(text), sizeof(text) - 1, name)

TEST(names)
{
    assert_true(IS("\0\0\0\20ftypisom", "ftyp") && IS("\0\0\0\10free", "free"));
    assert_false(IS("\0\0\0\20ftypisom", "moov") || IS("\0\0\0\10fre", "free"));
    assert_false(mp4_box_is((const uint8_t *)"", -1, "free"));
}

TEST(where_the_next_one_begins)
{
    assert_int_equal(NEXT("\0\0\0\20ftyp", 100), 116);
    assert_int_equal(NEXT("\377\377\377\377mdat", 0), UINT32_MAX);
    assert_int_equal(NEXT("\0\0\0\1mdat\0\0\0\1\0\0\0\2", 40), (INT64_C(1) << 32) + 42);
    assert_int_equal(NEXT("\0\0\0\10free", INT64_MAX - 8), INT64_MAX);
    assert_int_equal(NEXT("\0\0\0\0mdat", 0), -1); /* to the file's end */
    assert_int_equal(NEXT("\0\0\0\7free", 0), -1);
    assert_int_equal(NEXT("\0\0\0\1mdat\0\0\0\0\0\0\0\7", 0), -1);
    assert_int_equal(NEXT("\0\0\0\1mdat\0\0\0\0\0\0\1", 0), -1);
    assert_int_equal(NEXT("\0\0\0\1mdat\377\377\377\377\377\377\377\360", 8), -1);
    assert_int_equal(NEXT("\0\0\0\11free", INT64_MAX - 8), -1);
    assert_int_equal(NEXT("\0\0\0\20fre", 0), -1);
    assert_int_equal(mp4_box_next((const uint8_t *)"", -1, 0), -1);
}
