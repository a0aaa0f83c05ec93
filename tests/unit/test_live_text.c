#include "test.h"
#include "live/live_text.h"

#include <string.h>

static const struct live_column made = {
    .number = 7, .time_us = 1795694400123456, .average = {1, 0xab, 255}, .dominant = {16, 32, 48}};

TEST(json_of_a_column)
{
    static const uint8_t rgb[] = {0, 1, 2, 255, 254, 253};
    struct live_column c = made;
    char text[LIVE_JSON * 2];
    size_t length = live_text_json(&c, NULL, 2, text, sizeof text);
    assert_string_equal(text,
                        "{\"number\":7,\"time\":\"2026-11-26T12:00:00.123Z\",\"missing\":false,"
                        "\"average\":\"#01abff\",\"dominant\":\"#102030\"}");
    assert_int_equal(length, strlen(text));
    live_text_json(&c, rgb, 2, text, sizeof text);
    assert_non_null(strstr(text, "\"#102030\",\"rgb\":\"AAEC//79\"}"));
    c.missing = c.open = true;
    live_text_json(&c, rgb, 2, text, sizeof text);
    assert_non_null(
        strstr(text, "\"missing\":true,\"open\":true,\"average\":null,\"dominant\":null}"));
    /* the longest fits */
    c = (struct live_column){.number = INT64_MIN, .time_us = INT64_MAX};
    assert_true(live_text_json(&c, rgb, 2, text, sizeof text) < live_text_json_room(2));
    assert_true(live_text_json(&c, NULL, 2, text, sizeof text) < LIVE_JSON);
}

TEST(records_are_little_endian)
{
    static const uint8_t rgb[] = {9, 8, 7};
    const uint8_t want[] = {7, 0, 0, 0, 0,    0,   0,  0,  0x40, 0xb9, 0xe2, 0x04, 0x2d, 0x61,
                            6, 0, 0, 1, 0xab, 255, 16, 32, 48,   0,    9,    8,    7};
    uint8_t record[LIVE_RECORD + 3];
    live_text_record(&made, rgb, 1, record);
    assert_memory_equal(record, want, 8);
    assert_memory_equal(record + 16, want + 16, sizeof want - 16);
    uint64_t time = 0;
    for (int i = 7; i >= 0; i--)
        time = time << 8 | record[8 + i];
    assert_int_equal(time, made.time_us);
}

TEST(quoted_text_is_one_json_string)
{
    static const struct {
        const char *text, *quoted;
    } text[] = {{"sky", "sky"},
                {"a \"b\" \\", "a \\\"b\\\" \\\\"},
                {"a\nb\033", "a?b?"},
                {"\xff", "?"},
                {"d\xc3\xbcne", "d\xc3\xbcne"}};
    char quoted[64];
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        live_text_quote(text[i].text, quoted, sizeof quoted);
        assert_string_equal(quoted, text[i].quoted);
    }
    live_text_quote("abcdefgh", quoted, 6);
    assert_string_equal(quoted, "abc");
}

TEST_MAIN(NULL, NULL)
