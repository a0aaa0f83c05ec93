
#include "test.h"
#include "media/gop/gaps.h"

TEST(around_a_hole)
{
    struct holes h = {.noted = 0};
    assert_false(holes_between(&h, 4, 5, true));
    holes_note(&h, 100);
    assert_true(holes_between(&h, 99, 100, false) && holes_between(&h, 100, 99, false) && holes_between(&h, 3, 700, false));
    assert_false(holes_between(&h, 98, 99, false));
    assert_false(holes_between(&h, 100, 101, false));
    /* Reordered: pictures that stood in the hole may be displayed this far from it. */
    assert_true(holes_between(&h, 102, 101, true) && holes_between(&h, 90, 91, true));
    assert_false(holes_between(&h, 70, 71, true));
    assert_false(holes_between(&h, 117, 118, true));
    assert_true(holes_inside(&h, 100, 100) && holes_inside(&h, 90, 101));
    assert_false(holes_inside(&h, 101, 200));
}

TEST(old_ones_are_forgotten)
{
    struct holes h = {.noted = 0};
    for (uint64_t i = 0; i <= HOLES_KEPT; i++)
        holes_note(&h, 1000 * (i + 1));
    assert_false(holes_between(&h, 999, 1000, false));
    for (uint64_t i = 1; i <= HOLES_KEPT; i++)
        assert_true(holes_between(&h, 1000 * (i + 1) - 1, 1000 * (i + 1), false));
}

TEST(as_many_as_there_is_room_for)
{
    assert_int_equal(holes_frames(0, 40000, 40000), 0);
    assert_int_equal(holes_frames(0, 59999, 40000), 0);
    assert_int_equal(holes_frames(0, 80000, 40000), 1);
    assert_int_equal(holes_frames(0, 79000, 40000), 1);         /* a millisecond is all that Matroska can say */
    assert_int_equal(holes_frames(1000000, 1000000 + 33367 * 30000LL, 33367), 29999);
    assert_int_equal(holes_frames(0, INT64_C(3600000001), 40000), 0);      /* a jump */
    assert_int_equal(holes_frames(40000, 0, 40000), 0);
    for (uint64_t i = 0; i <= 4; i++)
        assert_int_equal(holes_time(200, 600, i, 3), 200 + 100 * (int64_t)i);
}

/* A picture that seems to come back from behind a gap does not make it one again. */
TEST(a_gap_counts_once)
{
    struct holes h = {0};
    static const int64_t at[] = {0, 40, 480, 80, 520}, reached[] = {0, 40, 480, 480, 520};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(holes_reached(&h, at[i]), reached[i]);
}

TEST_MAIN(NULL, NULL)
