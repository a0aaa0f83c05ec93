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

/* A pass over a source, by an engine of the CPU, and what it gave. */
static struct engine *engine;
static struct columns *columns;
static struct pass p;
static struct decode_counts counts;
static struct decode_times times;
static struct err e;

FIXTURE(set_up)
{
    struct engine_config config = {.threads = 2};
    err_clear(&e);
    engine = engine_open("cpu", &config, NULL);
    columns = columns_open(2, 0, NULL);
    times = (struct decode_times){0};
    p = (struct pass){
        .decode = {.engine = engine,
                   .threads = 2,
                   .selection = {.kind = SELECT_EVERY, .every = 5, .end_us = INT64_MAX}},
        .job = {.width = 8,
                .height = 6,
                .cluster = true,
                .kmeans = {.k = 2, .n_init = 1, .max_iter = 10},
                .columns = columns},
    };
    return engine && columns ? 0 : -1;
}

FIXTURE(tear_down)
{
    engine_close(&engine);
    columns_free(&columns);
    return 0;
}

static bool run(void) { return pass_run(&p, &counts, &times, &e); }

static bool tap_fails(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *why)
{
    (void)rgb;
    return tag->frame != *(const uint64_t *)user ||
           err_set(why, ERR_INPUT, "no frame %d today", (int)tag->frame);
}

/* Whether the source or only the engine's end meets the failure: its sentence is told, and the
 * engine goes on afterwards. */
