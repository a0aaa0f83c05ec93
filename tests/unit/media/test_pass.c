#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test.h"
#include "base/admission.h"
#include "base/interrupt.h"
#include "media/source.h"
#include "synth.h"

static struct engine *engine;

static int set_up(void **state)
{
    (void)state;
    struct engine_config config = {.threads = 2};
    engine = engine_open("cpu", &config, NULL);
    return engine ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    engine_close(&engine);
    return 0;
}

static struct source *open_film(const char *spec)
{
    struct source *s = synth_open(spec, NULL);
    assert_non_null(s);
    return s;
}

static struct pass pass_over(struct source *s, struct columns *c)
{
    return (struct pass){
        .source = s,
        .engine = engine,
        .plan = DECODE_PARALLEL,
        .threads = 2,
        .selection = {.kind = SELECT_EVERY, .every = 5, .end_us = INT64_MAX},
        .job = {.width = 8,
                .height = 6,
                .cluster = true,
                .kmeans = {.k = 2, .n_init = 1, .max_iter = 10},
                .columns = c},
    };
}

static bool tap_fails(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    (void)rgb;
    return tag->frame != *(const uint64_t *)user ||
           err_set(e, ERR_INPUT, "no frame %d today", (int)tag->frame);
}

/* Whether the source or only the engine's end meets the failure: its sentence is told, and the
 * engine goes on afterwards. */
TEST(a_failing_engine)
{
    for (uint64_t bad = 0; bad < 500; bad += 495) {
        struct err e = ERR_INIT;
        struct source *s = open_film("16x12,500");
        struct columns *c = columns_open(2, 0, &e);
        struct pass p = pass_over(s, c);
        struct decode_counts counts;
        struct decode_times times = {0};
        p.job.tap = tap_fails;
        p.job.tap_user = &bad;
        assert_false(pass_run(&p, &counts, &times, &e));
        assert_int_equal(e.code, ERR_INPUT);
        assert_int_equal(strncmp(e.text, "no frame ", 9), 0);
        err_clear(&e);
        p.job.tap = NULL;
        assert_true(pass_run(&p, &counts, &times, &e));
        columns_free(&c);
        source_close(&s);
    }
}

/* ------------------------------------------------------------------ a source of our own */

struct slow {
    struct source base;
    bool (*what)(struct slow *s, struct decode_counts *counts, struct err *e);
    const struct decode_job *job;
    atomic_int progress_calls;
    pthread_t caller;
};

static bool slow_stage(struct source *s, const struct decode_job *job, struct decode_counts *counts,
                       struct decode_times *times, struct err *e)
{
    struct slow *slow = (struct slow *)s;
    slow->job = job;
    slow->caller = pthread_self();
    times->decode = 5;
    return slow->what(slow, counts, e);
}

static void slow_progress(struct source *s, struct decode_progress *p)
{
    atomic_fetch_add(&((struct slow *)s)->progress_calls, 1);
    *p = (struct decode_progress){.frames = 10};
}

static const struct source_ops slow_ops = {
    .name = "slow", .decode_frames = slow_stage, .progress = slow_progress};

static bool check_job(struct slow *s, struct decode_counts *counts, struct err *e)
{
    counts->displayed = 77;
    return (s->job->plan == DECODE_SEQUENTIAL && s->job->threads == 3 && s->job->engine == engine &&
            s->job->selection.every == 9) ||
           err_set(e, ERR_FAILED, "the job is wrong");
}

static bool sleep_a_while(struct slow *s, struct decode_counts *counts, struct err *e)
{
    (void)s, (void)counts, (void)e;
    nanosleep(&(struct timespec){.tv_nsec = 450000000}, NULL);
    return true;
}

static bool fail_at_once(struct slow *s, struct decode_counts *counts, struct err *e)
{
    (void)s;
    counts->lost = 3;
    return err_set(e, ERR_INPUT, "the film broke");
}

