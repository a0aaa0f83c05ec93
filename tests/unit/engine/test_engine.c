/*
 * test_engine.c - the contract of engine.h, on the CPU (tests/check has the GPU).
 */
#include <pthread.h>
#include <stdatomic.h>

#include "test.h"
#include "staged.h"

enum { W = 40, H = 24, FRAMES = 30, PIXELS = W * H, BYTES = PIXELS * 3 };

static struct engine_job job_for(struct columns *columns)
{
    return (struct engine_job){
        .width = W,
        .height = H,
        .cluster = true,
        .rows = true,
        .modes = 3,
        .ports = 1,
        .columns = columns,
        .kmeans = {.k = 6, .n_init = 2, .max_iter = 50, .init = INIT_SCALABLE, .seed = 7},
    };
}

static struct columns *open_columns(void)
{
    struct columns *c = columns_open(6, H, NULL);
    assert_non_null(c);
    columns_keep_modes(c);
    return c;
}

static bool put(struct engine_port *p, uint64_t n, bool staged, struct err *e)
{
    return staged_put(p, W, H, n, staged, e);
}

/* The right answer: frames one after another in order, one thread. */
static struct columns *in_order(bool staged)
{
    struct err e = ERR_INIT;
    struct columns *c = open_columns();
    struct engine *g = staged_engine(1);
    struct engine_job job = job_for(c);
    struct engine_times times;
    assert_true(engine_begin(g, &job, &e));
    struct engine_port *p = engine_port_open(g, &e);
    assert_non_null(p);
    for (uint64_t n = 0; n < FRAMES; n++)
        assert_true(put(p, n, staged, &e));
    engine_port_close(&p);
    assert_null(p);
    assert_true(engine_finish(g, &times, &e));
    engine_close(&g);
    assert_null(g);
    assert_int_equal(columns_count(c), FRAMES);
    return c;
}

TEST(unknown_engine)
{
    struct err e = ERR_INIT;
    struct engine_config config = {.threads = 1};
    assert_null(engine_open("abacus", &config, &e));
    assert_int_equal(e.code, ERR_ENGINE);
    assert_string_equal(e.text, "there is no engine 'abacus' in this build");
    struct engine *none = NULL;
    struct engine_port *no_port = NULL;
    engine_close(&none);
    engine_port_close(&no_port);
}

/* ------------------------------------------------------------------ right values */

static uint8_t mean(const uint8_t *rgb, size_t pixels, int channel)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < pixels; i++)
        sum += rgb[3 * i + (size_t)channel];
    return (uint8_t)((double)sum / (double)pixels + 0.5);
}

TEST(averages_rows_and_clusters)
{
    struct columns *c = in_order(false);
    for (uint64_t n = 0; n < FRAMES; n++) {
        const struct column *column = columns_get(c, n);
        uint8_t rgb[BYTES];
        staged_draw(rgb, W, H, n);
        uint64_t pixels = 0;
        assert_int_equal(column->status, COLUMN_OK);
        assert_int_equal(column->frame, n * 24);
        assert_int_equal(column->time_us, n * 1000000);
        for (int channel = 0; channel < 3; channel++) {
            assert_int_equal(column->average[channel], mean(rgb, PIXELS, channel));
            for (int y = 0; y < H; y++)
                assert_int_equal(column->row[3 * y + channel],
                                 mean(rgb + (size_t)y * W * 3, W, channel));
        }
        assert_int_equal(column->clusters, 6);
        for (int k = 0; k < 6; k++) {
            pixels += column->cluster[k].count;
            assert_true(k == 0 || column->cluster[k].count <= column->cluster[k - 1].count);
        }
        assert_int_equal(pixels, PIXELS);
    }
    columns_free(&c);
}

/* ------------------------------------------------------------------ alpha */

/* Puts three frames: opaque, visible in the left half, transparent. */
static struct columns *with_alpha(const struct crop *crop, uint8_t *rgb)
{
    struct err e = ERR_INIT;
    struct columns *c = open_columns();
    struct engine *g = staged_engine(2);
    struct engine_job job = job_for(c);
    struct engine_times times;
    job.crop = crop;
    assert_true(engine_begin(g, &job, &e));
    struct engine_port *p = engine_port_open(g, &e);
    for (uint64_t n = 0; n < 3; n++) {
        uint8_t alpha[PIXELS];
        struct frame_view view = staged_view(rgb, W, H);
        struct frame_tag tag = staged_tag(n);
        for (int i = 0; i < PIXELS; i++)
            alpha[i] = n == 0 || (n == 1 && i % W < W / 2) ? 255 : 0;
        view.alpha = (struct plane){alpha, W, 1, W, H};
        assert_true(columns_announce(c, &tag, &e));
        assert_true(engine_put(p, &view, &tag, &e));
    }
    engine_port_close(&p);
    assert_true(engine_finish(g, &times, &e));
    engine_close(&g);
    assert_int_equal(columns_done(c), 3);
    return c;
}