TEST_WITH(a_failing_engine, set_up, tear_down)
{
    for (uint64_t bad = 0; bad < 500; bad += 495) {
        p.source = synth_open("16x12,500", NULL);
        p.job.tap = tap_fails;
        p.job.tap_user = &bad;
        assert_false(run());
        assert_int_equal(e.code, ERR_INPUT);
        assert_int_equal(strncmp(e.text, "no frame ", 9), 0);
        err_clear(&e);
        p.job.tap = NULL;
        columns_free(&columns);
        p.job.columns = columns = columns_open(2, 0, NULL);
        assert_true(run());
        source_close(&p.source);
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

static bool slow_stage(struct source *s, const struct decode_job *job, struct decode_counts *c,
                       struct decode_times *took, struct err *why)
{
    struct slow *slow = (struct slow *)s;
    slow->job = job;
    slow->caller = pthread_self();
    took->decode = 5;
    return slow->what(slow, c, why);
}

static void slow_progress(struct source *s, struct decode_progress *progress)
{
    atomic_fetch_add(&((struct slow *)s)->progress_calls, 1);
    *progress = (struct decode_progress){.frames = 10};
}

static const struct source_ops slow_ops = {
    .name = "slow", .decode_frames = slow_stage, .progress = slow_progress};

static bool check_job(struct slow *s, struct decode_counts *c, struct err *why)
{
    c->displayed = 77;
    return (s->job->plan == DECODE_SEQUENTIAL && s->job->threads == 3 && s->job->engine == engine &&
            s->job->selection.every == 9) ||
           err_set(why, ERR_FAILED, "the job is wrong");
}

static bool sleep_a_while(struct slow *s, struct decode_counts *c, struct err *why)
{
    (void)s, (void)c, (void)why;
    nanosleep(&(struct timespec){.tv_nsec = 450000000}, NULL);
    return true;
}

static bool fail_at_once(struct slow *s, struct decode_counts *c, struct err *why)
{
    (void)s;
    c->lost = 3;
    return err_set(why, ERR_INPUT, "the film broke");
}

/* A small pass over the source. */
static void pass_over(struct slow *s,
                      bool (*what)(struct slow *, struct decode_counts *, struct err *))
{
    *s = (struct slow){.base.ops = &slow_ops, .what = what};
    p.source = &s->base;
    p.job = (struct engine_job){.width = 4, .height = 4, .columns = columns};
}

TEST_WITH(the_source_gets_its_job, set_up, tear_down)
{
    struct slow s;
    pass_over(&s, check_job);
    p.decode.plan = DECODE_SEQUENTIAL;
    p.decode.threads = 3;
    p.decode.selection.every = 9;
    assert_true(run());
    assert_int_equal(counts.displayed, 77);
    assert_true(times.decode == 5);
    /* the main thread is free to show progress */
    assert_false(pthread_equal(s.caller, pthread_self()));

    s.what = fail_at_once;
    assert_false(run());
    assert_string_equal(e.text, "the film broke");
    assert_int_equal(counts.lost, 3);
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

TEST_WITH(progress_is_told, set_up, tear_down)
{
    struct slow s;
    pass_over(&s, sleep_a_while);
    assert_true(run());
    assert_int_equal(atomic_load(&s.progress_calls), 0); /* nobody asked */
    struct seen seen = {.thread = pthread_self(), .same_thread = true};
    p.tick = count_tick;
    p.tick_user = &seen;
    assert_true(run());
    assert_in_range(atomic_load(&s.progress_calls), 1, 6);
    assert_int_equal(seen.calls, atomic_load(&s.progress_calls));
    assert_true(seen.same_thread && seen.last.done);
    assert_int_equal(seen.last.film.frames, 10);
}

/* Announces what it never stages, as a film does whose pictures are still to be decoded: one frame
 * of five comes. */
static bool announce_more(struct slow *s, struct decode_counts *c, struct err *why)
{
    (void)c;
    static const uint8_t sample[4 * 4 * 3];
    const struct frame_view view = {
        .model = MODEL_RGB,
        .bits = 8,
        .width = 4,
        .height = 4,
        .plane = {{sample, 12, 3, 4, 4}, {sample + 1, 12, 3, 4, 4}, {sample + 2, 12, 3, 4, 4}}};
    struct engine_port *port = engine_port_open(s->job->engine, why);
    for (uint64_t i = 0; i < 5; i++) {
        const struct frame_tag tag = {.column = 2 * i, .repeat = 2, .frame = i};
        if (!port || !columns_announce(s->job->columns, &tag, why) ||
            (i == 1 && !engine_put(port, &view, &tag, why)))
            return false;
    }
    engine_port_close(&port);
    return true;
}

TEST_WITH(columns_done_are_told, set_up, tear_down)
{
    struct slow s;
    struct seen seen = {.thread = pthread_self(), .same_thread = true};
    pass_over(&s, announce_more);
    p.tick = count_tick;
    p.tick_user = &seen;
    assert_true(run());
    assert_int_equal(columns_count(columns), 10);
    assert_int_equal(seen.last.columns, 2);
}

/* An engine that notes its job. */
static struct engine_job noted;

static bool note_begin(struct engine *g, const struct engine_job *job, struct err *why)
{
    (void)g, (void)why;
    noted = *job;
    return true;
}

static bool note_finish(struct engine *g, struct engine_times *took, struct err *why)
{
    (void)g, (void)why;
    *took = (struct engine_times){.shrink = 2, .cluster = 3};
    return true;
}

static bool do_nothing(struct slow *s, struct decode_counts *c, struct err *why)
{
    (void)s, (void)c, (void)why;
    return true;
}

static const struct engine_ops noting_ops = {
    .name = "noting", .begin = note_begin, .finish = note_finish};
static struct engine noting = {.ops = &noting_ops};

/* A session a thread, and the reading thread, which decodes what cannot be cut. Shrinking happens
 * in decoding threads. */
TEST_WITH(ports_and_times, set_up, tear_down)
{
    struct slow s;
    pass_over(&s, do_nothing);
    p.decode.engine = &noting;
    p.decode.threads = 3;
    p.job.ports = 99;
    assert_true(run());
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
TEST_WITH(waiting_is_told, set_up, tear_down)
{
    struct slow s;
    pthread_t thread;
    pass_over(&s, do_nothing);
    p.decode.engine = &noting;
    p.admission = admission_open(2, &e);
    struct admission_ticket other = {.admission = p.admission};
    assert_true(admission_enter(&other, &e));
    assert_int_equal(pthread_create(&thread, NULL, feed_for_a_while, &other), 0);
    assert_true(run());
    pthread_join(thread, NULL);
    assert_true(times.waiting > 0.2);
    assert_true(times.engine_begin + times.pass + times.engine_finish < times.waiting);
    admission_free(&p.admission);
}

/* Leaves the process interrupted: the last tests. */
static bool interrupt_at(void *user, const struct frame_tag *tag, const uint8_t *rgb,
                         struct err *why)
{
    (void)user, (void)rgb, (void)why;
    return tag->frame != 50 || raise(SIGINT) == 0;
}

TEST_WITH(an_interrupted_pass, set_up, tear_down)
{
    interrupt_install();
    p.source = synth_open("8x8,100000000", NULL);
    p.job.tap = interrupt_at;
    assert_false(run());
    assert_int_equal(e.code, ERR_INTERRUPTED);
    assert_true(counts.displayed < 1000000);
    source_close(&p.source);
}

/* What an earlier pass over the film counted says nothing of this one. */
TEST_WITH(interrupted_at_the_gate, set_up, tear_down)
{
    p.admission = admission_open(2, &e);
    counts = (struct decode_counts){.chunks = 7, .displayed = 99};
    assert_true(interrupted());
    assert_false(run());
    assert_int_equal(e.code, ERR_INTERRUPTED);
    assert_int_equal(counts.chunks, 0);
    assert_int_equal(counts.displayed, 0);
    admission_free(&p.admission);
}
