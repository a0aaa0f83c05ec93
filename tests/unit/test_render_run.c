/*
 * test_render_run.c - films that are set aside for the cores while a GPU has enough to do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/render_run.h"
#include "forty_films.h"

static void take(struct render_run *run, struct film_queue *queue, int lane)
{
    size_t film;
    assert_true(film_queue_next(queue, &film));
    render_run_takes(run, lane, film);
}

static void end(struct render_run *run, struct film_queue *queue, int lane, size_t film)
{
    render_run_ends(run, lane, 0);
    film_queue_done(queue, film, NULL);
}

/* One more asks for as much more to be left, three are the most, and near the end of the run none is. */
static void as_many_as_pay(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    struct options options = {.progress = PROGRESS_NEVER};
    struct inputs in = forty_films();
    struct film_queue *queue = film_queue_open(&in, &e);
    const struct render r = {.options = &options, .inputs = &in};
    struct render_run *run = render_run_open(&r, queue, 8);
    for (int lane = 0; lane < 5; lane++)
        take(run, queue, lane);                        /* 35 are left, and these */
    assert_false(render_run_sets_aside(run, 0, 40));
    assert_true(render_run_sets_aside(run, 0, 39));
    assert_true(render_run_sets_aside(run, 0, 39));    /* it is aside */
    assert_false(render_run_sets_aside(run, 1, 19.5));
    assert_true(render_run_sets_aside(run, 1, 19));
    assert_false(render_run_sets_aside(run, 2, 12.5));
    render_run_tick(run, 3, &(struct progress_state){.share = 0.5});
    assert_false(render_run_sets_aside(run, 2, 12.25));  /* 35, one and a half, to three */
    render_run_tick(run, 1, &(struct progress_state){.share = 0.5});
    assert_false(render_run_sets_aside(run, 2, 15));
    assert_true(render_run_sets_aside(run, 2, 14.5));    /* to two and a half */
    assert_false(render_run_sets_aside(run, 3, 1));
    end(run, queue, 1, 1);
    assert_true(render_run_sets_aside(run, 3, 1));
    for (int lane = 0; lane < 4; lane++)
        if (lane != 1)
            end(run, queue, lane, (size_t)lane);
    render_run_tick(run, 4, &(struct progress_state){.share = 1});
    for (int i = 5; i < FILMS; i++) {
        take(run, queue, 0);
        bool aside = render_run_sets_aside(run, 0, 5);
        assert_int_equal(aside, FILMS - 1 - i >= 5);
        end(run, queue, 0, (size_t)i);
    }
    assert_false(render_run_sets_aside(NULL, 0, 1));
    /* A pipe has no bytes to compare. */
    in.file[FILMS - 1].bytes = 0;
    render_run_takes(run, 0, FILMS - 1);
    assert_false(render_run_sets_aside(run, 0, 1));
    render_run_ends(run, 0, 0);
    render_run_close(&run);
    film_queue_free(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_many_as_pay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
