/* Edits between made films: pictures that change with time, at 24 or 25 frames a second. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "match/align/align.h"
#include "test.h"

enum { FRAMES = 120, SECOND = 1000000 };

/* Draws the frame of a scene at a time: bars that move, under noise. */
static void draw(uint8_t *rgb, int scene, int64_t us, int noise)
{
    for (int i = 0; i < ALIGN_FRAME_BYTES; i++) {
        int64_t phase = us * (37 + i % 11 * 13 + scene * 5) / 70001 + i * (20 + 7 * scene);
        rgb[i] = (uint8_t)(llabs(phase % 400 - 200) + rand() % (noise + 1));
    }
}

/* A film: scene 1, and from `change` on scene 2, which begins at its time 0. */
static struct align_frames make_frames(int64_t from, int64_t step, int64_t change, int64_t resume,
                                       int noise)
{
    struct align_frames f = {calloc(FRAMES, sizeof(int64_t)), calloc(FRAMES, ALIGN_FRAME_BYTES),
                             FRAMES};
    assert_true(f.time_us && f.rgb);
    for (int i = 0; i < FRAMES; i++) {
        int64_t us = f.time_us[i] = from + i * step;
        bool later = us >= change;
        draw(f.rgb + (size_t)i * ALIGN_FRAME_BYTES, later ? 2 : 1, later ? us - resume : us, noise);
    }
    return f;
}

static void free_frames(struct align_frames *f)
{
    free(f->time_us);
    free(f->rgb);
}

/* The other film has scene 1 to 100 s, something else to 130 s, and then scene 2. */
static void check(int64_t sound_us, int64_t step, int num, int den, int noise)
{
    const int64_t own_us = 100 * (int64_t)SECOND * den / num;
    struct align_frames own = make_frames(own_us - FRAMES / 2 * step, step, own_us, own_us, noise);
    struct align_frames before =
        make_frames(100 * SECOND - FRAMES / 2 * 40000, 40000, 100 * SECOND, 77, noise);
    struct align_frames after =
        make_frames(130 * SECOND - FRAMES / 2 * 40000, 40000, 130 * SECOND, 130 * SECOND, noise);
    if (num != den) /* it plays scenes at its own speed */
        for (int i = 0; i < FRAMES; i++) {
            int64_t us = own.time_us[i] * num / den;
            draw(own.rgb + (size_t)i * ALIGN_FRAME_BYTES, us < 100 * SECOND ? 1 : 2,
                 us < 100 * SECOND ? us : us - 100 * SECOND, noise);
        }
    struct align_edit edit = {own_us + sound_us, 100 * SECOND + sound_us, 130 * SECOND + sound_us,
                              num, den};
    assert_true(align_frames_refine(&own, &before, &after, &edit));
    assert_int_equal(edit.own_us, own_us);
    assert_int_equal(edit.from_us, 100 * SECOND);
    assert_int_equal(edit.to_us, 130 * SECOND);
    free_frames(&own);
    free_frames(&before);
    free_frames(&after);
}

TEST(edit_is_found)
{
    srand(1);
    for (int64_t sound_us = -1200000; sound_us <= 1200000; sound_us += 160000)
        check(sound_us, 40000, 1, 1, 0);
    check(90000, 40000, 1, 1, 20);
    check(-200000, 38400, 25, 24, 5);
}

/* Black, the same scene on both sides, or another film: what the sound said stays. */
TEST(nothing_to_see)
{
    for (int kind = 0; kind < 3; kind++) {
        struct align_frames own = make_frames(0, 40000, kind == 2 ? 2 * SECOND : INT64_MAX, 0, 0);
        struct align_frames other = make_frames(0, 40000, INT64_MAX, 0, 0);
        if (kind == 0) {
            memset(own.rgb, 16, FRAMES * ALIGN_FRAME_BYTES);
            memset(other.rgb, 16, FRAMES * ALIGN_FRAME_BYTES);
        }
        struct align_edit edit = {2 * SECOND, 2 * SECOND, 2 * SECOND, 1, 1}, was = edit;
        assert_false(align_frames_refine(&own, &other, &other, &edit));
        assert_memory_equal(&edit, &was, sizeof edit);
        other.count = 3;
        assert_false(align_frames_refine(&own, &other, &other, &edit));
        free_frames(&own);
        free_frames(&other);
    }
}

/* ---- What the films' jobs hand over ---- */

/* A worker process that a film has taken over may send any bytes. */
TEST(facts_are_within_limits)
{
    static const struct {
        double rate;
        int64_t start_us, duration_us, time_us;
        uint64_t columns;
        bool ok;
        double read_rate;
        int64_t read_us;
    } cases[] = {{25, 1500000, 2000000, 40000, 1, true, 25, 1500000},
                 {NAN, -1, INT64_MIN, -1, 1, true, 0, 0},
                 {1e300, INT64_MAX, -1, INT64_MAX, 1, true, 0, 0},
                 {25, 0, 0, 0, 0, false, 0, 0},
                 {25, 0, 0, 0, UINT64_MAX, false, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct align_film film = {.start_us = 0};
        struct align_frames frames = {0};
        uint8_t bytes[40];
        memcpy(bytes, &cases[i].rate, 8);
        memcpy(bytes + 8, &cases[i].start_us, 8);
        memcpy(bytes + 16, &cases[i].duration_us, 8);
        memcpy(bytes + 24, &cases[i].columns, 8);
        memcpy(bytes + 32, &cases[i].time_us, 8);
        assert_int_equal(align_facts_read(bytes, sizeof bytes, &film, &frames), cases[i].ok);
        assert_true(film.rate == cases[i].read_rate || !cases[i].ok);
        assert_true(film.start_us == cases[i].read_us && film.duration_us >= 0);
        assert_true(!cases[i].ok || (frames.count == 1 && frames.time_us[0] >= 0));
        free(frames.time_us);
    }
    struct align_film film;
    assert_false(align_facts_read((const uint8_t *)"", 0, &film, NULL));
}
