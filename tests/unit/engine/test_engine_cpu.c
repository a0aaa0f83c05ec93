#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "test.h"
#include "barcode/base/isa.h"
#include "staged.h"

enum { W = 24, H = 16 };

/* 40 frames into fresh columns. */
static struct columns *cluster_frames(struct engine *g)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(8, H, &e);
    columns_keep_modes(c);
    struct engine_job job = {.width = W,
                             .height = H,
                             .cluster = true,
                             .rows = true,
                             .modes = 3,
                             .ports = 1,
                             .columns = c,
                             .kmeans = {.k = 8, .n_init = 3, .max_iter = 100}};
    struct engine_times times;
    assert_true(engine_begin(g, &job, &e));
    struct engine_port *p = engine_port_open(g, &e);
    for (uint64_t n = 0; n < 40; n++) {
        uint8_t rgb[W * H * 3];
        struct frame_tag tag = staged_tag(n);
        staged_draw(rgb, W, H, n);
        assert_true(engine_put_analysed(p, rgb, &tag, &e));
    }
    engine_port_close(&p);
    assert_true(engine_finish(g, &times, &e));
    return c;
}

TEST(every_instruction_set)
{
    assert_int_equal(setenv("BARCODE_ISA", "c", 1), 0);
    struct engine *g = staged_engine(2);
    assert_string_equal(engine_detail(g), "c");
    struct columns *right = cluster_frames(g);
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
        struct columns *c = cluster_frames(g);
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

/* A picture that cannot be shrunk fails the engine for the rest of the film, with the shrink's
 * sentence. */
TEST(a_picture_too_large)
{
    struct err first = ERR_INIT, e = ERR_INIT;
    struct engine *g = staged_engine(2);
    struct engine_job job = {
        .width = W, .height = H, .ports = 1, .columns = columns_open(0, 0, NULL)};
    struct engine_times times;
    assert_true(engine_begin(g, &job, &e));
    struct engine_port *p = engine_port_open(g, &e);
    uint8_t rgb[3] = {0};
    struct frame_view view = staged_view(rgb, 1, 1);
    struct frame_tag tag = staged_tag(0);
    view.width = view.plane[0].width = view.plane[1].width = view.plane[2].width = 16385;
    assert_false(engine_put(p, &view, &tag, &first));
    assert_int_not_equal(first.code, ERR_NONE);
    view = staged_view(rgb, 1, 1);
    assert_false(engine_put(p, &view, &tag, &e));
    assert_string_equal(e.text, first.text);
    engine_port_close(&p);
    err_clear(&e);
    assert_false(engine_finish(g, &times, &e));
    assert_string_equal(e.text, first.text);
    assert_int_equal(columns_count(job.columns), 0);
    engine_close(&g);
    columns_free(&job.columns);
}

/* ------------------------------------------------------------------ back-pressure and failure */

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

struct pusher {
    struct engine *engine;
    pthread_t thread;
    atomic_int put;
    struct err error;
    int frames;
};

static void *push_frames(void *argument)
{
    struct pusher *u = argument;
    struct engine_port *p = engine_port_open(u->engine, &u->error);
    uint8_t rgb[W * H * 3];
    staged_draw(rgb, W, H, 3);
    for (int n = 0; n < u->frames; n++) {
        struct frame_tag tag = staged_tag((uint64_t)n);
        if (!engine_put_analysed(p, rgb, &tag, &u->error))
            break;
        atomic_fetch_add(&u->put, 1);
    }
    engine_port_close(&p);
    return NULL;
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
    *u = (struct pusher){.engine = g, .error = ERR_INIT, .frames = 100};
    assert_int_equal(pthread_create(&u->thread, NULL, push_frames, u), 0);
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
    c = cluster_frames(g); /* the next film is as if nothing had been */
    assert_int_equal(columns_count(c), 40);
    engine_close(&g);
    columns_free(&c);
}
