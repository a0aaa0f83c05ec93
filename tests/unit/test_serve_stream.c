#include "test.h"
#include "live/serve_stream.h"

#include <stdbool.h>
#include <string.h>

#include "live/live_text.h"

enum { HEIGHT = 4, PERIOD = 1000000, RECORD = LIVE_RECORD + 3 * HEIGHT };

static char text[1 << 20];

static void put(struct live_feed *f, int64_t number, bool open)
{
    uint8_t rgb[HEIGHT * 3];
    memset(rgb, (int)number, sizeof rgb);
    struct live_column c = {.number = number, .time_us = number * PERIOD, .open = open};
    live_feed_put(f, &c, rgb);
}

/* Reads all that is there, `at_once` bytes a time, as text. */
static bool read_all(struct serve_stream *s, size_t at_once)
{
    bool over = false;
    size_t count = 0, n;
    while ((n = serve_stream_read(s, text + count, at_once, &over)) > 0)
        count += n;
    text[count] = 0;
    return over;
}

static int count_of(const char *word)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        count++;
    return count;
}

static struct live_feed *open_feed(int columns)
{
    struct live_feed *f = live_feed_open(16, HEIGHT, PERIOD, NULL);
    assert_non_null(f);
    for (int n = 0; n < columns; n++)
        put(f, n, false);
    return f;
}

TEST(events_have_each_column_once)
{
    static const size_t at_once[] = {1, 7, 4096};
    for (int i = 0; i < 3; i++) {
        struct live_feed *f = open_feed(5);
        put(f, 5, true);
        struct serve_stream *s = serve_stream_events(f, "a \"b\"", 1, NULL);
        assert_false(read_all(s, at_once[i]));
        assert_int_equal(count_of("event: feed\n"), 1);
        assert_non_null(strstr(text,
                               "{\"title\":\"a \\\"b\\\"\",\"period_us\":1000000,\"height\":4,"
                               "\"kept\":16,\"newest\":5}\n\n"));
        assert_null(strstr(text, "\"number\":1,"));
        assert_non_null(strstr(text, "id: 2\ndata: {\"number\":2,"));
        assert_non_null(strstr(text, "id: 4\n"));
        assert_null(strstr(text, "id: 5\n"));
        assert_int_equal(count_of("\"number\":5,"), 1);
        assert_false(read_all(s, at_once[i]));
        assert_string_equal(text, "");
        put(f, 5, true);
        assert_false(read_all(s, at_once[i]));
        assert_int_equal(count_of("\"number\":5,"), 1);
        put(f, 5, false);
        assert_false(read_all(s, at_once[i]));
        assert_int_equal(count_of("id: 5\ndata: {\"number\":5,"), 1);
        assert_int_equal(count_of("data:"), 1);
        live_feed_close(f);
        assert_true(read_all(s, at_once[i]));
        serve_stream_free(&s);
        live_feed_free(&f);
    }
}

/* After a restart, while the log is read, the newest column is one that the reader has. */
TEST(a_reader_who_knows_more_gets_nothing_twice)
{
    struct live_feed *f = open_feed(0);
    struct serve_stream *s = serve_stream_events(f, "", 1000, NULL);
    read_all(s, 100);
    assert_non_null(strstr(text, "\"newest\":null"));
    put(f, 999, false);
    read_all(s, 100);
    assert_string_equal(text, "");
    put(f, 1000, false);
    put(f, 1001, false);
    read_all(s, 100);
    assert_int_equal(count_of("data: {\"number\""), 1);
    assert_non_null(strstr(text, "id: 1001\n"));
    serve_stream_free(&s);
    live_feed_free(&f);
}

TEST(a_slow_reader_gets_what_is_kept)
{
    struct live_feed *f = open_feed(3);
    struct serve_stream *s = serve_stream_events(f, "", INT64_MIN, NULL);
    bool over;
    serve_stream_read(s, text, 10, &over);
    for (int n = 3; n < 100; n++)
        put(f, n, false);
    read_all(s, 100);
    assert_int_equal(count_of("data: {\"number\""), 16);
    assert_non_null(strstr(text, "id: 99\n"));
    assert_non_null(strstr(text, "id: 84\n"));
    serve_stream_free(&s);
    live_feed_free(&f);
}

TEST(columns_end_where_they_were)
{
    struct live_feed *f = open_feed(5);
    put(f, 5, true);
    struct serve_stream *s = serve_stream_columns(f, 2, NULL);
    bool over;
    assert_int_equal(serve_stream_read(s, text, LIVE_RECORDS_HEAD, &over), LIVE_RECORDS_HEAD);
    assert_memory_equal(text, "barcode", 8);
    assert_int_equal(text[8], RECORD);
    assert_int_equal(text[12], HEIGHT);
    put(f, 5, false);
    put(f, 6, false); /* came later */
    size_t n = serve_stream_read(s, text, sizeof text, &over);
    assert_int_equal(n, 3 * RECORD);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(text[i * RECORD], 3 + i);
        assert_int_equal(text[i * RECORD + RECORD - 1], 3 + i);
    }
    assert_int_equal(serve_stream_read(s, text, sizeof text, &over), 0);
    assert_true(over);
    serve_stream_free(&s);
    assert_null(s);
    serve_stream_free(&s);
    live_feed_free(&f);
}

TEST_MAIN(NULL, NULL)
