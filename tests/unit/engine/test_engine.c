/*
 * test_engine.c - the contract of engine.h, on the CPU (tests/check has the GPU).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "test.h"
#include "barcode/base/isa.h"
#include "barcode/engine/shrink.h"
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

/* Puts all frames in order by one port; `staged`: every other one as it is analysed. */
static void run_film(struct engine *g, const struct engine_job *job, bool staged)
{
    struct err e = ERR_INIT;
    struct engine_times times;
    assert_true(engine_begin(g, job, &e));
    struct engine_port *p = engine_port_open(g, &e);
    assert_non_null(p);
    for (uint64_t n = 0; n < FRAMES; n++)
        assert_true(put(p, n, staged && n % 2, &e));
    engine_port_close(&p);
    assert_null(p);
    assert_true(engine_finish(g, &times, &e));
    assert_int_equal(columns_count(job->columns), FRAMES);
}

static struct columns *columns_by(struct engine *g)
{
    struct columns *c = open_columns();
    const struct engine_job job = job_for(c);
    run_film(g, &job, false);
    return c;
}

/* The right answer: frames one after another in order, one thread. */
static struct columns *in_order(void)
{
    struct engine *g = staged_engine(1);
    struct columns *c = columns_by(g);
    engine_close(&g);
    assert_null(g);
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
    struct columns *c = in_order();
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
    struct columns *plain = in_order(), *c = with_alpha(NULL, rgb);
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

/* A frame that cannot be downscaled, too large or with alpha of no step, fails the engine for the
 * rest of the film, with one sentence. */
TEST(invalid_frames)
{
    for (int alpha = 0; alpha < 2; alpha++) {
        struct err first = ERR_INIT, e = ERR_INIT;
        struct columns *c = open_columns();
        struct engine *g = staged_engine(2);
        struct engine_job job = job_for(c);
        struct engine_times times;
        uint8_t rgb[BYTES] = {0};
        struct frame_view view = staged_view(rgb, W, H);
        struct frame_tag tag = staged_tag(0);
        if (alpha)
            view.alpha = (struct plane){rgb, W, 0, W, H};
        else
            view.width = view.plane[0].width = view.plane[1].width = view.plane[2].width = 16385;
        assert_true(engine_begin(g, &job, &e));
        struct engine_port *p = engine_port_open(g, &e);
        assert_false(engine_put(p, &view, &tag, &first));
        assert_int_equal(first.code, ERR_FAILED);
        assert_false(put(p, 0, false, &e));
        assert_string_equal(e.text, first.text);
        engine_port_close(&p);
        err_clear(&e);
        assert_false(engine_finish(g, &times, &e));
        assert_string_equal(e.text, first.text);
        assert_int_equal(columns_count(c), 0);
        engine_close(&g);
        columns_free(&c);
    }
}

/* ------------------------------------------------------------------ order, threads, ports */

struct pusher {
    struct engine *engine;
    pthread_t thread;
    int frames, index, step;
    atomic_int put;
    struct err error;
};

/* Puts frames index, index + step, ... from the last to the first. */
static void *push_frames(void *argument)
{
    struct pusher *u = argument;
    struct engine_port *p = engine_port_open(u->engine, &u->error);
    for (int n = u->frames - 1; n >= 0 && u->error.code == ERR_NONE; n--)
        if (n % u->step == u->index && put(p, (uint64_t)n, n % 3 == 0, &u->error))
            atomic_fetch_add(&u->put, 1);
    engine_port_close(&p);
    return NULL;
}

static void start_pusher(struct pusher *u, struct engine *g, int frames, int index, int step)
{
    *u = (struct pusher){.engine = g, .frames = frames, .index = index, .step = step};
    assert_int_equal(pthread_create(&u->thread, NULL, push_frames, u), 0);
}

TEST(any_order_any_threads)
{
    struct columns *right = in_order();
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
            for (int k = 0; k < ports; k++)
                start_pusher(&u[k], g, FRAMES, k, ports);
            for (int k = 0; k < ports; k++) {
                pthread_join(u[k].thread, NULL);
                assert_int_equal(u[k].error.code, ERR_NONE);
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
    struct tapped t = {.fail_at = -1};
    struct columns *c = open_columns();
    struct engine *g = staged_engine(3);
    struct engine_job job = job_for(c);
    job.tap = tap;
    job.tap_user = &t;
    run_film(g, &job, true);
    assert_int_equal(atomic_load(&t.calls), FRAMES);
    assert_int_equal(atomic_load(&t.wrong), 0);
    engine_close(&g);
    columns_free(&c);
}

enum { SCAN_W = 10, SCAN_H = 6 };

/* What the tap of scan frames expects. */
struct scanned {
    struct crop_rect rect;
    atomic_int calls, wrong;
};

static bool scan_tap(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    struct scanned *t = user;
    uint8_t frame[BYTES], right[SCAN_W * SCAN_H * 3];
    struct shrink *shrink = shrink_open(SCAN_W, SCAN_H, e);
    staged_draw(frame, W, H, tag->frame);
    struct frame_view view = staged_view(frame, W, H);
    crop_to_rect(&view, &t->rect);
    bool ok = shrink && shrink_frame(shrink, &view, right, e);
    if (tag->repeat > 0 || tag->previews > 0 || memcmp(rgb, right, sizeof right) != 0)
        atomic_fetch_add(&t->wrong, 1);
    atomic_fetch_add(&t->calls, 1);
    shrink_free(&shrink);
    return ok;
}

/* Scan frames have a size, a crop and a tap of their own, and columns stay as they are. */
TEST(scan_frames_beside_columns)
{
    static const struct crop tight = {W, H, 2, false, {{4, 2, W - 8, H - 4}, {2, 2, W - 4, H - 4}}};
    for (int cropped = 0; cropped < 2; cropped++) {
        struct err e = ERR_INIT;
        struct tapped t = {.fail_at = -1};
        struct scanned scanned = {.rect = {0, 0, W, H}};
        struct columns *c = open_columns();
        struct engine *g = staged_engine(3);
        struct engine_job job = job_for(c);
        struct engine_times times;
        uint8_t rgb[BYTES];
        job.tap = tap;
        job.tap_user = &t;
        job.scan = scan_tap;
        job.scan_user = &scanned;
        job.scan_width = SCAN_W;
        job.scan_height = SCAN_H;
        if (cropped) {
            job.crop = &tight;
            scanned.rect = tight.rect[0];
        }
        assert_true(engine_begin(g, &job, &e));
        struct engine_port *p = engine_port_open(g, &e);
        for (uint64_t n = 0; n < FRAMES; n++) {
            staged_draw(rgb, W, H, n);
            struct frame_view view = staged_view(rgb, W, H);
            struct frame_tag tag = {.column = n / 5, .frame = n, .scan = true};
            assert_true(engine_put(p, &view, &tag, &e));
        }
        engine_port_close(&p);
        assert_true(engine_finish(g, &times, &e));
        assert_int_equal(atomic_load(&scanned.calls), FRAMES);
        assert_int_equal(atomic_load(&scanned.wrong), 0);
        assert_int_equal(atomic_load(&t.calls), 0);
        assert_int_equal(columns_count(c), 0);
        job.scan = NULL; /* the next film has no scan frames */
        job.crop = NULL;
        run_film(g, &job, false);
        assert_int_equal(atomic_load(&t.calls), FRAMES);
        assert_int_equal(atomic_load(&scanned.calls), FRAMES);
        engine_close(&g);
        columns_free(&c);
    }
}

/* Rule 6: one sentence, for every later put and for finish; the next film starts clean. */
TEST(a_failure_stays)
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

    atomic_store(&t.fail_at, -1);
    run_film(g, &job, true);
    struct columns *right = in_order();
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

/* ------------------------------------------------------------------ back-pressure */

/* A tap that lets nothing through until the admission opens; of those that wait there, one fails
 * when a failure is asked for. */
static atomic_bool admission, failure;
static atomic_int inside;

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); }

