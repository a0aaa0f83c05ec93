
#include "test.h"
#include "media/gop/gaps.h"

TEST(around_a_gap)
{
    struct gaps g = {.noted = 0};
    assert_false(gaps_between(&g, 4, 5, true));
    gaps_note(&g, 100);
    assert_true(gaps_between(&g, 99, 100, false) && gaps_between(&g, 100, 99, false) &&
                gaps_between(&g, 3, 700, false));
    assert_false(gaps_between(&g, 98, 99, false));
    assert_false(gaps_between(&g, 100, 101, false));
    /* Reordered: pictures of the gap may be displayed this far from it. */
    assert_true(gaps_between(&g, 102, 101, true) && gaps_between(&g, 90, 91, true));
    assert_false(gaps_between(&g, 70, 71, true));
    assert_false(gaps_between(&g, 117, 118, true));
    assert_true(gaps_inside(&g, 100, 100) && gaps_inside(&g, 90, 101));
    assert_false(gaps_inside(&g, 101, 200));
}

TEST(old_ones_are_forgotten)
{
    struct gaps g = {.noted = 0};
    for (uint64_t i = 0; i <= GAPS_KEPT; i++)
        gaps_note(&g, 1000 * (i + 1));
    assert_false(gaps_between(&g, 999, 1000, false));
    for (uint64_t i = 1; i <= GAPS_KEPT; i++)
        assert_true(gaps_between(&g, 1000 * (i + 1) - 1, 1000 * (i + 1), false));
}

TEST(as_many_as_there_is_room_for)
{
    assert_int_equal(gap_frames(0, 40000, 40000), 0);
    assert_int_equal(gap_frames(0, 59999, 40000), 0);
    assert_int_equal(gap_frames(0, 80000, 40000), 1);
    assert_int_equal(gap_frames(0, 79000, 40000), 1); /* Matroska's times are milliseconds */
    assert_int_equal(gap_frames(1000000, 1000000 + 33367 * 30000LL, 33367), 29999);
    assert_int_equal(gap_frames(0, INT64_C(3600000001), 40000), 0); /* a jump */
    assert_int_equal(gap_frames(40000, 0, 40000), 0);
    for (uint64_t i = 0; i <= 4; i++)
        assert_int_equal(gap_frame_time(200, 600, i, 3), 200 + 100 * (int64_t)i);
}

/* A picture that seems to come back from behind a gap does not make it one again. */
TEST(a_gap_counts_once)
{
    struct gaps g = {0};
    static const int64_t at[] = {0, 40, 480, 80, 520}, reached[] = {0, 40, 480, 480, 520};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(gaps_reached(&g, at[i]), reached[i]);
}
