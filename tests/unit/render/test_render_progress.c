
#include "test.h"
#include "render/render_progress.h"

static void percent(const struct film *f, uint64_t columns, const struct pass_state *now, int want)
{
    double share = render_progress_state(f, columns, now).share;
    assert_int_equal(share < 0 ? -1 : (int)(share * 100 + 0.5), want);
}

/* The sample film: its second chunk is decoded before its first one. */
TEST(share_follows_the_columns)
{
    const struct film f = {.length.frames = 720};
    percent(&f, 720, &(struct pass_state){.columns = 281}, 39);
    percent(&f, 720, &(struct pass_state){.columns = 281, .film.frames = 374}, 39);
    percent(&f, 720, &(struct pass_state){.columns = 0, .film.frames = 720}, 0);
    percent(&f, 700, &(struct pass_state){.columns = 720}, 100);
    percent(&f, 720, &(struct pass_state){.columns = 600, .done = true}, 100);
}

TEST(share_of_an_unknown_length)
{
    const struct film f = {.length.frames = -1};
    percent(&f, 0, &(struct pass_state){.columns = 9}, -1);
    percent(&f, 0, &(struct pass_state){.columns = 9, .done = true}, -1);
    percent(&f, 0, &(struct pass_state){.film.bytes = 30, .film.total_bytes = 40}, 75);
    percent(&f, 10, &(struct pass_state){.columns = 9, .film = {.bytes = 4, .total_bytes = 4}}, 90);
}

/* The rate is of the frames that the columns stand for; at the end, of those that were covered. */
TEST(frames_follow_the_columns)
{
    const struct film f = {.length.frames = 7200}, unknown = {.length.frames = -1};
    struct pass_state now = {.columns = 75, .film.frames = 6000};
    assert_int_equal(render_progress_state(&f, 300, &now).frames, 1800);
    assert_int_equal(render_progress_state(&unknown, 0, &now).frames, 6000);
    now.done = true;
    assert_int_equal(render_progress_state(&f, 300, &now).frames, 6000);
}

/*
 * 100 key frames. In 10 s, 2 cores made 50 columns: 12 s of decoding, 8 s of the rest. What the
 * look for bars took before is no part of it.
 */
TEST(what_key_frames_take)
{
    struct render_usage first = {100, 7, 1, 3}, now = {110, 27, 13, 53};
    assert_float_equal(render_key_seconds(100, 0.04, &first, &now), 100 * (0.04 + 0.16) / 2, 1e-9);
    now.decode_seconds = 23; /* clocks that disagree a little */
    assert_float_equal(render_key_seconds(100, 0.04, &first, &now), 100 * 0.04 / 2, 1e-9);
    assert_true(render_key_seconds(0, 0.04, &first, &now) == 0);
    now.columns = first.columns;
    assert_true(render_key_seconds(100, 0.04, &first, &now) == 0);
    assert_true(render_key_seconds(100, 0.04, &first, &first) == 0);
}