TEST(transparent_samples_do_not_count)
{
    struct crop left = {W, H, 1, true, {{0, 0, W / 2, H}}};
    uint8_t rgb[BYTES], half[BYTES];
    staged_draw(rgb, W, H, 0);
    struct columns *plain = in_order(false), *c = with_alpha(NULL, rgb);
    /* opaque alpha gives the bytes of a frame without alpha */
    assert_true(same_column(columns_get(c, 0), columns_get(plain, 0), H));
    /* one half is visible: its pixels count twice */
    const struct column *column = columns_get(c, 1);
    for (size_t y = 0, at = 0; y < H; y++, at += W / 2 * 3)
        memcpy(half + at, rgb + y * W * 3, W / 2 * 3);
    for (int channel = 0; channel < 3; channel++)
        assert_int_equal(column->average[channel], mean(half, PIXELS / 2, channel));
    assert_int_equal(column->status, COLUMN_OK);
    column = columns_get(c, 2);
    assert_true(column->status == COLUMN_MISSING && column->transparent);
    assert_int_equal(column->frame, 48);
    columns_free(&c);
    /* cropped to what is opaque */
    c = with_alpha(&left, rgb);
    assert_true(columns_get(c, 0)->status == COLUMN_OK && columns_get(c, 2)->transparent);
    assert_memory_equal(columns_get(c, 0)->row, columns_get(c, 1)->row, 3 * H);
    assert_memory_equal(columns_get(c, 0)->average, columns_get(c, 1)->average, 3);
    columns_free(&c);
    columns_free(&plain);
}

/* A frame that cannot be downscaled fails the film, as any other. */
TEST(invalid_alpha)
{
    struct err e = ERR_INIT;
    struct columns *c = open_columns();
    struct engine *g = staged_engine(1);
    struct engine_job job = job_for(c);
    struct engine_times times;
    uint8_t rgb[BYTES] = {0};
    struct frame_view view = staged_view(rgb, W, H);
    struct frame_tag tag = staged_tag(0);
    view.alpha = (struct plane){rgb, W, 0, W, H};
    assert_true(engine_begin(g, &job, &e));
    struct engine_port *p = engine_port_open(g, &e);
    assert_false(engine_put(p, &view, &tag, &e));
    engine_port_close(&p);
    err_clear(&e);
    assert_false(engine_finish(g, &times, &e));
    assert_int_equal(e.code, ERR_FAILED);
    engine_close(&g);
    columns_free(&c);
}

/* ------------------------------------------------------------------ order, threads, ports */

struct pusher {
    struct engine *engine;
    pthread_t thread;
    int index, step;
    bool ok;
};

/* Puts frames index, index + step, ... from the last to the first. */
static void *push_frames(void *argument)
{
    struct pusher *u = argument;
    struct err e = ERR_INIT;
    struct engine_port *p = engine_port_open(u->engine, &e);
    u->ok = p != NULL;
    for (int n = FRAMES - 1; n >= 0 && u->ok; n--)
        if (n % u->step == u->index)
            u->ok = put(p, (uint64_t)n, n % 3 == 0, &e);
    engine_port_close(&p);
    return NULL;
}

TEST(any_order_any_threads)
{
    struct columns *right = in_order(false);
    static const int threads[] = {1, 2, 5};
    for (int t = 0; t < 3; t++) {
        for (int ports = 1; ports <= 4; ports++) {
            struct err e = ERR_INIT;
            struct columns *c = open_columns();
            struct engine *g = staged_engine(threads[t]);
            struct engine_job job = job_for(c);
            struct engine_times times;
            struct pusher u[4];
            job.ports = ports;
            assert_true(engine_begin(g, &job, &e));
            for (int k = 0; k < ports; k++) {
                u[k] = (struct pusher){.engine = g, .index = k, .step = ports};
                assert_int_equal(pthread_create(&u[k].thread, NULL, push_frames, &u[k]), 0);
            }
            for (int k = 0; k < ports; k++) {
                pthread_join(u[k].thread, NULL);
                assert_true(u[k].ok);
            }
            assert_true(engine_finish(g, &times, &e));
            assert_true(times.cluster > 0 && times.shrink > 0);
            assert_int_equal(first_difference(right, c, H), -1);
            engine_close(&g);
            columns_free(&c);
        }
    }
    columns_free(&right);
}

/* ------------------------------------------------------------------ the tap */

struct tapped {
    atomic_int calls, wrong;
    atomic_int fail_at; /* the call that fails, -1: none */
};

static bool tap(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    struct tapped *t = user;
    uint8_t right[BYTES];
    struct frame_tag right_tag = staged_tag(tag->column);
    staged_draw(right, W, H, tag->column);
    if (memcmp(rgb, right, BYTES) != 0 || tag->frame != right_tag.frame ||
        tag->time_us != right_tag.time_us)
        atomic_fetch_add(&t->wrong, 1);
    if (atomic_fetch_add(&t->calls, 1) == atomic_load(&t->fail_at))
        return err_set(e, ERR_INPUT, "the tap said no at column %d", (int)tag->column);
    return true;
}

