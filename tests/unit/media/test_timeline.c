/* test_timeline.c - stored times to display times, and gaps */

#include "test.h"
#include "media/select/timeline.h"

enum { FRAME = 40000, SECOND = 1000000 };

static const struct film_clock usual = {.frame_us = FRAME, .origin_us = TIME_NONE, .wraps = true};

/* The player's time of the next frame; it becomes the last one. */
static int64_t step(struct timeline *t, int64_t pts_us)
{
    int64_t time = timeline_at(t, pts_us);
    assert_true(timeline_at(t, pts_us) == time); /* asking twice changes nothing */
    timeline_step(t, time);
    assert_true(t->last_us == time);
    return time;
}

TEST(starts_at_zero)
{
    static const int64_t first[] = {0, 1, -80000, 7 * SECOND, INT64_C(1700000000) * SECOND};
    for (int i = 0; i < 5; i++) {
        struct timeline t = timeline_begin(&usual);
        assert_true(t.last_us < 0);
        assert_int_equal(step(&t, first[i]), 0);
        assert_int_equal(step(&t, first[i] + FRAME), FRAME);
        assert_int_equal(step(&t, first[i] + 5 * FRAME), 5 * FRAME); /* variable rate */
    }
}

/* Video that begins after the sound does so for a player; nonsense does not count. */
TEST(starts_after_the_sound)
{
    static const struct {
        int64_t origin, pts, time;
    } films[] = {{0, 0, 0},
                 {0, 10 * SECOND, 10 * SECOND},
                 {1400000, 1400000 + 3 * FRAME, 3 * FRAME},
                 {-21333, 0, 21333},
                 {SECOND, SECOND - FRAME, 0},
                 {SECOND, -1, 0},
                 {0, INT64_C(3600) * SECOND, INT64_C(3600) * SECOND},
                 {0, INT64_C(3601) * SECOND, 0},
                 {INT64_MIN / 4, 0, 0}};
    for (size_t i = 0; i < sizeof films / sizeof *films; i++) {
        const struct film_clock clock = {.frame_us = FRAME, .origin_us = films[i].origin};
        struct timeline t = timeline_begin(&clock);
        assert_int_equal(step(&t, films[i].pts), films[i].time);
    }
    /* Without a time of its own, the first frame is at 0, and so the origin is another one. */
    const struct film_clock clock = {.frame_us = FRAME};
    struct timeline t = timeline_begin(&clock);
    assert_int_equal(step(&t, TIME_NONE), 0);
    assert_int_equal(step(&t, 5 * SECOND), FRAME);
}

/* A screen recording stands still for hours. Only a clock that wraps can jump so far. */
TEST(pauses_stay)
{
    const struct film_clock clock = {.frame_us = FRAME, .origin_us = TIME_NONE};
    struct timeline t = timeline_begin(&clock);
    step(&t, 0);
    assert_int_equal(step(&t, INT64_C(7200) * SECOND), INT64_C(7200) * SECOND);
    assert_int_equal(step(&t, INT64_C(90000) * SECOND), INT64_C(90000) * SECOND);
    assert_int_equal(step(&t, 3), INT64_C(90000) * SECOND + FRAME); /* a second film */
}

TEST(without_times)
{
    struct timeline t = timeline_begin(&usual);
    for (int i = 0; i < 5; i++)
        assert_int_equal(step(&t, TIME_NONE), i * FRAME);
    /* the first known one is where it is expected */
    assert_int_equal(step(&t, 9 * SECOND), 5 * FRAME);
    assert_int_equal(step(&t, 9 * SECOND + 3 * FRAME), 8 * FRAME);
    assert_int_equal(step(&t, TIME_NONE), 9 * FRAME);
    assert_int_equal(step(&t, 9 * SECOND + 7 * FRAME), 12 * FRAME);
}

TEST(small_steps_back)
{
    struct timeline t = timeline_begin(&usual);
    step(&t, 5 * SECOND);
    assert_int_equal(step(&t, 5 * SECOND - 3), 0); /* never before the film's start */
    step(&t, 8 * SECOND);
    assert_int_equal(step(&t, 7 * SECOND), 2 * SECOND); /* a second back is as stored */
    assert_int_equal(step(&t, 8 * SECOND + FRAME), 3 * SECOND + FRAME);
}

TEST(jumps_are_bridged)
{
    struct timeline t = timeline_begin(&usual);
    step(&t, 100 * SECOND);
    step(&t, 110 * SECOND); /* at 10 s */
    /* more than a second back: as if next */
    assert_int_equal(step(&t, 109 * SECOND - 1), 10 * SECOND + FRAME);
    assert_int_equal(step(&t, 111 * SECOND - 1), 12 * SECOND + FRAME); /* goes on from there */
    assert_int_equal(step(&t, 3), 12 * SECOND + 2 * FRAME); /* a second recording begins */
    assert_int_equal(step(&t, 3 + 7 * SECOND), 19 * SECOND + 2 * FRAME);

    int64_t before = t.last_us;
    assert_int_equal(step(&t, 3 + 7 * SECOND + INT64_C(3600) * SECOND),
                     before + INT64_C(3600) * SECOND);
    before = t.last_us;
    /* more than an hour ahead */
    assert_int_equal(step(&t, INT64_C(9000) * SECOND), before + FRAME);
    assert_int_equal(step(&t, INT64_C(9001) * SECOND), before + FRAME + SECOND);
}

/* Times out of a broken file: any number, in any order. */
TEST(wild_times)
{
    static const int64_t wild[] = {
        INT64_MAX, INT64_MIN + 1, 0, INT64_MAX / 2, INT64_MIN / 2, -1, 1, INT64_MAX - 1, TIME_NONE};
    enum { N = sizeof wild / sizeof *wild };
    for (int first = 0; first < N; first++) {
        struct timeline t = timeline_begin(&usual);
        int64_t last = -1;
        for (int i = 0; i < 5000; i++) {
            int64_t time = step(&t, wild[(first + i * (i % 7 + 1)) % N]);
            assert_true(time >= 0 && time >= last - SECOND &&
                        time - last <= INT64_C(3600) * SECOND);
            last = time;
        }
    }
}

/* Without a clock that wraps, a time may be far ahead, but never beyond what can be added. */
TEST(wild_pauses)
{
    static const int64_t wild[] = {TIME_MOST, -TIME_MOST, 0, TIME_NONE};
    const struct film_clock clock = {.frame_us = TIME_MOST / 2, .origin_us = TIME_NONE};
    for (size_t first = 0; first < 4; first++) {
        struct timeline t = timeline_begin(&clock);
        int64_t last = -1;
        for (size_t i = 0; i < 100; i++) {
            int64_t time = step(&t, wild[(first + i) % 4]);
            assert_true(time >= 0 && time >= last - SECOND && time <= TIME_MOST);
            last = time;
        }
    }
}

TEST(the_last_slide)
{
    assert_int_equal(timeline_last_stays(FRAME, 0), FRAME);
    assert_int_equal(timeline_last_stays(FRAME, FRAME + FRAME / 2), FRAME);
    assert_int_equal(timeline_last_stays(FRAME, 30 * SECOND), 30 * SECOND);
    /* nobody looks at one for so long */
    assert_int_equal(timeline_last_stays(FRAME, (int64_t)3601 * SECOND), FRAME);
}

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
