/*
 * test_engine_many.c - several engines as one: CPU engines stand in for GPUs, and engines made here fail when they are told to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <time.h>

#include "barcode/latch.h"
#include "staged.h"

enum { W = 40, H = 24, FRAMES = 60 };

static struct engine_job job_for(struct columns *columns)
{
    return (struct engine_job){
        .width = W, .height = H, .cluster = true, .rows = true, .modes = 3, .ports = 4, .columns = columns,
        .kmeans = {.k = 6, .n_init = 2, .max_iter = 50, .init = INIT_SCALABLE, .seed = 7},
    };
}

static struct engine *cpu(void)
{
    struct err e = ERR_INIT;
    struct engine_config config = {.threads = 2};
    struct engine *g = engine_open("cpu", &config, &e);
    assert_non_null(g);
    return g;
}

static struct engine *cpus(int parts)
{
    struct engine *g = NULL;
    struct err e = ERR_INIT;
    for (int i = 0; i < parts; i++)
        assert_true(engine_many_add(&g, cpu(), &e));
    assert_int_equal(engine_parts(g), parts);
    return g;
}

static struct columns *open_columns(int rows)
{
    struct columns *c = columns_open(6, rows, NULL);
    assert_non_null(c);
    columns_keep_modes(c);
    return c;
}

static bool put(struct engine_port *p, uint64_t n, bool staged, struct err *e)
{
    return staged_put(p, W, H, n, staged, e);
}

struct pusher {
    struct engine *engine;
    pthread_t thread;
    int index, step;
    bool staged;             /* every third frame comes staged */
    bool fine;
};

static void *push_frames(void *argument)
{
    struct pusher *u = argument;
    struct err e = ERR_INIT;
    struct engine_port *p = engine_port_open(u->engine, &e);
    u->fine = p != NULL;
    for (int n = FRAMES - 1; n >= 0 && u->fine; n--)
        if (n % u->step == u->index)
            u->fine = put(p, (uint64_t)n, u->staged && n % 3 == 0, &e);
    engine_port_close(&p);
    return NULL;
}

/* What is found out about bars while the film is staged. */
struct found {
    struct trim trim;
    struct latch *known;
};

static void *find(void *argument)
{
    struct found *f = argument;
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    f->trim.count = 1;
    f->trim.forced = true;
    latch_release(f->known, true);
    return NULL;
}

/*
 * A film through `ports` threads; with `trim`, which the parts have to obey, staged in the size of what is left. With `late` they are
 * told while they are at work.
 */
static struct columns *film(struct engine *g, int ports, const struct trim *trim, bool late)
{
    struct err e = ERR_INIT;
    struct columns *c = open_columns(trim ? trim->rect[0].height : H);
    struct engine_job job = job_for(c);
    struct engine_times times;
    struct pusher u[8];
    struct found found = {.known = late ? latch_new(&e) : NULL};
    pthread_t finder;
    if (trim && late) {
        found.trim = *trim;
        found.trim.count = 0;
        found.trim.forced = false;
    }
    job.trim = late ? &found.trim : trim;
    job.trim_known = found.known;
    job.width = trim ? trim->rect[0].width : W;
    job.height = trim ? trim->rect[0].height : H;
    assert_true(engine_begin(g, &job, &e));
    for (int k = 0; k < ports; k++) {
        u[k] = (struct pusher){.engine = g, .index = k, .step = ports, .staged = !trim};
        assert_int_equal(pthread_create(&u[k].thread, NULL, push_frames, &u[k]), 0);
    }
    if (late)
        assert_int_equal(pthread_create(&finder, NULL, find, &found), 0);
    for (int k = 0; k < ports; k++) {
        pthread_join(u[k].thread, NULL);
        assert_true(u[k].fine);
    }
    assert_true(engine_finish(g, &times, &e));
    assert_true(times.cluster > 0 && times.shrink > 0);
    if (late)
        pthread_join(finder, NULL);
    latch_free(&found.known);
    return c;
}