TEST(tap_sees_every_frame)
{
    struct err e = ERR_INIT;
    struct tapped t = {.fail_at = -1};
    struct columns *c = open_columns();
    struct engine *g = staged_engine(3);
    struct engine_job job = job_for(c);
    struct engine_times times;
    job.tap = tap;
    job.tap_user = &t;
    assert_true(engine_begin(g, &job, &e));
    struct engine_port *p = engine_port_open(g, &e);
    for (uint64_t n = 0; n < FRAMES; n++)
        assert_true(put(p, n, n % 2, &e));
    engine_port_close(&p);
    assert_true(engine_finish(g, &times, &e));
    assert_int_equal(atomic_load(&t.calls), FRAMES);
    assert_int_equal(atomic_load(&t.wrong), 0);
    engine_close(&g);
    columns_free(&c);
}

/* Rule 6: one sentence, for every later put and for finish; the next film starts clean. */
TEST(failure)
{
    struct tapped t;
    atomic_init(&t.calls, 0);
    atomic_init(&t.wrong, 0);
    atomic_init(&t.fail_at, 5);
    struct columns *c = open_columns();
    struct engine *g = staged_engine(2);
    struct engine_job job = job_for(c);
    struct engine_times times;
    struct err first = ERR_INIT, e = ERR_INIT;
    job.tap = tap;
    job.tap_user = &t;
    assert_true(engine_begin(g, &job, &e));
    struct engine_port *p = engine_port_open(g, &e);
    bool ok = true;
    for (uint64_t n = 0; n < 10000 && ok; n++)
        ok = put(p, n % FRAMES, true, &first);
    assert_false(ok);
    assert_int_equal(first.code, ERR_INPUT);
    assert_memory_equal(first.text, "the tap said no", 15);
    for (uint64_t n = 0; n < 20; n++) {
        err_clear(&e);
        assert_false(put(p, n, n % 2, &e));
        assert_string_equal(e.text, first.text);
        assert_int_equal(e.code, first.code);
    }
    engine_port_close(&p);
    err_clear(&e);
    assert_false(engine_finish(g, &times, &e));
    assert_string_equal(e.text, first.text);

    err_clear(&e);
    atomic_store(&t.fail_at, -1);
    assert_true(engine_begin(g, &job, &e));
    p = engine_port_open(g, &e);
    for (uint64_t n = 0; n < FRAMES; n++)
        assert_true(put(p, n, true, &e));
    engine_port_close(&p);
    assert_true(engine_finish(g, &times, &e));
    struct columns *right = in_order(true);
    assert_int_equal(first_difference(right, c, H), -1);
    engine_close(&g);
    columns_free(&right);
    columns_free(&c);
}

/* ------------------------------------------------------------------ film after film */

TEST(film_after_film)
{
    struct engine *g = staged_engine(2);
    assert_non_null(engine_detail(g));
    static const int sizes[][2] = {{8, 8}, {1, 1}, {64, 3}, {3, 64}, {8, 8}};
    for (int s = 0; s < 5; s++) {
        struct err e = ERR_INIT;
        int w = sizes[s][0], h = sizes[s][1];
        bool cluster = s % 2 == 0;
        struct columns *c = columns_open(cluster ? 3 : 0, 0, &e);
        struct engine_job job = {.width = w,
                                 .height = h,
                                 .cluster = cluster,
                                 .ports = 1,
                                 .columns = c,
                                 .kmeans = {.k = 3, .n_init = 1, .max_iter = 9}};
        struct engine_times times;
        assert_true(engine_begin(g, &job, &e));
        struct engine_port *p = engine_port_open(g, &e);
        uint8_t rgb[192 * 3];
        struct frame_tag tag = {
            .column = 2, .repeat = 3, .frame = 9, .time_us = 5, .damaged = s % 2};
        staged_draw(rgb, w, h, 1);
        assert_true(engine_put_analysed(p, rgb, &tag, &e));
        engine_port_close(&p);
        assert_true(engine_finish(g, &times, &e));
        const struct column *column = columns_get(c, 2);
        assert_int_equal(column->status, s % 2 ? COLUMN_DAMAGED : COLUMN_OK);
        assert_int_equal(column->repeat, 3);
        assert_int_equal(column->average[1], mean(rgb, (size_t)(w * h), 1));
        assert_int_equal(column->clusters > 0, cluster);
        assert_int_equal(columns_get(c, 0)->status, COLUMN_MISSING);
        columns_free(&c);
    }
    struct err e = ERR_INIT;
    struct engine_job job = {.width = 4, .height = 4, .ports = 1};
    struct engine_times times = {9, 9};
    assert_true(engine_begin(g, &job, &e)); /* a film without a frame */
    assert_true(engine_finish(g, &times, &e));
    assert_true(times.shrink == 0);
    engine_close(&g);
}
