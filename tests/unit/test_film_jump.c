/* test_film_jump.c - how long a picture stays, and jumps between times, those of a damaged film too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stage/film_jump.h"

static int64_t frame_of(AVRational rate, AVRational time_base)
{
    AVFormatContext *format = avformat_alloc_context();
    AVStream *stream = avformat_new_stream(format, NULL);
    assert_non_null(stream);
    stream->r_frame_rate = rate;
    stream->time_base = time_base;
    int64_t frame = film_jump_frame(format, stream);
    avformat_free_context(format);
    return frame;
}

static void how_long_a_picture_stays(void **state)
{
    (void)state;
    assert_int_equal(frame_of((AVRational){25, 1}, (AVRational){1, 90000}), 3600);
    assert_int_equal(frame_of((AVRational){30000, 1001}, (AVRational){1, 30000}), 1001);
    assert_int_equal(frame_of((AVRational){25, 1}, (AVRational){1, 1}), 0);
    assert_int_equal(frame_of((AVRational){0, 0}, (AVRational){1, 90000}), 0);
    assert_int_equal(frame_of((AVRational){-25, 1}, (AVRational){1, 90000}), 0);
}

static void jumps(void **state)
{
    (void)state;
    assert_true(film_jump_is(100, 1000, 1150) && film_jump_is(100, -75, 75) && film_jump_is(1, 5, 6));
    assert_false(film_jump_is(100, 1000, 1149) || film_jump_is(100, 1000, 1000));
    assert_false(film_jump_is(100, 1000, 0));                 /* back */
}

/* With -fsanitize=undefined a difference that does not fit ends the test. */
static void hostile_times(void **state)
{
    (void)state;
    assert_true(film_jump_is(100, INT64_MIN + 1, INT64_MAX) && film_jump_is(100, -2, INT64_MAX) && film_jump_is(100, INT64_MIN + 1, 0));
    assert_false(film_jump_is(100, INT64_MAX, INT64_MIN + 1) || film_jump_is(100, INT64_MAX - 1, INT64_MAX));
    assert_false(film_jump_is(INT64_MAX, 0, INT64_MAX));
    assert_true(film_jump_is(INT64_MAX, INT64_MIN + 1, INT64_MAX));
    assert_false(film_jump_is(100, AV_NOPTS_VALUE, 5000) || film_jump_is(100, 5000, AV_NOPTS_VALUE));
    assert_false(film_jump_is(100, AV_NOPTS_VALUE, AV_NOPTS_VALUE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(how_long_a_picture_stays), cmocka_unit_test(jumps), cmocka_unit_test(hostile_times)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
