#include "test.h"
#include "live/day/day.h"

#include <string.h>

enum { HEIGHT = 2, PERIOD = 1000000 };

static struct live_feed *open_feed(size_t capacity)
{
    struct live_feed *f = live_feed_open(capacity, HEIGHT, PERIOD, NULL);
    assert_non_null(f);
    assert_int_equal(live_feed_capacity(f), capacity);
    assert_true(live_feed_newest(f) == INT64_MIN && live_feed_oldest(f) == INT64_MIN);
    return f;
}

static void put(struct live_feed *f, int64_t number, bool open)
{
    uint8_t rgb[HEIGHT * 3];
    memset(rgb, (int)(number & 0xff), sizeof rgb);
    const struct live_column c = {.number = number, .time_us = number * PERIOD, .open = open};
    live_feed_put(f, &c, rgb);
}

/* Checks that the feed has columns from `oldest` to `newest`, and no others. */
static void expect(const struct live_feed *f, int64_t oldest, int64_t newest)
{
    const uint8_t *rgb;
    assert_int_equal(live_feed_oldest(f), oldest);
    assert_int_equal(live_feed_newest(f), newest);
    assert_null(live_feed_get(f, oldest - 1, &rgb));
    assert_null(live_feed_get(f, newest + 1, &rgb));
    for (int64_t n = oldest; n <= newest; n++) {
        const struct live_column *c = live_feed_get(f, n, &rgb);
        assert_non_null(c);
        assert_int_equal(c->number, n);
        assert_int_equal(c->time_us, n * PERIOD);
        assert_int_equal(rgb[HEIGHT * 3 - 1], c->missing ? 0 : n & 0xff);
    }
}

TEST(keeps_the_latest)
{
    struct live_feed *f = open_feed(4);
    const uint8_t *rgb;
    assert_null(live_feed_get(f, 0, &rgb));
    assert_null(live_feed_get(f, INT64_MIN, &rgb));
    for (int64_t n = -9; n < 9; n++) { /* before 1970, too */
        put(f, n, true);
        assert_true(live_feed_get(f, n, &rgb)->open);
        put(f, n, false);
        assert_false(live_feed_get(f, n, &rgb)->open);
        expect(f, n < -6 ? -9 : n - 3, n);
    }
    live_feed_free(&f);
    assert_null(f);
    live_feed_free(&f);
}

TEST(a_lower_number_is_ignored)
{
    struct live_feed *f = open_feed(4);
    put(f, 10, false);
    put(f, 9, false);
    expect(f, 10, 10);
    live_feed_free(&f);
}

TEST(numbers_that_are_left_out_are_missing)
{
    struct live_feed *f = open_feed(8);
    const uint8_t *rgb;
    put(f, 1, false);
    put(f, 5, false);
    live_feed_put(f, &(struct live_column){.number = 6, .time_us = 6 * PERIOD, .missing = true},
                  NULL);
    expect(f, 1, 6);
    for (int64_t n = 1; n <= 6; n++)
        assert_int_equal(live_feed_get(f, n, &rgb)->missing, n != 1 && n != 5);
    put(f, 12, false);
    expect(f, 5, 12);
    put(f, 20, false); /* nothing of before is left */
    expect(f, 20, 20);
    live_feed_free(&f);
}