TEST(the_source_gets_its_job)
{
    struct err e = ERR_INIT;
    struct slow s = {.base.ops = &slow_ops, .what = check_job};
    struct columns *c = columns_open(0, 0, &e);
    struct pass p = {.source = &s.base,
                     .engine = engine,
                     .plan = DECODE_SEQUENTIAL,
                     .threads = 3,
                     .selection = {.every = 9},
                     .job = {.width = 4, .height = 4, .columns = c}};
    struct decode_counts counts;
    struct decode_times times = {0};
    assert_true(pass_run(&p, &counts, &times, &e));
    assert_int_equal(counts.displayed, 77);
    assert_true(times.decode == 5);
    /* the main thread is free to show progress */
    assert_false(pthread_equal(s.caller, pthread_self()));

    s.what = fail_at_once;
    assert_false(pass_run(&p, &counts, &times, &e));
    assert_string_equal(e.text, "the film broke");
    assert_int_equal(counts.lost, 3);
    columns_free(&c);
}

/* What a tick saw. */
struct seen {
    pthread_t thread;
    bool same_thread;
    int calls;
    struct pass_state last;
};

static void count_tick(void *user, const struct pass_state *state)
{
    struct seen *seen = user;
    seen->same_thread &= pthread_equal(seen->thread, pthread_self()) != 0;
    seen->calls++;
    seen->last = *state;
}

TEST(progress_is_told)
{
    struct err e = ERR_INIT;
    struct slow s = {.base.ops = &slow_ops, .what = sleep_a_while};
    struct columns *c = columns_open(0, 0, &e);
    struct pass p = {.source = &s.base,
                     .engine = engine,
                     .threads = 1,
                     .job = {.width = 4, .height = 4, .columns = c}};
    struct decode_counts counts;
    struct decode_times times = {0};
    assert_true(pass_run(&p, &counts, &times, &e));
    assert_int_equal(atomic_load(&s.progress_calls), 0); /* nobody asked */
    struct seen seen = {.thread = pthread_self(), .same_thread = true};
    p.tick = count_tick;
    p.tick_user = &seen;
    assert_true(pass_run(&p, &counts, &times, &e));
    assert_in_range(atomic_load(&s.progress_calls), 1, 6);
    assert_int_equal(seen.calls, atomic_load(&s.progress_calls));
    assert_true(seen.same_thread && seen.last.done);
    assert_int_equal(seen.last.film.frames, 10);
    columns_free(&c);
}

/* Announces what it never stages, as a film does whose pictures are still to be decoded: one frame
 * of five comes. */
static bool announce_more(struct slow *s, struct decode_counts *counts, struct err *e)
{
    (void)counts;
    static const uint8_t sample[4 * 4 * 3];
    const struct frame_view view = {
        .model = MODEL_RGB,
        .bits = 8,
        .width = 4,
        .height = 4,
        .plane = {{sample, 12, 3, 4, 4}, {sample + 1, 12, 3, 4, 4}, {sample + 2, 12, 3, 4, 4}}};
    struct engine_port *port = engine_port_open(s->job->engine, e);
    for (uint64_t i = 0; i < 5; i++) {
        const struct frame_tag tag = {.column = 2 * i, .repeat = 2, .frame = i};
        if (!port || !columns_announce(s->job->columns, &tag, e) ||
            (i == 1 && !engine_put(port, &view, &tag, e)))
            return false;
    }
    engine_port_close(&port);
    return true;
}

TEST(columns_done_are_told)
{
    struct err e = ERR_INIT;
    struct slow s = {.base.ops = &slow_ops, .what = announce_more};
    struct columns *c = columns_open(0, 0, &e);
    struct seen seen = {.thread = pthread_self(), .same_thread = true};
    struct pass p = {.source = &s.base,
                     .engine = engine,
                     .threads = 1,
                     .job = {.width = 4, .height = 4, .columns = c},
                     .tick = count_tick,
                     .tick_user = &seen};
    struct decode_counts counts;
    struct decode_times times = {0};
    assert_true(pass_run(&p, &counts, &times, &e));
    assert_int_equal(columns_count(c), 10);
    assert_int_equal(seen.last.columns, 2);
    columns_free(&c);
}

/* An engine that notes its job. */
static struct engine_job noted;