static void the_same_as_one(void **state)
{
    (void)state;
    static const struct trim cut = {.width = W, .height = H, .count = 1, .forced = true, .rect = {{.x = 8, .y = 4, .width = 24, .height = 16}}};
    const struct trim *const trims[] = {NULL, &cut};
    for (int t = 0; t < 2; t++) {
        struct engine *one = cpu();
        struct columns *right = film(one, 1, trims[t], false);
        engine_close(&one);
        for (int parts = 2; parts <= 4; parts++) {
            struct engine *g = cpus(parts);
            assert_string_equal(g->ops->name, "cpu");
            for (int ports = 1; ports <= 8; ports += 3) {
                for (int late = 0; late <= (trims[t] != NULL); late++) {
                    struct columns *c = film(g, ports, trims[t], late);
                    assert_int_equal(first_difference(right, c, trims[t] ? trims[t]->rect[0].height : H), -1);
                    columns_free(&c);
                }
            }
            engine_close(&g);
            assert_null(g);
        }
        columns_free(&right);
    }
}

/* ------------------------------------------------------------------ engines that note what is asked of them */

struct fake {
    struct engine base;
    const char *detail;
    int opened, put, begun, finished;
    bool refuse_begin, refuse_port, refuse_put, refuse_finish;
    bool *closed;
    struct engine_times times;
};

struct fake_port {
    struct engine_port base;
};

static bool says_no(struct engine *g, bool refuse, const char *what, struct err *e)
{
    return !refuse || err_set(e, ERR_ENGINE, "%s: cannot %s", ((struct fake *)g)->detail, what);
}

static bool fake_begin(struct engine *g, const struct engine_job *job, struct err *e)
{
    struct fake *f = (struct fake *)g;
    assert_int_equal(job->width, W);
    bool fine = says_no(g, f->refuse_begin, "begin", e);
    f->begun += fine;
    return fine;
}

static struct engine_port *fake_port_open(struct engine *g, struct err *e)
{
    struct fake *f = (struct fake *)g;
    struct fake_port *p = says_no(g, f->refuse_port, "open a port", e) ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    p->base.engine = g;
    f->opened++;
    return &p->base;
}

static bool fake_put(struct engine_port *p, const struct frame_view *view, const struct frame_tag *tag, struct err *e)
{
    (void)view, (void)tag;
    struct fake *f = (struct fake *)p->engine;
    f->put++;
    return says_no(p->engine, f->refuse_put, "put", e);
}

static bool fake_put_staged(struct engine_port *p, const uint8_t *rgb, const struct frame_tag *tag, struct err *e)
{
    (void)rgb;
    return fake_put(p, NULL, tag, e);
}

static void fake_port_close(struct engine_port **p)
{
    free(*p);
    *p = NULL;
}

static bool fake_finish(struct engine *g, struct engine_times *times, struct err *e)
{
    struct fake *f = (struct fake *)g;
    f->finished++;
    *times = f->times;
    return says_no(g, f->refuse_finish, "finish", e);
}

static const char *fake_detail(const struct engine *g)
{
    return ((const struct fake *)g)->detail;
}

static struct engine_device fake_device(const struct engine *g)
{
    return (struct engine_device){.context = (void *)(uintptr_t)g, .ordinal = 5};
}

static void fake_close(struct engine **g)
{
    struct fake *f = (struct fake *)*g;
    if (f->closed)
        *f->closed = true;
    free(f);
    *g = NULL;
}

static const struct engine_ops fake_ops = {
    .name = "fake", .begin = fake_begin, .port_open = fake_port_open, .put = fake_put, .put_staged = fake_put_staged,
    .port_close = fake_port_close, .finish = fake_finish, .detail = fake_detail, .device = fake_device, .close = fake_close,
};

/* fake[0..parts) are the engine's. */
static struct engine *fakes(struct fake **fake, int parts)
{
    struct engine *g = NULL;
    struct err e = ERR_INIT;
    for (int i = 0; i < parts; i++) {
        static const char *const name[] = {"first", "second", "third"};
        fake[i] = calloc(1, sizeof **fake);
        fake[i]->base.ops = &fake_ops;
        fake[i]->detail = name[i % 3];
        fake[i]->times = (struct engine_times){i + 1, 10 * (i + 1)};
        assert_true(engine_many_add(&g, &fake[i]->base, &e));
    }
    return g;
}

static void begin(struct engine *g)
{
    struct err e = ERR_INIT;
    struct engine_job job = job_for(NULL);
    assert_true(engine_begin(g, &job, &e));
}

