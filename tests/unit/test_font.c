#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "output/font.h"

static const uint8_t white[3] = {255, 255, 255};

static void test_ascii(void **state)
{
    (void)state;
    static const struct { const char *in, *out; } table[] = {
        {"plain ~ text", "plain ~ text"},
        {"Am\xc3\xa9lie", "Amelie"},
        {"Ame\xcc\x81lie", "Amelie"},                      /* combining accent */
        {"\xe4\xb8\x83\xe4\xba\xba", "??"},
        {"\xf0\x9f\x8e\xac.mkv", "?.mkv"},
        {"a\xff" "b\xc3", "a?b?"},
        {"\xe2\x80\x93\xe2\x80\x99", "-'"},
        {"tab\there\x7f", "tab?here?"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char out[64];
        assert_int_equal(font_ascii(table[i].in, out, sizeof out), strlen(table[i].out));
        assert_string_equal(out, table[i].out);
    }
    char small[4];
    assert_int_equal(font_ascii("abcdef", small, sizeof small), 3);
    assert_string_equal(small, "abc");
    assert_int_equal(font_ascii("abc", small, 1), 0);
}

static void test_letter(void **state)
{
    (void)state;
    static const char *const picture[FONT_HEIGHT] = {
        ".###..", "#...#.", "#...#.", "#####.", "#...#.", "#...#.", "#...#.", "......", "......", "......"};
    for (int y = 0; y < FONT_HEIGHT; y++) {
        uint8_t rgb[FONT_WIDTH * 3] = {0};
        assert_int_equal(font_row("A", y, 1, white, rgb, 0, FONT_WIDTH), FONT_WIDTH);
        for (int x = 0; x < FONT_WIDTH; x++)
            assert_int_equal(rgb[x * 3 + 1], picture[y][x] == '#' ? 255 : 0);
    }
}

static void test_scaled_covers_the_letter(void **state)
{
    (void)state;
    for (int scale = 2; scale <= 5; scale++)
        for (int y = 0; y < FONT_HEIGHT; y++) {
            uint8_t small[FONT_WIDTH * 3] = {0}, large[FONT_WIDTH * 5 * 3] = {0};
            font_row("k", y, 1, white, small, 0, FONT_WIDTH);
            font_row("k", y * scale, scale, white, large, 0, FONT_WIDTH * scale);
            for (int x = 0; x < FONT_WIDTH * scale; x++)
                if (small[x / scale * 3])
                    assert_int_equal(large[x * 3], 255);
        }
}

/* Nothing may be written outside of rgb[width], whatever the text and the place. */
static void test_clipping(void **state)
{
    (void)state;
    for (int width = 0; width < 40; width++)
        for (int x = 0; x < 45; x++) {
            uint8_t rgb[(40 + 20) * 3];
            memset(rgb, 7, sizeof rgb);
            for (int y = 0; y < FONT_HEIGHT * 2; y++)
                font_row("WWWW", y, 2, white, rgb, x, width);
            for (size_t i = (size_t)width * 3; i < sizeof rgb; i++)
                assert_int_equal(rgb[i], 7);
            for (size_t i = 0; i < (size_t)(x < width ? x : width) * 3; i++)
                assert_int_equal(rgb[i], 7);
        }
}

static void test_every_character_differs(void **state)
{
    (void)state;
    static uint8_t seen[95][FONT_HEIGHT][FONT_WIDTH * 3];
    for (int c = 0; c < 95; c++) {
        char text[2] = {(char)(' ' + c), 0};
        for (int y = 0; y < FONT_HEIGHT; y++)
            font_row(text, y, 1, white, seen[c][y], 0, FONT_WIDTH);
        for (int d = 0; d < c; d++)
            assert_memory_not_equal(seen[c], seen[d], sizeof seen[c]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascii),
        cmocka_unit_test(test_letter),
        cmocka_unit_test(test_scaled_covers_the_letter),
        cmocka_unit_test(test_clipping),
        cmocka_unit_test(test_every_character_differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
