#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "barcode/base/clock.h"
#include "base/watch.h"
#include "batch/film_watch.h"

enum { FILMS = 4 };

static struct err problem[FILMS];
static enum input_duty duty[FILMS];
static struct input_file file[FILMS];
static const struct inputs four = {.problem = problem, .duty = duty, .file = file, .count = FILMS};

static struct batch batch;
static struct film_process p;
static struct film_watch w;

/* A process that does nothing, with limits in seconds; film 0 is in slot 3, as serial 7. */
static void open_one(const char *silence, double film_s)
{
    struct err e = ERR_INIT;
    size_t film;
    setenv("BARCODE_SILENCE", silence, 1);
    batch.queue = film_queue_open(&four, &e);
    assert_true(film_queue_next(batch.queue, false, &film));
    p = (struct film_process){.worker = {.pid = fork(), .watch = watch_open(&e), .link = -1}};
    if (p.worker.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    p.slot[3] = (struct slot){.busy = true, .film = film, .serial = 7};
    watch_begin(watch_at(p.worker.watch, 3), 7);
    w = film_watch_open((int64_t)(film_s * 1e6));
}

FIXTURE(close_one)
{
    watch_begin(NULL, 0);
    kill(p.worker.pid, SIGKILL);
    waitpid(p.worker.pid, NULL, 0);
    watch_free(p.worker.watch);
    film_queue_free(&batch.queue);
    return 0;
}

/* Lets periods pass. */
static void ticks(int count)
{
    for (int i = 0; i < count; i++) {
        w.last_ns = clock_ns() - (int64_t)(w.period_s * 1e9);
        assert_int_equal(film_watch_wait(&w), 0);
        film_watch_tick(&w, &p, 1, &batch, UINT64_MAX);
    }
}

TEST(the_period)
{
    static const struct {
        const char *silence;
        double film_s, period_s;
    } table[] = {{"300", 0, 1}, {"300", 7200, 1}, {"2", 0, 0.2}, {"2", 1, 0.1}, {"0", 0, 1}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        setenv("BARCODE_SILENCE", table[i].silence, 1);
        w = film_watch_open((int64_t)(table[i].film_s * 1e6));
        assert_float_equal(w.period_s, table[i].period_s, 1e-9);
        assert_in_range(film_watch_wait(&w), 1, (uintmax_t)(table[i].period_s * 1e3) + 1);
    }
}

/* A silent film is asked to end, then its process is killed. */
TEST_WITH(silence, NULL, close_one)
{
    open_one("20", 0);
    for (int i = 0; i < 30; i++) {
        watch_moved();
        ticks(1);
        assert_false(watch_stopped());
    }
    ticks(19);
    assert_false(watch_stopped());
    ticks(2);
    assert_true(watch_stopped());
    assert_string_equal(p.slot[3].reason, "nothing was read, decoded or written for 20 s");
    assert_null(p.worker.killed);
    ticks(6);
    assert_string_equal(p.worker.killed, WORKER_SILENT);
}

/* A film that moves gets twice the time to end. */
TEST_WITH(a_film_that_moves, NULL, close_one)
{
    open_one("0", 600);
    for (int i = 0; i < 601; i++) {
        watch_moved();
        ticks(1);
    }
    assert_true(watch_stopped());
    assert_string_equal(p.slot[3].reason, "stopped after 10 minutes (--film-timeout)");
    for (int i = 0; i < 10; i++) {
        assert_true(!p.worker.killed || i > 5);
        watch_moved();
        ticks(1);
    }
    assert_non_null(p.worker.killed);
}

/* Time limits stop for a film that is untimed. The progress reaches the queue. */
TEST_WITH(time_limits, NULL, close_one)
{
    open_one("300", 10);
    watch_set_progress(&(struct watch_progress){.share = 0.5, .frames = 12});
    watch_untimed(true);
    ticks(50);
    assert_false(watch_stopped());
    assert_int_equal(film_queue_tally(batch.queue).frames, 12);
    assert_float_equal(film_queue_tally(batch.queue).films_now, 0.5, 1e-6);
    watch_untimed(false);
    ticks(9);
    assert_false(watch_stopped());
    ticks(2);
    assert_true(watch_stopped());
    assert_string_equal(p.slot[3].reason, "stopped after 10 s (--film-timeout)");
}

/* A pause of the parent counts as one tick. */
TEST_WITH(a_stopped_parent, NULL, close_one)
{
    open_one("10", 10);
    w.last_ns -= INT64_C(3600000000000);
    film_watch_tick(&w, &p, 1, &batch, UINT64_MAX);
    assert_false(watch_stopped());
    assert_true(p.slot[3].total_s < 2);
}

/* A process without a film in progress has to take one, or to end. */
TEST_WITH(between_films, NULL, close_one)
{
    open_one("10", 0);
    p.slot[3].busy = false;
    ticks(13);
    assert_null(p.worker.killed);
    ticks(2);
    assert_non_null(p.worker.killed);
}

TEST_WITH(memory, NULL, close_one)
{
    open_one("0", 0);
    film_watch_tick(&w, &p, 1, &batch, 1);
    assert_string_equal(p.worker.killed, WORKER_GREEDY);
}
