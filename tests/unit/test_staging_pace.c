/*
 * test_staging_pace.c - which runs software sessions take beside NVDEC's (pace.h has the rule).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <time.h>

#include "barcode/clock.h"
#include "barcode/gate.h"
#include "staging_alone.h"

/* Both kinds share the film; the last runs are NVDEC's. */
static void software_stops_before_the_end(void **state)
{
    (void)state;
    s.pace[0].sessions = s.pace[1].sessions = 2;
    reads(1000, false);
    assert_false(staging_worth_it(&s, 100));                     /* there is no run to take */
    s.waiting = (struct pace_left){.runs = 4, .queued = 400};
    assert_true(staging_worth_it(&s, 100));
    s.waiting = (struct pace_left){.runs = 2, .queued = 200};
    assert_false(staging_worth_it(&s, 100));                     /* NVDEC takes both at once */
    s.pace[1].busy = 2;
    s.taken[1] = 200;
    s.taken_ns[1] = 2 * clock_ns();
    assert_true(staging_worth_it(&s, 100));
    assert_true(staging_worth_it(&s, 150));
    assert_false(staging_worth_it(&s, 20000));              /* a longer one would be done last */
    reads(100000, true);
    assert_false(staging_worth_it(&s, 100));
    s.taken_ns[1] -= INT64_C(60) * 1000000000;              /* but it seems to hang */
    assert_true(staging_worth_it(&s, 100));
    s.taken_ns[1] = 2 * clock_ns();
    staging_lacks_nvdec(&s);
    staging_lacks_nvdec(&s);
    assert_true(staging_worth_it(&s, 100));                      /* nobody else is there to do it */
    assert_int_equal(s.pace[0].sessions, 4);
}

static void wait_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* NVDEC sessions have taken both, and four more wait. */
static void begin_two(struct run *runs, struct run **run)
{
    s.pace[0].sessions = s.pace[1].sessions = 2;
    assert_true(queue_push(s.runs, &runs[0]) && queue_push(s.runs, &runs[1]));
    reads(100000, true);
    assert_true(staging_next_run(&s, true, &run[0]) && staging_next_run(&s, true, &run[1]));
    s.waiting = (struct pace_left){.runs = 4, .queued = 400};
}

/* NVDEC's rate is not that at which the driver makes decoders: until all are there the guess holds, and none of it counts later. */
static void decoders_in_the_making(void **state)
{
    (void)state;
    struct run runs[2] = {{.bytes = 100, .count = 100}, {.bytes = 100, .count = 100}}, *run[2];
    begin_two(runs, run);
    staging_makes_decoder(&s, true);
    staging_makes_decoder(&s, true);
    wait_ms(300);
    staging_makes_decoder(&s, false);                       /* the first one's pictures wait for the second */
    wait_ms(300);
    assert_false(staging_worth_it(&s, 100));
    staging_makes_decoder(&s, false);
    assert_false(staging_worth_it(&s, 100));
    staging_passed(&s, run[0], 100);
    struct taken taken = staging_taken(run[0]);
    staging_run_done(&s, &taken);
    assert_true(s.pace[1].seconds < 0.2);
    wait_ms(900);                                           /* but now it is slow */
    assert_true(staging_worth_it(&s, 100));
}

/* Pictures that came while others made their decoders have no time of their own: they do not make NVDEC seem quick. */
static void pictures_while_decoders_are_made(void **state)
{
    (void)state;
    struct run runs[2] = {{.bytes = 100, .count = 1000000}, {.bytes = 100, .count = 1000000}}, *run[2];
    begin_two(runs, run);
    staging_makes_decoder(&s, true);
    staging_passed(&s, run[0], run[0]->count);
    staging_makes_decoder(&s, false);
    wait_ms(900);
    assert_true(staging_worth_it(&s, 100));
    staging_passed(&s, run[1], run[1]->count);
    assert_false(staging_worth_it(&s, 100));
}

static void *take_for_software(void *took)
{
    struct run *run = NULL;
    *(bool *)took = staging_next_run(&s, false, &run);
    run_free(&run);
    return NULL;
}

/* A software session that waits beside NVDEC takes nothing, and ends once NVDEC has taken the last run. */
static void software_waits(void **state)
{
    (void)state;
    pthread_t thread;
    bool took = true;
    struct run *run = NULL;
    s.pace[0].sessions = s.pace[1].sessions = 2;
    reads(0, false);
    assert_int_equal(pthread_create(&thread, NULL, take_for_software, &took), 0);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_true(staging_queue_run(&s, new_run(1), NULL));
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_int_equal(s.waiting.runs, 1);                    /* two NVDEC sessions could have it */
    assert_true(staging_next_run(&s, true, &run));
    staging_read_to_end(&s);
    queue_close(s.runs);
    pthread_join(thread, NULL);
    assert_false(took);
    run_free(&run);
}

