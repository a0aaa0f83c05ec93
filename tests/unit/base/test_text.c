#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "base/text.h"

TEST(make_plain)
{
    static const struct {
        const char *in, *out;
    } table[] = {
        {"", ""},
        {"film.mkv", "film.mkv"},
        {"a\n\t\x1b[2J\x7f", "a???[2J?"}, /* C0, DEL */
        {"\xc2\x80\xc2\x9b"
         "31m\xc2\x9f\xc2\xa0",
         "??31m?\xc2\xa0"}, /* C1; U+00A0 is none */
        {"\x9b"
         "31m \xff\xfe",
         "?31m ??"},                                                  /* bytes, not UTF-8 */
        {"\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "???"},                  /* U+061C, U+200E, U+200F */
        {"\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae", "????"}, /* U+2028 to U+202E */
        {"\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", "\xe2\x81\xa5??\xe2\x81\xaa"},
        {"\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf"},
        {"\xc0\x9b\xe0\x80\x9b\xf0\x80\x80\x9b", "?????????"}, /* overlong */
        {"\xed\xa0\x80\xf4\x90\x80\x80\xf5", "????????"},      /* surrogate, too large */
        {"\xc3"
         "a \xe2\x80 \xf0\x9f\x8e",
         "?a ?? ???"}, /* truncated */
        {"\x80"
         "a\xbf",
         "?a?"},
        /* Amelie with a combining accent, Japanese, Arabic, Hebrew */
        {"Ame\xcc\x81lie", "Ame\xcc\x81lie"},
        {"\xe4\xb8\x83\xe4\xba\xba\xe3\x81\xae\xe4\xbe\x8d",
         "\xe4\xb8\x83\xe4\xba\xba\xe3\x81\xae\xe4\xbe\x8d"},
        {"\xd9\x81\xd9\x8a\xd9\x84\xd9\x85 \xd7\xa1", "\xd9\x81\xd9\x8a\xd9\x84\xd9\x85 \xd7\xa1"},
        /* a family: emoji joined by U+200D; U+200C; a flag; U+FEFF */
        {"\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7",
         "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7"},
        {"\xe2\x80\x8c\xf0\x9f\x87\xaf\xf0\x9f\x87\xb5\xef\xbb\xbf",
         "\xe2\x80\x8c\xf0\x9f\x87\xaf\xf0\x9f\x87\xb5\xef\xbb\xbf"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", table[i].in);
        text_make_plain(text);
        assert_string_equal(text, table[i].out);
        text_make_plain(text);
        assert_string_equal(text, table[i].out);
    }
}

/* A text that ends within a sequence is not read past its end. */
TEST(ends_within_a_sequence)
{
    static const char *const cut[] = {"\xc3", "\xe2",     "\xe2\x80",
                                      "\xf0", "\xf0\x9f", "\xf0\x9f\x8e"};
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++) {
        char *text = strdup(cut[i]);
        assert_non_null(text);
        text_make_plain(text);
        assert_int_equal(strlen(text), strlen(cut[i]));
        assert_int_equal(strspn(text, "?"), strlen(cut[i]));
        free(text);
    }
}

TEST(times_are_iso_8601)
{
    static const struct {
        int64_t us;
        const char *text;
    } time[] = {{0, "1970-01-01T00:00:00.000Z"},
                {-1, "1969-12-31T23:59:59.999Z"},
                {1795694400123456, "2026-11-26T12:00:00.123Z"},
                {951782400000000, "2000-02-29T00:00:00.000Z"},
                {4102444799999999, "2099-12-31T23:59:59.999Z"}};
    for (size_t i = 0; i < sizeof time / sizeof *time; i++) {
        char text[TEXT_UTC];
        text_utc(time[i].us, true, text);
        assert_string_equal(text, time[i].text);
    }
    char seconds[TEXT_UTC];
    text_utc(1795694400999999, false, seconds);
    assert_string_equal(seconds, "2026-11-26T12:00:00Z");
}

TEST(clocks)
{
    static const struct {
        int64_t us;
        int hours;
        bool tenths;
        const char *text;
    } clock[] = {{0, TEXT_HOURS, true, "0:00:00.0"},
                 {3723450000, TEXT_HOURS, true, "1:02:03.5"},
                 {-1449999, TEXT_HOURS_IF_ANY, true, "-0:01.4"},
                 {-49999, TEXT_HOURS_IF_ANY, true, "0:00.0"},
                 {3599499999, TEXT_HOURS_IF_ANY, false, "59:59"},
                 {3599500000, TEXT_HOURS_IF_ANY, false, "1:00:00"},
                 {3630000000, TEXT_MINUTES, false, "60:30"},
                 {INT64_MIN, TEXT_MINUTES, true, "-2562047788:00:54.8"}};
    for (size_t i = 0; i < sizeof clock / sizeof *clock; i++) {
        char text[TEXT_CLOCK];
        text_clock(clock[i].us, clock[i].hours, clock[i].tenths, text);
        assert_string_equal(text, clock[i].text);
    }
}
