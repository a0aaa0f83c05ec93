#include <stdio.h>
#include <stdlib.h>

#include "made_film.h"

static struct made_film *film;

FIXTURE(begin)
{
    film = calloc(1, sizeof *film);
    return film == NULL;
}

FIXTURE(end)
{
    free(film);
    return 0;
}
#define FILM(name) TEST_WITH(name, begin, end)

static struct shots find(int threshold)
{
    struct shots shots;
    struct film_scan scan = scan_made(film);
    assert_true(shots_find(&scan, threshold, &shots, NULL));
    film_scan_free(&scan);
    return shots;
}

/* Fails unless the shots, one or more, are without gaps and begin as `expected` says. */
static void assert_shots(const char *expected)
{
    struct shots s = find(SHOT_THRESHOLD_USUAL);
    char text[500] = "";
    size_t used = 0;
    for (size_t i = 0; i < s.count; i++) {
        const struct shot *p = &s.shot[i];
        uint64_t next = i + 1 < s.count ? p[1].frame : (uint64_t)film->frames;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d %s", i > 0 ? ", " : "",
                                 (int)p->frame, shot_transition_name(p->begins_by));
        assert_true(p->frames > 0 && p->frame + p->frames == next);
        assert_true(p->start_us == (int64_t)p->frame * FRAME_US);
        assert_true(p->end_us == (int64_t)next * FRAME_US);
        assert_int_equal(p->begins_by == SHOT_CUT, p->transition_frames == 0);
    }
    assert_string_equal(text, expected);
    shots_free(&s);
    assert_null(s.shot);
}

FILM(one_frame)
{
    add_scenes(film, 1, 1);
    assert_shots("0 cut");
}

FILM(two_frames)
{
    add_scenes(film, 1, 1);
    add_scenes(film, 2, 1);
    assert_shots("0 cut"); /* a shot has half a second */
}

FILM(cuts)
{
    for (int i = 0; i < 6; i++)
        add_scenes(film, i % 2, 13 + i);
    assert_shots("0 cut, 13 cut, 27 cut, 42 cut, 58 cut, 75 cut");
}

FILM(a_cut_below_the_threshold)
{
    for (int i = 0; i < 80; i++)
        mix_level(add_scene(film, i / 40, 0), 100, 3, 4);
    struct shots low = find(5), high = find(200);
    assert_int_equal(low.count, 2);
    assert_int_equal(high.count, 1);
    shots_free(&low);
    shots_free(&high);
}

FILM(a_cut_in_the_dark)
{
    for (int i = 0; i < 80; i++)
        mix_level(add_scene(film, i / 40, 0), 10, 5, 6);
    assert_shots("0 cut, 40 cut");
}

FILM(short_shots_are_joined)
{
    add_scenes(film, 1, 50);
    add_scenes(film, 2, 9);
    add_scenes(film, 3, 50);
    struct shots s = find(SHOT_THRESHOLD_USUAL);
    assert_int_equal(s.count, 2);
    assert_true(s.shot[1].frame == 50 || s.shot[1].frame == 59);
    shots_free(&s);
}

FILM(means)
{
    add_level(film, 50, 30);
    add_level(film, 200, 29);
    add_level(film, 203, 1);
    struct shots s = find(SHOT_THRESHOLD_USUAL);
    assert_int_equal(s.count, 2);
    assert_int_equal(s.shot[0].mean[0], 50);
    assert_int_equal(s.shot[1].mean[2], 200);
    shots_free(&s);
}

FILM(a_flash_is_no_cut)
{
    add_scenes(film, 1, 90);
    for (int i = 40; i < 43; i++)
        mix_level(film->rgb[i], 255, 7, 8);
    memset(film->rgb[70], 255, FRAME_BYTES);
    assert_shots("0 cut");
}

FILM(a_strobe_is_no_cut)
{
    for (int i = 0; i < 150; i++)
        mix_level(add_scene(film, i / 76, i / 4), 0, i % 4 < 2 ? 0 : 7, 8);
    assert_shots("0 cut, 76 cut");
}

FILM(a_fade_through_black)
{
    add_scenes(film, 1, 40);
    add_fade(film, 1, 16, 12, true);
    add_level(film, 16, 10);
    add_fade(film, 2, 16, 12, false);
    add_scenes(film, 2, 40);
    assert_shots("0 cut, 57 fade");
}

FILM(a_fade_through_white_with_one_white_frame)
{
    add_scenes(film, 1, 40);
    add_fade(film, 1, 240, 16, true);
    add_level(film, 240, 1);
    add_fade(film, 2, 240, 16, false);
    add_scenes(film, 2, 40);
    assert_shots("0 cut, 56 fade");
}

FILM(a_fade_soon_before_a_cut)
{
    add_scenes(film, 1, 40);
    add_fade(film, 1, 16, 12, true);
    add_level(film, 16, 10);
    add_fade(film, 2, 16, 24, false);
    add_scenes(film, 3, 40); /* before the fade is at its end */
    assert_shots("0 cut, 57 fade, 86 cut");
}

FILM(black_at_both_ends_is_no_fade)
{
    add_level(film, 16, 20);
    add_fade(film, 1, 16, 20, false);
    add_scenes(film, 1, 40);
    add_fade(film, 1, 16, 20, true);
    add_level(film, 16, 20);
    assert_shots("0 cut");
}

FILM(a_cut_from_black_ends_a_fade)
{
    add_scenes(film, 1, 40);
    add_fade(film, 1, 16, 20, true);
    add_level(film, 16, 20);
    add_scenes(film, 2, 40);
    assert_shots("0 cut, 80 cut");
}

FILM(dissolves)
{
    add_scenes(film, 1, 60);
    add_dissolve(film, 1, 2, 12); /* 60..71 */
    add_scenes(film, 2, 60);
    add_dissolve(film, 2, 3, 25); /* 132..156 */
    add_scenes(film, 3, 80);
    add_dissolve(film, 3, 4, 60); /* 237..296 */
    add_scenes(film, 4, 80);
    struct shots s = find(SHOT_THRESHOLD_USUAL);
    static const int middle[] = {66, 144, 267}, frames[] = {12, 25, 60};
    assert_int_equal(s.count, 4);
    for (int i = 0; i < 3; i++) {
        const struct shot *p = &s.shot[i + 1];
        assert_int_equal(p->begins_by, SHOT_DISSOLVE);
        assert_in_range(p->frame, middle[i] - 2, middle[i] + 2);
        assert_in_range(p->transition_frames, frames[i] * 3 / 4, frames[i] * 4 / 3);
    }
    shots_free(&s);
}

FILM(a_pan_is_one_shot)
{
    for (int i = 0; i < 200; i++)
        add_scene(film, 1, i * 3 / 4);
    for (int i = 0; i < 100; i++)
        add_scene(film, 1, 150 + 2 * i);
    assert_shots("0 cut");
}

FILM(light_that_changes_is_one_shot)
{
    add_scenes(film, 1, 200);
    for (int i = 60; i < 200; i++)
        mix_level(film->rgb[i], 255, i < 100 ? i - 60 : 40, 80);
    assert_shots("0 cut");
}
