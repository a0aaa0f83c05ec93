#include "test.h"
#include "media/sound/sound_reading.h"

#define S INT64_C(1000000)
#define FRAME INT64_C(40000)
#define HOUR (3600 * S)

static struct sound_clock begin(bool wraps)
{
    return sound_clock_begin(5 * S, 5 * S, wraps, FRAME);
}

TEST(counts_from_the_start_of_the_film)
{
    struct sound_clock c = begin(false);
    assert_int_equal(sound_clock_at(&c, 5 * S, 20000), 0);
    assert_int_equal(sound_clock_at(&c, 5 * S + 20000, 20000), 20000);
    /* priming lies before it */
    struct sound_clock d = begin(false);
    assert_int_equal(sound_clock_at(&d, 5 * S - 21000, 20000), -21000);
    /* sound that begins two hours late is late, also where the clock wraps */
    struct sound_clock late = begin(true);
    assert_int_equal(sound_clock_at(&late, 5 * S + 2 * HOUR, 20000), 2 * HOUR);
}

TEST(origin_is_that_of_the_pictures)
{
    /* timeline.h: a container's start that is far from the first picture is wrong */
    struct sound_clock c = sound_clock_begin(0, 2 * HOUR, false, FRAME);
    assert_int_equal(sound_clock_at(&c, 2 * HOUR + S, 20000), S);
    c = sound_clock_begin(5 * S, 2 * S, false, FRAME);
    assert_int_equal(sound_clock_at(&c, 5 * S, 20000), 3 * S);
    c = sound_clock_begin(TIME_NONE, 2 * S, false, FRAME);
    assert_int_equal(sound_clock_at(&c, 5 * S, 20000), 3 * S);
    c = sound_clock_begin(TIME_NONE, TIME_NONE, false, FRAME);
    assert_true(sound_clock_at(&c, 5 * S, 20000) == TIME_NONE);
}

/* Pictures and sound of a recording end and begin at different times, and jump one by one. */
TEST(jumps_as_the_pictures_do)
{
    for (int first = 0; first < 2; first++) {
        struct sound_clock c = begin(true);
        for (int64_t t = 0; t < 10 * S; t += FRAME) {
            sound_clock_picture(&c, 5 * S + t);
            if (t < 9 * S + 700000) /* the sound ends early */
                assert_int_equal(sound_clock_at(&c, 5 * S + t, FRAME), t);
        }
        /* the next recording begins at 1 s: pictures at 10 s of the film */
        if (first == 0)
            sound_clock_picture(&c, S);
        else
            assert_int_equal(sound_clock_at(&c, S + 100000, FRAME), 9720000);
        if (first == 1)
            sound_clock_picture(&c, S);
        else
            sound_clock_at(&c, S + 100000, FRAME);
        for (int64_t t = FRAME; t < 3 * S; t += FRAME) {
            sound_clock_picture(&c, S + t);
            assert_int_equal(sound_clock_at(&c, S + 100000 + t, FRAME), 10 * S + 100000 + t);
        }
    }
}

TEST(jumps_ahead_only_where_clocks_wrap)
{
    struct sound_clock c = begin(false), w = begin(true);
    sound_clock_at(&c, 5 * S, FRAME);
    sound_clock_at(&w, 5 * S, FRAME);
    assert_int_equal(sound_clock_at(&c, 5 * S + 2 * HOUR, FRAME), 2 * HOUR);
    assert_int_equal(sound_clock_at(&w, 5 * S + 2 * HOUR, FRAME), FRAME);
    assert_int_equal(sound_clock_at(&w, 5 * S + 2 * HOUR + FRAME, FRAME), 2 * FRAME);
}

TEST(wrong_times_count_as_none)
{
    struct sound_clock c = begin(false);
    c.most_us = HOUR;
    assert_int_equal(sound_clock_at(&c, 5 * S, FRAME), 0);
    assert_true(sound_clock_at(&c, TIME_NONE, FRAME) == TIME_NONE);
    assert_true(sound_clock_at(&c, INT64_MAX, FRAME) == TIME_NONE);
    assert_true(sound_clock_at(&c, INT64_MIN + 1, FRAME) == TIME_NONE);
    assert_true(sound_clock_at(&c, 2 * HOUR, INT64_MAX) == TIME_NONE);
    sound_clock_picture(&c, INT64_MAX);
    sound_clock_picture(&c, TIME_MOST);
    sound_clock_picture(&c, TIME_NONE);
    assert_int_equal(sound_clock_at(&c, 5 * S + 4 * FRAME, INT64_MAX), 4 * FRAME);
    assert_int_equal(sound_clock_at(&c, 5 * S + 5 * FRAME, -1), 5 * FRAME);
}
