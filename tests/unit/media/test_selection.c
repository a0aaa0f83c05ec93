/* selection against its definition, target by target, on films of every kind of timing. */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "media/select/selection.h"

enum { FRAMES = 400, COLUMNS = 4096 };

static uint64_t random_state = 3;

static uint32_t rnd(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

/* Estimates for a film that begins at 0. */
static uint64_t estimate(const struct selection *rule, int64_t frames, int64_t duration_us)
{
    const struct film_length length = {0, duration_us, frames, LENGTH_TRACK};
    return selection_estimate(rule, &length);
}

/* Walks frames a..b-1; owner[column] becomes the frame. */
static void walk(struct selection_cursor *c, const int64_t *time, int a, int b, int *owner)
{
    for (int i = a; i < b; i++) {
        uint64_t column = 99999;
        uint32_t n = selection_take(c, time[i], time[i + 1], &column);
        for (uint32_t k = 0; k < n; k++) {
            assert_true(column + k < COLUMNS);
            assert_int_equal(owner[column + k], -1);
            owner[column + k] = i;
        }
    }
}

static uint64_t walk_all(const struct selection *rule, const int64_t *time, int frames, int *owner)
{
    struct selection_cursor c = selection_begin(rule);
    memset(owner, -1, COLUMNS * sizeof *owner);
    walk(&c, time, 0, frames, owner);
    return c.column;
}

/* Fails unless the columns of frames at `time` are of the frames `want`. */
static void expect_owners(const struct selection *rule, const int64_t *time, int frames,
                          const int *want, int columns)
{
    int owner[COLUMNS];
    assert_int_equal(walk_all(rule, time, frames, owner), columns);
    for (int i = 0; i < columns; i++)
        assert_int_equal(owner[i], want[i]);
}

#define OWNERS(rule, time, frames, ...) \
    expect_owners(rule, time, frames, (const int[]){__VA_ARGS__}, \
                  sizeof(const int[]){__VA_ARGS__} / sizeof(int))

/* A film of 100 frames, of 40 ms each; the last time is its end. */
static int64_t even[101];

FIXTURE(fill_even)
{
    for (int i = 0; i <= 100; i++)
        even[i] = i * 40000;
    return 0;
}

TEST_FIXTURE(fill_even, NULL)

TEST(every_nth)
{
    struct selection rule = {.kind = SELECT_EVERY, .every = 24, .end_us = INT64_MAX};
    OWNERS(&rule, even, 100, 0, 24, 48, 72, 96);
    assert_int_equal(estimate(&rule, 100, 4000000), 5);
    assert_int_equal(estimate(&rule, 100, -1), 5);
    assert_int_equal(estimate(&rule, -1, 4000000), 0);
    rule.start_us = 400001; /* frame 11 is the first */
    rule.end_us = 2000000;  /* frame 50 is out */
    OWNERS(&rule, even, 100, 11, 35);
    assert_int_equal(estimate(&rule, 100, 4000000), 2);
    assert_int_equal(estimate(&rule, 100, -1), 0);
    struct selection_cursor c = selection_begin(&rule);
    assert_false(selection_done(&c, 1999999));
    assert_true(selection_done(&c, 2000000));
}

/* Broken timestamps inside start..end do not touch the count. */
TEST(every_ignores_glitches)
{
    int64_t time[101];
    struct selection rule = {.kind = SELECT_EVERY, .every = 10, .end_us = INT64_MAX};
    memcpy(time, even, sizeof time);
    time[30] = time[31] = time[32] = 0;
    OWNERS(&rule, time, 100, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90);
}

TEST(interval_on_constant_rate)
{
    int owner[COLUMNS];
    struct selection rule = {.kind = SELECT_INTERVAL, .interval_us = 1000000, .end_us = INT64_MAX};
    OWNERS(&rule, even, 100, 0, 25, 50, 75);
    assert_int_equal(estimate(&rule, -1, 4000000), 4);
    assert_int_equal(estimate(&rule, -1, 4000001), 5);
    assert_int_equal(estimate(&rule, 100, -1), 0);
    /* The frame that is on the screen at start, though it came before. */
    rule.start_us = 1010000;
    rule.end_us = 3010000;
    OWNERS(&rule, even, 100, 25, 50);
    assert_int_equal(estimate(&rule, 100, 4000000), 2);
    struct selection_cursor c = selection_begin(&rule);
    walk(&c, even, 0, 25, memset(owner, -1, sizeof owner));
    assert_false(selection_done(&c, even[50]));
    walk(&c, even, 25, 51, owner);
    assert_true(selection_done(&c, even[51]));
}

/* A frame that stays long fills several; many short ones fill none. A film that starts after the
 * target: the first frame has it. */
TEST(variable_rate)
{
    const int64_t time[] = {0, 10, 20, 1000, 1010, 5000, 5001}, late[] = {700, 1100, 1500, 1900};
    struct selection rule = {.kind = SELECT_INTERVAL, .interval_us = 500, .end_us = INT64_MAX};
    OWNERS(&rule, time, 6, 0, 2, 3, 4, 4, 4, 4, 4, 4, 4, 5);
    OWNERS(&rule, late, 3, 0, 0, 0, 2); /* 0, 500, 1000, 1500 */
    rule = (struct selection){.kind = SELECT_COLUMNS, .columns = 5, .end_us = 5001};
    OWNERS(&rule, time, 6, 2, 4, 4, 4, 4); /* 500, 1500, 2500, 3500, 4500 */
}

TEST(columns_in_the_middle)
{
    int owner[COLUMNS];
    struct selection rule = {.kind = SELECT_COLUMNS, .columns = 10, .end_us = 4000000};
    OWNERS(&rule, even, 100, 5, 15, 25, 35, 45, 55, 65, 75, 85, 95);
    rule.columns = 300; /* more than frames: each fills three */
    assert_int_equal(walk_all(&rule, even, 100, owner), 300);
    for (int i = 0; i < 300; i++)
        assert_int_equal(owner[i], i / 3);
    assert_int_equal(estimate(&rule, 100, 4000000), 300);
    assert_int_equal(estimate(&rule, -1, -1), 300);
    rule.start_us = rule.end_us;
    assert_int_equal(walk_all(&rule, even, 100, owner), 0);
    assert_true(selection_done(&(struct selection_cursor){.rule = rule}, 0));
}

/* The definition by brute force: the first frame in order, not broken, that reaches beyond the
 * target. */
static int naive_owner(const int64_t *time, int frames, int64_t target)
{
    for (int i = 0; i < frames; i++)
        if (time[i + 1] > time[i] && time[i + 1] > target)
            return i;
    return -1;
}

TEST(random_films)
{
    for (int round = 0; round < 2000; round++) {
        int64_t time[FRAMES + 1];
        int owner[COLUMNS], frames = 1 + (int)(rnd() % FRAMES);
        time[0] = round % 3 ? 0 : (int64_t)(rnd() % 300);
        for (int i = 1; i <= frames; i++)
            time[i] = time[i - 1] + (rnd() % 9 ? rnd() % 100 : rnd() % 2000);
        for (int i = 0; round % 2 && i < frames / 8; i++)
            time[rnd() % (uint32_t)frames] = (int64_t)(rnd() % 20000) - 100;
        int64_t last = time[frames];
        struct selection rule = {.kind = round % 4 < 2 ? SELECT_INTERVAL : SELECT_COLUMNS,
                                 .interval_us = last / 1000 + 1 + rnd() % 900,
                                 .columns = 1 + rnd() % 900,
                                 .start_us = rnd() % 500};
        rule.end_us = rule.start_us + 1 + rnd() % (uint32_t)(last + 100);
        uint64_t given = walk_all(&rule, time, frames, owner);
        for (uint64_t j = 0; j < COLUMNS; j++) {
            int64_t span = rule.end_us - rule.start_us;
            int64_t t =
                rule.kind == SELECT_INTERVAL
                    ? rule.start_us + (int64_t)j * rule.interval_us
                    : rule.start_us + (int64_t)((2 * j + 1) * (uint64_t)span / (2 * rule.columns));
            bool exists = rule.kind == SELECT_INTERVAL ? t < rule.end_us : j < rule.columns;
            assert_int_equal(owner[j], exists ? naive_owner(time, frames, t) : -1);
            assert_true((j < given) == (owner[j] >= 0));
        }
    }
}

/* GOP by GOP with the cursor copied in between is the whole; and once done, nothing more is given.
 */
TEST(pieces_are_the_whole)
{
    for (int round = 0; round < 600; round++) {
        int64_t time[FRAMES + 1];
        int whole[COLUMNS], pieces[COLUMNS];
        time[0] = 0;
        for (int i = 1; i <= FRAMES; i++)
            time[i] = time[i - 1] + rnd() % 100;
        struct selection rule = {.kind = (enum selection_kind)(round % 3),
                                 .every = 1 + rnd() % 30,
                                 .interval_us = 20 + rnd() % 300,
                                 .columns = 1 + rnd() % 500,
                                 .start_us = rnd() % 3000,
                                 .end_us = 3000 + rnd() % 15000};
        walk_all(&rule, time, FRAMES, whole);
        memset(pieces, -1, sizeof pieces);
        struct selection_cursor c = selection_begin(&rule);
        for (int a = 0; a < FRAMES && !selection_done(&c, time[a]);) {
            int b = a + 1 + (int)(rnd() % 40);
            b = b < FRAMES ? b : FRAMES;
            struct selection_cursor copy = c;
            walk(&copy, time, a, b, pieces);
            c = copy;
            a = b;
        }
        assert_memory_equal(whole, pieces, sizeof whole);
    }
}

/* What was passed by while next_us was broken goes to the first frame that reaches beyond it, even
 * after the end. */
TEST(glitches_lose_nothing)
{
    const int64_t time[] = {0, 100, 50, 300, 300, 200, 400, 500};
    struct selection rule = {.kind = SELECT_INTERVAL, .interval_us = 100, .end_us = 500};
    OWNERS(&rule, time, 7, 0, 2, 2, 5, 6);
    struct selection_cursor c = selection_begin(&rule);
    uint64_t column;
    assert_int_equal(selection_take(&c, 0, 150, &column), 2);
    assert_int_equal(selection_take(&c, 150, 140, &column), 0);
    assert_false(selection_done(&c, 700));
    assert_int_equal(selection_take(&c, 700, 740, &column), 3);
    assert_int_equal(column, 2);
    assert_true(selection_done(&c, 0));
}

TEST(last_frame_and_extremes)
{
    uint64_t column = 0;
    struct selection rule = {.kind = SELECT_INTERVAL, .interval_us = 1, .end_us = INT64_MAX};
    struct selection_cursor c = selection_begin(&rule);
    assert_int_equal(selection_take(&c, 0, INT64_MAX, &column), 1);
    assert_int_equal(selection_take(&c, 0, INT64_MAX, &column), 0);
    assert_int_equal(selection_take(&c, INT64_MAX, INT64_MAX, &column), 0);
    assert_int_equal(selection_take(&c, INT64_MIN, INT64_MIN, &column), 0);
    assert_int_equal(selection_take(&c, INT64_MIN, 0, &column), 0);
    assert_int_equal(selection_take(&c, 0, INT64_MAX - 1, &column), UINT32_MAX);
    assert_int_equal(column, 1);
    rule = (struct selection){.kind = SELECT_COLUMNS, .columns = UINT64_MAX, .end_us = INT64_MAX};
    c = selection_begin(&rule);
    /* (2j+1) * (2^63-1) / 2^65 < 1 for j = 0, 1 */
    assert_int_equal(selection_take(&c, 0, 1, NULL), 2);
    assert_int_equal(selection_take(&c, 1, INT64_MAX, NULL), UINT32_MAX);
    rule = (struct selection){.kind = SELECT_COLUMNS, .columns = 7, .end_us = 1000};
    c = selection_begin(&rule);
    assert_int_equal(selection_take(&c, 0, 10, &column), 0);
    assert_false(selection_done(&c, 5000));
    assert_int_equal(selection_take(&c, 10, INT64_MAX, &column), 7);
    assert_true(selection_done(&c, 10));
    rule = (struct selection){.kind = SELECT_INTERVAL, .interval_us = 400, .end_us = 10000};
    c = selection_begin(&rule);
    assert_int_equal(selection_take(&c, 0, 1000, &column), 3);
    assert_int_equal(selection_take(&c, 1300, INT64_MAX, &column), 1);
    rule = (struct selection){.kind = SELECT_EVERY, .end_us = INT64_MAX}; /* every 0 is every 1 */
    assert_int_equal(estimate(&rule, INT64_MAX, INT64_MAX), INT64_MAX);
}

/* A film that begins at 10 s: targets begin there, and the estimate knows. */
TEST(late_start)
{
    struct film_length length = {10000000, 20000000, 500, LENGTH_TRACK};
    struct selection rule = {.kind = SELECT_INTERVAL, .interval_us = 1000000, .end_us = INT64_MAX};
    assert_int_equal(selection_estimate(&rule, &length), 20);
    rule.start_us = 15000000;
    assert_int_equal(selection_estimate(&rule, &length), 15);
    rule.kind = SELECT_EVERY;
    rule.every = 1;
    assert_int_equal(selection_estimate(&rule, &length), 375);
    rule = (struct selection){.kind = SELECT_COLUMNS, .columns = 4, .end_us = 30000000};
    assert_int_equal(selection_estimate(&rule, &length), 4);
    struct selection_cursor c = selection_begin(&rule);
    selection_first(&c, 10000000);
    uint64_t column, filled = 0;
    for (int64_t t = 10000000; t < 30000000; t += 40000)
        if (selection_take(&c, t, t + 40000, &column) > 0)
            assert_in_range(12500000 + 5000000 * (int64_t)filled++, t, t + 39999);
    assert_int_equal(filled, 4);
    /* the frames before --start do not move it */
    rule.start_us = 20000000;
    c = selection_begin(&rule);
    selection_first(&c, 10000000);
    assert_int_equal(selection_take(&c, 10000000, 20000000, &column), 0);
    assert_int_equal(selection_take(&c, 20000000, 30000000, &column), 4);
}

TEST(last_frame)
{
    /* up to a column before the end, or 2 s or 1 % */
    struct selection s = {.kind = SELECT_COLUMNS, .columns = 100, .end_us = 100000000};
    int64_t slack = selection_slack_us(&s), near = 100000000 - slack - 40000;
    assert_in_range(slack, 1000000, 1000001);
    assert_true(selection_last_until(&s, near, 40000) == INT64_MAX);
    assert_int_equal(selection_last_until(&s, near - 1, 40000), near - 1 + 40000);
    s.columns = 10;
    assert_int_equal(selection_slack_us(&s), 2000000);
    s.end_us = 1000000000;
    assert_int_equal(selection_slack_us(&s), 10000000);
    s.start_us = 999000000;
    assert_in_range(selection_slack_us(&s), 100000, 100001);
    s.end_us = INT64_MAX;
    assert_int_equal(selection_last_until(&s, 5, 40000), 40005);
    s.start_us = s.columns = 0; /* an interval without an end */
    assert_int_equal(selection_slack_us(&s), INT64_MAX / 100);
    s.kind = SELECT_INTERVAL;
    s.end_us = 100;
    assert_int_equal(selection_last_until(&s, 99, 40000), 40099);
}

/* Every target is where the walk has it: the frame that fills column j is on the screen at target
 * j. */
TEST(targets)
{
    for (int trial = 0; trial < 2000; trial++) {
        bool columns = trial % 2 == 0;
        struct selection rule = {.kind = columns ? SELECT_COLUMNS : SELECT_INTERVAL,
                                 .columns = 1 + rnd() % 300,
                                 .interval_us = 1 + rnd() % 90000,
                                 .start_us = rnd() % 1000000};
        rule.end_us = rule.start_us + 1 + rnd() % 5000000;
        struct selection_cursor c = selection_begin(&rule);
        while (selection_next(&c) != INT64_MAX) {
            int64_t t = selection_next(&c);
            uint64_t column = c.column;
            assert_true(t == selection_target(&rule, column) && t >= rule.start_us &&
                        t < rule.end_us);
            assert_int_equal(selection_take(&c, t - 1, t, NULL), 0);
            assert_true(selection_take(&c, t, t + 1, NULL) >= 1);
            assert_true(c.column > column);
        }
        assert_true(selection_done(&c, rule.end_us));
    }
    struct selection last = {.kind = SELECT_COLUMNS, .columns = 10, .end_us = 1000};
    assert_int_equal(selection_target(&last, 9), 950);
    assert_int_equal(selection_target(&last, 10), -1);
}

/* By key frames EVERY has targets: it is an interval, for estimates too. */
TEST(every_of_key_frames)
{
    struct selection rule = {.kind = SELECT_EVERY,
                             .every = 24,
                             .interval_us = 960000,
                             .end_us = INT64_MAX,
                             .keyframes = true};
    struct selection_cursor c = selection_begin(&rule);
    uint64_t column = 0;
    assert_int_equal(selection_take(&c, 0, 3000000, &column), 4);
    assert_int_equal(selection_next(&c), 3840000);
    assert_int_equal(selection_target(&rule, 2), 1920000);
    assert_int_equal(estimate(&rule, 250, 10000000), 11);
    rule.keyframes = false;
    assert_int_equal(selection_target(&rule, 2), -1);
}

/* Previews are of the whole film, whatever the rule selects, and leave its columns as they are. */
TEST(previews_beside_columns)
{
    struct selection plain = {.kind = SELECT_EVERY, .every = 7, .start_us = 3000, .end_us = 9000},
                     rule = plain;
    rule.preview_us = 1000;
    struct selection_cursor c = selection_begin(&rule), other = selection_begin(&plain);
    uint64_t next = 0;
    for (int64_t t = 170; t < 12000; t += 330) { /* the first frame comes late */
        struct frame_tag tag;
        uint64_t column;
        bool picked = selection_pick(&c, t, t + 330, &tag);
        assert_int_equal(selection_take(&other, t, t + 330, &column), tag.repeat);
        assert_int_equal(column, tag.column);
        uint32_t due = 0;
        while ((int64_t)(next + due) * 1000 < t + 330)
            due++;
        assert_int_equal(tag.previews, due);
        assert_int_equal(tag.preview, next);
        assert_true(picked == (tag.repeat > 0 || due > 0));
        next += due;
        assert_int_equal(selection_next_preview(&c), (int64_t)next * 1000);
        assert_false(selection_done(&c, t));
    }
    assert_int_equal(next, 13);
}

/* Scan frames are all between start and end, whatever the rule selects, and leave its columns. */
TEST(scan_frames_beside_columns)
{
    struct selection plain[] = {
        {.kind = SELECT_EVERY, .every = 7, .start_us = 3000, .end_us = 9000},
        {.kind = SELECT_INTERVAL, .interval_us = 2500, .start_us = 3000, .end_us = 9000},
        {.kind = SELECT_COLUMNS, .columns = 2, .start_us = 3000, .end_us = 9000}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        struct selection rule = plain[i];
        rule.scan_end_us = rule.end_us;
        assert_false(selection_needs_film(&plain[i]));
        assert_true(selection_needs_film(&rule));
        struct selection_cursor c = selection_begin(&rule), other = selection_begin(&plain[i]);
        for (int64_t t = 0; t < 12000; t += 250) {
            struct frame_tag tag;
            uint64_t column;
            bool inside = t >= 3000 && t < 9000, picked = selection_pick(&c, t, t + 250, &tag);
            assert_int_equal(selection_take(&other, t, t + 250, &column), tag.repeat);
            assert_int_equal(column, tag.column);
            assert_true(tag.scan == inside);
            assert_true(picked == (inside || tag.repeat > 0));
            assert_true(selection_done(&c, t) == (t >= 9000));
        }
    }
}