/* Ports go round, also from film to film; a chosen part is a chosen part; times are summed. */
static void ports_in_turn(void **state)
{
    (void)state;
    struct fake *fake[3];
    struct engine *g = fakes(fake, 3);
    struct err e = ERR_INIT;
    struct engine_times times;
    for (int round = 0; round < 3; round++) {
        begin(g);
        struct engine_port *p[4];
        int before = fake[round]->opened;
        for (int i = 0; i < 4; i++)
            assert_non_null(p[i] = engine_port_open(g, &e));
        assert_int_equal(fake[round]->opened, before + 2);       /* the first one and the fourth */
        for (int i = 0; i < 4; i++)
            engine_port_close(&p[i]);
        assert_true(engine_finish(g, &times, &e));
        assert_true(times.shrink == 6 && times.cluster == 60);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fake[i]->opened, 4);
        assert_int_equal(fake[i]->begun, 3);
        assert_int_equal(fake[i]->finished, 3);
        assert_ptr_equal(engine_device(g, i).context, fake[i]);
        assert_int_equal(engine_device(g, i).ordinal, 5);
    }
    begin(g);
    for (int i = 0; i < 3; i++) {
        struct engine_port *p = engine_port_open_at(g, i, &e);
        assert_true(put(p, 1, i == 1, &e));
        assert_int_equal(fake[i]->put, 1);
        engine_port_close(&p);
    }
    assert_true(engine_finish(g, &times, &e));
    engine_close(&g);
}

/* An engine alone has one part: itself. */
static void one_alone(void **state)
{
    (void)state;
    struct fake *fake[1];
    struct engine *g = fakes(fake, 1);
    struct err e = ERR_INIT;
    assert_ptr_equal(g, fake[0]);
    assert_int_equal(engine_parts(g), 1);
    assert_ptr_equal(engine_device(g, 0).context, fake[0]);
    begin(g);
    struct engine_port *p = engine_port_open_at(g, 0, &e);
    assert_ptr_equal(p->engine, fake[0]);
    engine_port_close(&p);
    assert_false(engine_many_drop(&g));
    engine_close(&g);
}

/* Rule 6 of engine.h, over all parts: the others' ports fail too, with the one sentence, and nothing more is put into them. */
static void one_fails(void **state)
{
    (void)state;
    struct fake *fake[3];
    struct engine *g = fakes(fake, 3);
    struct err e = ERR_INIT;
    struct engine_times times;
    begin(g);
    struct engine_port *p[3];
    for (int i = 0; i < 3; i++)
        p[i] = engine_port_open(g, &e);
    assert_true(put(p[2], 0, false, &e));
    fake[1]->refuse_put = true;
    assert_false(put(p[1], 1, false, &e));
    assert_string_equal(e.text, "fake:5: second: cannot put");
    for (int i = 0; i < 3; i++)
        for (int staged = 0; staged < 2; staged++) {
            err_clear(&e);
            assert_false(put(p[i], 2, staged, &e));
            assert_int_equal(e.code, ERR_ENGINE);
            assert_string_equal(e.text, "fake:5: second: cannot put");
        }
    assert_int_equal(fake[0]->put, 0);
    assert_int_equal(fake[2]->put, 1);
    for (int i = 0; i < 3; i++)
        engine_port_close(&p[i]);
    fake[0]->refuse_finish = true;
    err_clear(&e);
    assert_false(engine_finish(g, &times, &e));
    assert_string_equal(e.text, "fake:5: second: cannot put");
    assert_true(times.shrink == 6 && times.cluster == 60);
    assert_int_equal(fake[0]->finished + fake[1]->finished + fake[2]->finished, 3);

    fake[0]->refuse_finish = fake[1]->refuse_put = false;       /* the next film starts clean */
    err_clear(&e);
    begin(g);
    p[1] = engine_port_open_at(g, 1, &e);
    assert_true(put(p[1], 3, false, &e));
    engine_port_close(&p[1]);
    assert_true(engine_finish(g, &times, &e));
    assert_int_equal(e.code, ERR_NONE);
    engine_close(&g);
}