static bool wait_at_gate(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    (void)user, (void)tag, (void)rgb;
    atomic_fetch_add(&inside, 1);
    for (; !atomic_load(&admission); nap())
        if (atomic_exchange(&failure, false))
            return err_set(e, ERR_FAILED, "failed at the gate");
    return true;
}

enum { THREADS = 2, PORTS = 3, BATCHES = PORTS + 2 * THREADS };

/* Begins a film whose frames pile up before the admission, and waits until they do. */
static void fill_up(struct engine *g, struct pusher *u, struct columns *c)
{
    struct err e = ERR_INIT;
    struct engine_job job = {
        .width = W, .height = H, .ports = PORTS, .columns = c, .tap = wait_at_gate};
    atomic_store(&admission, false);
    atomic_store(&failure, false);
    atomic_store(&inside, 0);
    assert_true(engine_begin(g, &job, &e));
    start_pusher(u, g, 100, 0, 1);
    while (atomic_load(&u->put) < BATCHES || atomic_load(&inside) < THREADS)
        nap();
    for (int i = 0; i < 20; i++)
        nap();
    /* Every batch is in use: two at the admission, the others queued. Memory does not grow with the
     * film. */
    assert_int_equal(atomic_load(&u->put), BATCHES);
}

TEST(put_waits)
{
    struct err e = ERR_INIT;
    struct pusher u;
    struct engine_times times;
    struct engine *g = staged_engine(THREADS);
    struct columns *c = columns_open(0, 0, NULL);
    fill_up(g, &u, c);
    atomic_store(&admission, true);
    pthread_join(u.thread, NULL);
    assert_int_equal(atomic_load(&u.put), 100);
    assert_true(engine_finish(g, &times, &e));
    assert_int_equal(columns_count(c), 100);
    for (uint64_t n = 0; n < 100; n++)
        assert_int_equal(columns_get(c, n)->status, COLUMN_OK);
    engine_close(&g);
    columns_free(&c);
}