static bool note_begin(struct engine *g, const struct engine_job *job, struct err *e)
{
    (void)g, (void)e;
    noted = *job;
    return true;
}

static bool note_finish(struct engine *g, struct engine_times *times, struct err *e)
{
    (void)g, (void)e;
    *times = (struct engine_times){.shrink = 2, .cluster = 3};
    return true;
}

static bool do_nothing(struct slow *s, struct decode_counts *counts, struct err *e)
{
    (void)s, (void)counts, (void)e;
    return true;
}

/* A session a thread, and the reading thread, which decodes what cannot be cut. Shrinking happens
 * in decoding threads. */
TEST(ports_and_times)
{
    static const struct engine_ops ops = {
        .name = "noting", .begin = note_begin, .finish = note_finish};
    struct engine noting = {.ops = &ops};
    struct err e = ERR_INIT;
    struct slow s = {.base.ops = &slow_ops, .what = do_nothing};
    struct pass p = {.source = &s.base,
                     .engine = &noting,
                     .threads = 3,
                     .job = {.width = 4, .height = 4, .ports = 99}};
    struct decode_counts counts;
    struct decode_times times = {0};
    assert_true(pass_run(&p, &counts, &times, &e));
    assert_int_equal(noted.ports, 4);
    assert_int_equal(noted.width, 4);
    assert_true(times.decode == 3 && times.shrink == 2 && times.cluster == 3);
}

static void *feed_for_a_while(void *ticket)
{
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    admission_release(ticket);
    return NULL;
}

/* Waiting for other films is told, and is no part of what the film itself takes. */
TEST(waiting_is_told)
{
    struct err e = ERR_INIT;
    struct admission *admission = admission_open(2, &e);
    struct admission_ticket other = {.admission = admission};
    struct slow s = {.base.ops = &slow_ops, .what = do_nothing};
    static const struct engine_ops ops = {
        .name = "noting", .begin = note_begin, .finish = note_finish};
    struct engine noting = {.ops = &ops};
    struct pass p = {.source = &s.base, .engine = &noting, .threads = 3, .admission = admission};
    struct decode_counts counts;
    struct decode_times times = {0};
    pthread_t thread;
    assert_true(admission_enter(&other, &e));
    assert_int_equal(pthread_create(&thread, NULL, feed_for_a_while, &other), 0);
    assert_true(pass_run(&p, &counts, &times, &e));
    pthread_join(thread, NULL);
    assert_true(times.waiting > 0.2);
    assert_true(times.engine_begin + times.pass + times.engine_finish < times.waiting);
    admission_free(&admission);
}

/* Leaves the process interrupted: the last tests. */
static bool interrupt_at(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    (void)user, (void)rgb, (void)e;
    return tag->frame != 50 || raise(SIGINT) == 0;
}

TEST(an_interrupted_pass)
{
    struct err e = ERR_INIT;
    interrupt_install();
    struct source *s = open_film("8x8,100000000");
    struct columns *c = columns_open(2, 0, &e);
    struct pass p = pass_over(s, c);
    struct decode_counts counts;
    struct decode_times times = {0};
    p.job.tap = interrupt_at;
    assert_false(pass_run(&p, &counts, &times, &e));
    assert_int_equal(e.code, ERR_INTERRUPTED);
    assert_true(counts.displayed < 1000000);
    columns_free(&c);
    source_close(&s);
}

/* What an earlier pass over the film counted says nothing of this one. */
TEST(interrupted_at_the_gate)
{
    struct err e = ERR_INIT;
    struct admission *admission = admission_open(2, &e);
    struct pass p = {.admission = admission};
    struct decode_counts counts = {.chunks = 7, .displayed = 99};
    struct decode_times times = {0};
    assert_true(interrupted());
    assert_false(pass_run(&p, &counts, &times, &e));
    assert_int_equal(e.code, ERR_INTERRUPTED);
    assert_int_equal(counts.chunks, 0);
    assert_int_equal(counts.displayed, 0);
    admission_free(&admission);
}

TEST_FIXTURE(set_up, tear_down)
