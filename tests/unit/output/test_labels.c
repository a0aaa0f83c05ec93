#include <string.h>

#include "test.h"
#include "output/poster/labels.h"
#include "strips.h"

TEST(test_utf8)
{
    static const struct {
        const char *in, *line, *any;
    } table[] = {
        {"film.mkv", "film.mkv", "film.mkv"},
        {"Am\xc3\xa9lie \xf0\x9f\x8e\xac", "Am\xc3\xa9lie \xf0\x9f\x8e\xac",
         "Am\xc3\xa9lie \xf0\x9f\x8e\xac"},
        {"a\xff"
         "b",
         "a\xef\xbf\xbd"
         "b",
         "a\xef\xbf\xbd"
         "b"},
        {"\xc3", "\xef\xbf\xbd", "\xef\xbf\xbd"},
        {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd"}, /* overlong */
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
         "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf4\x90\x80\x80", NULL, NULL},
        /* noncharacters */
        {"a\xef\xbf\xbe"
         "\xef\xbf\xbf"
         "\xef\xb7\x90"
         "\xef\xb7\xaf"
         "\xf0\x9f\xbf\xbe"
         "\xf4\x8f\xbf\xbf",
         "a??????", NULL},
        {"\xef\xb7\x8f\xef\xb7\xb0\xef\xbf\xbd\xf0\x9f\xbf\xbd\xf0\xae\xbf\xbf",
         "\xef\xb7\x8f\xef\xb7\xb0\xef\xbf\xbd\xf0\x9f\xbf\xbd\xf0\xae\xbf\xbf", NULL},
        {"a\nb\x7f\xc2\x85", "a?b??", "a\nb\x7f\xc2\x85"},
    };
    char out[64];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        paint_text_utf8(table[i].in, true, out, sizeof out);
        if (table[i].line)
            assert_string_equal(out, table[i].line);
        paint_text_utf8(table[i].in, false, out, sizeof out);
        if (table[i].any)
            assert_string_equal(out, table[i].any);
    }
    paint_text_utf8("ab\xc3\xa9", false, out, 4); /* cut at a whole character */
    assert_string_equal(out, "ab");
}

TEST(test_names)
{
    assert_string_equal(paint_text_file_name("/a/b.mkv"), "b.mkv");
    assert_string_equal(paint_text_file_name("b.mkv"), "b.mkv");
    assert_string_equal(paint_text_file_name(NULL), "");
    char out[64];
    paint_text_titles(alone("kmeans"), out, sizeof out);
    assert_string_equal(out, "k-means");
    paint_text_titles(alone("squeeze"), out, sizeof out);
    assert_string_equal(out, "squeeze");
    paint_text_titles(stacked(), out, sizeof out);
    assert_string_equal(out, "k-means, dominant, palette, average and squeeze");
    paint_text_titles((struct strips){strip_table, 2}, out, sizeof out);
    assert_string_equal(out, "k-means and dominant");
    paint_text_titles(stacked(), out, 12);
    assert_string_equal(out, "k-means, do");
}

TEST(test_selection)
{
    const int64_t no = INT64_MAX, s = 1000000;
    const struct {
        struct selection rule;
        const char *text;
    } table[] = {
        {{SELECT_EVERY, 1, 0, 0, 0, no, false, false, 0, 0}, "every frame"},
        {{SELECT_EVERY, 2, 0, 0, 0, no, false, false, 0, 0}, "every 2nd frame"},
        {{SELECT_EVERY, 23, 0, 0, 0, no, false, false, 0, 0}, "every 23rd frame"},
        {{SELECT_EVERY, 13, 0, 0, 0, no, false, false, 0, 0}, "every 13th frame"},
        {{SELECT_EVERY, 101, 0, 0, 5 * s, no, false, false, 0, 0},
         "every 101st frame, from 5 s on"},
        {{SELECT_EVERY, 24, 0, 0, 0, 60 * s, false, false, 0, 0}, "every 24th frame, up to 60 s"},
        {{SELECT_INTERVAL, 0, s / 2, 0, s / 4, 2 * s, false, false, 0, 0},
         "a frame every 0.5 s, from 0.25 s to 2 s"},
        {{SELECT_COLUMNS, 0, 0, 720, 0, 90 * s, false, false, 0, 0}, "720 frames, evenly spaced"},
        {{SELECT_COLUMNS, 0, 0, 1, s, 90 * s, false, false, 0, 0},
         "1 frame, evenly spaced, from 1 s on"},
        {{SELECT_COLUMNS, 0, 0, 720, 0, 90 * s, true, false, 0, 0},
         "720 frames, evenly spaced, key frames"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char out[160];
        paint_text_selection(&table[i].rule, out, sizeof out);
        assert_string_equal(out, table[i].text);
    }
}