/* While the other worker is still at the admission. */
TEST(a_failure_wakes_who_waits)
{
    struct err e = ERR_INIT;
    struct pusher u;
    struct engine_times times;
    struct engine *g = staged_engine(THREADS);
    struct columns *c = columns_open(0, 0, NULL);
    fill_up(g, &u, c);
    atomic_store(&failure, true);
    pthread_join(u.thread, NULL); /* before the admission opens */
    assert_int_equal(u.error.code, ERR_FAILED);
    assert_string_equal(u.error.text, "failed at the gate");
    atomic_store(&admission, true);
    assert_false(engine_finish(g, &times, &e));
    assert_string_equal(e.text, "failed at the gate");
    columns_free(&c);
    c = columns_by(g); /* the next film is as if nothing had been */
    engine_close(&g);
    columns_free(&c);
}

/* ------------------------------------------------------------------ instruction sets */

TEST(every_instruction_set)
{
    assert_int_equal(setenv("BARCODE_ISA", "base", 1), 0);
    struct engine *g = staged_engine(2);
    assert_string_equal(engine_detail(g), "base");
    struct columns *right = columns_by(g);
    engine_close(&g);
    for (int i = ISA_AVX2; i <= ISA_VNNI; i++) {
        const char *name = isa_name((enum isa)i);
        if (!isa_supported((enum isa)i)) {
            print_message("SKIPPED: this processor has no %s\n", name);
            continue;
        }
        setenv("BARCODE_ISA", name, 1);
        g = staged_engine(2);
        assert_string_equal(engine_detail(g), name);
        struct columns *c = columns_by(g);
        assert_int_equal(first_difference(right, c, H), -1);
        columns_free(&c);
        engine_close(&g);
    }
    columns_free(&right);
    unsetenv("BARCODE_ISA");
}

TEST(unknown_instruction_set)
{
    struct err e = ERR_INIT;
    struct engine_config config = {.threads = 1};
    setenv("BARCODE_ISA", "z80", 1);
    assert_null(engine_open("cpu", &config, &e));
    assert_int_equal(e.code, ERR_USAGE);
    unsetenv("BARCODE_ISA");
}
