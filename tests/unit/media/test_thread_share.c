#include <stdlib.h>

#include "test.h"
#include "media/schedule/decode_pass.h"

static int of(int cores, uint64_t own, uint64_t left, int most)
{
    struct thread_share s = {.cores = cores, .chunk_work = own, .left = left, .most = most};
    return thread_share_count(&s);
}

/* Of a long film a run is a small part, and gets one thread; of a film that is one run it is all.
 */
TEST(long_and_short)
{
    assert_int_equal(of(16, 5, 5000, 16), 1);
    assert_int_equal(of(16, 5, 5, 16), 16);
    assert_int_equal(of(2, 5, 5, 16), 2);
    assert_int_equal(of(64, 5, 5, 16), 16);
    assert_int_equal(of(16, 5, 5, 1), 1);
    assert_int_equal(of(1, 5, 5, 16), 1);
    assert_int_equal(of(0, 5, 5, 16), 1); /* others have all cores, or more than there are */
    assert_int_equal(of(-3, 5, 5, 16), 1);
    /* less than its own is left: another thread was quicker */
    assert_int_equal(of(16, 5, 0, 16), 16);
    assert_int_equal(of(16, 0, 0, 16), 16);
    assert_int_equal(of(16, UINT64_MAX / 2, UINT64_MAX, 16), 10);
}

/* Five like runs that begin together have all cores between them, and a quarter more; of unlike
 * ones the largest has most. */
TEST(between_runs)
{
    assert_int_equal(of(16, 20, 100, 16), 4);
    assert_int_equal(of(16, 60, 100, 16), 12);
    assert_int_equal(of(16, 5, 100, 16), 1);
    for (uint64_t left = 20; left < 2000; left += 20)
        assert_true(of(16, 20, left + 20, 16) <= of(16, 20, left, 16));
}

static int told(const char *what)
{
    setenv("BARCODE_FRAME_THREADS", what, 1);
    return thread_share_override();
}

TEST(the_environment)
{
    unsetenv("BARCODE_FRAME_THREADS");
    assert_int_equal(thread_share_override(), 0);
    assert_int_equal(told("off"), 1);
    assert_int_equal(told("4"), 4);
    assert_int_equal(told("16"), 16);
    static const char *const nothing[] = {"", "0", "17", "-1", "4x", "on", "99999999999999999999"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        assert_int_equal(told(nothing[i]), 0);
}