/* Those that have begun are finished: the engine is between films again. */
static void one_cannot_begin(void **state)
{
    (void)state;
    struct fake *fake[3];
    struct engine *g = fakes(fake, 3);
    struct err e = ERR_INIT;
    struct engine_job job = job_for(NULL);
    fake[2]->refuse_begin = true;
    assert_false(engine_begin(g, &job, &e));
    assert_string_equal(e.text, "fake:5: third: cannot begin");
    assert_int_equal(fake[0]->finished, 1);
    assert_int_equal(fake[1]->finished, 1);
    assert_int_equal(fake[2]->finished, 0);
    engine_close(&g);
}

static void no_port(void **state)
{
    (void)state;
    struct fake *fake[2];
    struct engine *g = fakes(fake, 2);
    struct err e = ERR_INIT;
    struct engine_times times;
    begin(g);
    fake[1]->refuse_port = true;
    struct engine_port *p = engine_port_open(g, &e);
    assert_non_null(p);
    assert_null(engine_port_open(g, &e));
    assert_string_equal(e.text, "second: cannot open a port");
    engine_port_close(&p);
    engine_finish(g, &times, &e);
    engine_close(&g);
}

/* The one that failed goes, whatever it failed at; of two, one is left, and it is a single engine again. */
static void the_one_that_failed_goes(void **state)
{
    (void)state;
    struct fake *fake[3];
    struct engine *g = fakes(fake, 3);
    struct err e = ERR_INIT;
    struct engine_times times;
    bool closed[3] = {false};
    for (int i = 0; i < 3; i++)
        fake[i]->closed = &closed[i];
    begin(g);
    assert_true(engine_finish(g, &times, &e));
    assert_false(engine_many_drop(&g));
    begin(g);
    fake[0]->refuse_finish = true;
    assert_false(engine_finish(g, &times, &e));
    assert_true(engine_many_drop(&g));
    assert_true(closed[0] && !closed[1] && !closed[2]);
    assert_int_equal(engine_parts(g), 2);
    assert_string_equal(engine_detail(g), "second, third");
    assert_false(engine_many_drop(&g));
    fake[2]->refuse_begin = true;
    err_clear(&e);
    struct engine_job job = job_for(NULL);
    assert_false(engine_begin(g, &job, &e));
    assert_true(engine_many_drop(&g));
    assert_true(closed[2]);
    assert_ptr_equal(g, fake[1]);
    assert_false(engine_many_drop(&g));
    begin(g);
    err_clear(&e);
    assert_true(engine_finish(g, &times, &e));
    engine_close(&g);
    assert_true(closed[1]);
}

static void what_it_is_called(void **state)
{
    (void)state;
    struct fake *fake[3];
    struct engine *g = fakes(fake, 3);
    assert_string_equal(g->ops->name, "fake");
    assert_string_equal(engine_detail(g), "first, second, third");
    engine_close(&g);
    g = NULL;
    struct err e = ERR_INIT;
    static const char *const model[] = {"NVIDIA H200", "NVIDIA L4", "NVIDIA H200"};
    for (int i = 0; i < 3; i++) {
        struct fake *f = calloc(1, sizeof *f);
        f->base.ops = &fake_ops;
        f->detail = model[i];
        assert_true(engine_many_add(&g, &f->base, &e));
    }
    assert_string_equal(engine_detail(g), "2 x NVIDIA H200, NVIDIA L4");
    engine_close(&g);
}

static void no_more_than_the_most(void **state)
{
    (void)state;
    struct fake *fake[ENGINE_PARTS_MOST + 1];
    struct engine *g = fakes(fake, ENGINE_PARTS_MOST), *before = g;
    struct err e = ERR_INIT;
    struct engine *more = cpu();
    assert_false(engine_many_add(&g, more, &e));
    assert_int_equal(e.code, ERR_FAILED);
    assert_ptr_equal(g, before);
    assert_int_equal(engine_parts(g), ENGINE_PARTS_MOST);
    engine_close(&more);
    engine_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_as_one), cmocka_unit_test(ports_in_turn), cmocka_unit_test(one_alone), cmocka_unit_test(one_fails),
        cmocka_unit_test(one_cannot_begin), cmocka_unit_test(no_port), cmocka_unit_test(the_one_that_failed_goes),
        cmocka_unit_test(what_it_is_called), cmocka_unit_test(no_more_than_the_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
