#include "test.h"
#include "live/live_time.h"

TEST(numbers_and_starts)
{
    const int64_t step = 10000000;
    assert_int_equal(live_number(0, step), 0);
    assert_int_equal(live_number(9999999, step), 0);
    assert_int_equal(live_number(10000000, step), 1);
    assert_int_equal(live_number(-1, step), -1);
    assert_int_equal(live_number(-10000000, step), -1);
    assert_int_equal(live_number(-10000001, step), -2);
    assert_int_equal(live_number(INT64_C(1795694400000000), step), 179569440);
    for (int64_t n = -3; n <= 3; n++) {
        assert_int_equal(live_number(live_start_us(n, step), step), n);
        assert_int_equal(live_number(live_start_us(n, step) - 1, step), n - 1);
    }
}

TEST(retries)
{
    static const int seconds[] = {0, 1, 2, 4, 8, 16, 30, 30, 30};
    for (int i = 0; i < 9; i++)
        assert_int_equal(live_retry_seconds(i), seconds[i]);
    assert_int_equal(live_retry_seconds(INT32_MAX), 30);
    assert_int_equal(live_retry_seconds(-1), 0);
}

TEST(jumps_of_the_clock)
{
    const int64_t hour = INT64_C(3600000000);
    struct live_drift d = {0};
    assert_int_equal(live_clock_jump(&d, 1000, 5), 0);
    assert_int_equal(live_clock_jump(&d, 1000 + 60000000, 5 + 60000000), 0);
    assert_int_equal(live_clock_jump(&d, 1000 + 60000000 + hour, 5 + 60000000), hour);
    assert_int_equal(live_clock_jump(&d, 1000 + 60000000 + hour, 5 + 60000000), 0);
    assert_int_equal(live_clock_jump(&d, 1000 + 60000000, 5 + 60000000), -hour);
    /* the clock is slewed by less than half a second a call */
    assert_int_equal(live_clock_jump(&d, 1000 + 60400000, 5 + 60000000), 0);
    assert_int_equal(live_clock_jump(&d, 1000 + 60000000, 5 + 60000000), 0);
}
