#include "test.h"
#include "live/live_text.h"

#include <string.h>

static const struct live_column made = {
    .number = 7, .time_us = 1795694400123456, .average = {1, 0xab, 255}, .dominant = {16, 32, 48}};

TEST(json_of_a_column)
{
    struct live_column c = made;
    char text[LIVE_JSON];
    size_t length = live_text_json(&c, text);
    assert_string_equal(text,
                        "{\"number\":7,\"time\":\"2026-11-26T12:00:00.123Z\",\"missing\":false,"
                        "\"average\":\"#01abff\",\"dominant\":\"#102030\"}");
    assert_int_equal(length, strlen(text));
    c.missing = true;
    live_text_json(&c, text);
    assert_non_null(strstr(text, "\"missing\":true,\"average\":null,\"dominant\":null}"));
    /* the longest fits */
    c = (struct live_column){.number = INT64_MIN, .time_us = INT64_MAX};
    assert_true(live_text_json(&c, text) < LIVE_JSON);
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