/* A film that waits at the gate. NULL: it came through. */
static void *wait_main(void *turn)
{
    struct err e = ERR_INIT;
    bool fine = gate_enter(turn, &e);
    gate_fed(turn);
    return fine ? NULL : turn;
}

/* The tests' staging is of a film that goes through a gate of so many cores. */
static struct gate *open_gate(int cores, struct stage_job *job, struct gate_turn *turn)
{
    struct err e = ERR_INIT;
    struct gate *g = gate_open(cores, &e);
    assert_non_null(g);
    *turn = (struct gate_turn){.gate = g};
    *job = *s.job;
    job->threads = cores;
    job->turn = turn;
    s.job = job;
    return g;
}

/* Begins to wait: so many pixels are behind then. */
static void queue_up(pthread_t *thread, struct gate_turn *turn, double behind)
{
    assert_int_equal(pthread_create(thread, NULL, wait_main, turn), 0);
    for (int i = 0; i < 500 && gate_behind(turn) != behind; i++)
        wait_ms(10);
    assert_float_equal(gate_behind(turn), behind, 0);
}

/*
 * At the end of a film software still takes runs where other films wait, for which NVDEC goes on; as many pixels count, not as many pictures. Not with
 * the last core, without which none of them begins.
 */
static void films_that_wait(void **state)
{
    (void)state;
    const double few = 100000 * 20.0 * 10, many = 100000 * 1920.0 * 1088;
    struct err e = ERR_INIT;
    struct stage_job job;
    struct gate_turn mine, next[2];
    pthread_t thread[2];
    void *failed[2];
    s.pace[0].sessions = s.pace[1].sessions = 2;
    reads(100000, true);
    s.waiting = (struct pace_left){.runs = 4, .queued = 400};
    struct gate *g = open_gate(4, &job, &mine);
    assert_true(gate_enter(&mine, &e));
    assert_false(staging_worth_it(&s, 1000));
    next[0] = (struct gate_turn){.gate = g, .pixels = few};
    queue_up(&thread[0], &next[0], few);
    assert_false(staging_worth_it(&s, 1000));
    next[1] = (struct gate_turn){.gate = g, .pixels = many};
    queue_up(&thread[1], &next[1], few + many);
    assert_true(staging_worth_it(&s, 1000));
    gate_busy(&mine, 3);
    assert_false(staging_worth_it(&s, 1000));
    gate_busy(&mine, -3);
    gate_fed(&mine);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], &failed[i]);
        assert_null(failed[i]);
    }
    assert_false(staging_worth_it(&s, 1000));
    gate_free(&g);
}

/* Films under way share the cores: software takes no run while those before have all that are not kept for NVDEC's sessions. */
static void cores_of_the_film_before(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    struct stage_job job;
    struct gate_turn mine;
    pthread_t thread;
    bool took = false;
    s.pace[0].sessions = 2;
    s.pace[1].sessions = 1;
    reads(0, false);
    struct gate *g = open_gate(4, &job, &mine);
    struct gate_turn before = {.gate = g};
    gate_busy(&before, 2);
    for (int i = 0; i < 2; i++)
        assert_true(staging_queue_run(&s, new_run(1), &e));
    assert_true(staging_worth_it(&s, 1));
    assert_int_equal(pthread_create(&thread, NULL, take_for_software, &took), 0);
    wait_ms(100);
    assert_int_equal(s.waiting.runs, 2);
    gate_busy(&before, -1);
    for (int i = 0; i < 500 && gate_idle(&mine) > 2; i++)
        wait_ms(10);
    int idle = gate_idle(&mine);
    staging_find_damage(&s);                        /* ends the wait, also one in vain */
    pthread_join(thread, NULL);
    assert_true(took);
    assert_int_equal(idle, 2);
    gate_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(software_stops_before_the_end, staging_begin, staging_end),
        cmocka_unit_test_setup_teardown(decoders_in_the_making, staging_begin, staging_end),
        cmocka_unit_test_setup_teardown(pictures_while_decoders_are_made, staging_begin, staging_end),
        cmocka_unit_test_setup_teardown(software_waits, staging_begin, staging_end),
        cmocka_unit_test_setup_teardown(films_that_wait, staging_begin, staging_end),
        cmocka_unit_test_setup_teardown(cores_of_the_film_before, staging_begin, staging_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
