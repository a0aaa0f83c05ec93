#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/watch.h"
#include "batch/watchdog.h"

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* A process that does nothing, and a watchdog for it: `silence` in seconds. */
static struct watchdog *open_one(struct worker *w, const char *silence, int64_t film_us)
{
    setenv("BARCODE_SILENCE", silence, 1);
    struct watchdog *d = watchdog_open(1, film_us);
    assert_non_null(d);
    *w = (struct worker){.pid = fork(), .pipe = -1};
    w->watch = watchdog_watches(d, 0);
    if (w->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return d;
}

static void close_one(struct watchdog **d, const struct worker *w)
{
    kill(w->pid, SIGKILL);
    waitpid(w->pid, NULL, 0);
    watch_begin(NULL, 0);
    watchdog_close(d);
    assert_null(*d);
}

static void ticks(struct watchdog *d, struct worker *w, int count)
{
    for (int i = 0; i < count; i++) {
        sleep_ms(100);
        watchdog_tick(d, w, 1);
    }
}

/* A silent film is asked to end, then its process is killed, and the film is to blame. */
TEST(silence)
{
    struct worker w;
    struct err e = ERR_INIT;
    struct watchdog *d = open_one(&w, "0.5", 0);
    watch_begin(watch_at(w.watch, 3), 7);
    for (int i = 0; i < 9; i++) {
        watch_moved();
        ticks(d, &w, 1);
        assert_false(watch_stopped() || interrupted());
    }
    ticks(d, &w, 7);
    assert_true(watch_stopped() && interrupt_pending());
    assert_false(w.killed);
    ticks(d, &w, 7);
    assert_true(w.killed);
    assert_int_equal(w.blamed.count, 1);
    assert_int_equal(w.blamed.film[0], 7);
    assert_string_equal(w.reason, "nothing was read, decoded or written for 0.5 s");
    assert_true(watch_error(&e));
    assert_string_equal(e.text, w.reason);
    assert_int_equal(e.code, ERR_FAILED);
    assert_false(watch_stopped() || watch_error(&e));
    watch_end();
    close_one(&d, &w);
}

/* The next film of the watch is not that which was asked to end. */
TEST(only_that_film)
{
    struct worker w;
    struct watchdog *d = open_one(&w, "0", 300000);
    watch_begin(w.watch, 0);
    ticks(d, &w, 4);
    assert_true(watch_stopped());
    watch_end();
    assert_false(watch_stopped());
    watch_begin(w.watch, 1);
    assert_false(watch_stopped());
    ticks(d, &w, 1);
    assert_false(watch_stopped());
    watch_end();
    close_one(&d, &w);
}

static void *mark(void *argument)
{
    watch_moved();
    return argument;
}

/* Threads mark the watch of the thread that started them, and time limits stop for what is untimed.
 */
TEST(threads_and_time_limits)
{
    struct worker w;
    struct watchdog *d = open_one(&w, "0.5", 1000000);
    watch_begin(w.watch, 0);
    watch_untimed(true);
    for (int i = 0; i < 15; i++) {
        pthread_t thread;
        assert_int_equal(watch_thread(&thread, mark, NULL), 0);
        pthread_join(thread, NULL);
        ticks(d, &w, 1);
        assert_false(watch_stopped());
    }
    watch_untimed(false);
    for (int i = 0; i < 12; i++) {
        watch_moved();
        ticks(d, &w, 1);
    }
    struct err e = ERR_INIT;
    assert_true(watch_error(&e));
    assert_string_equal(e.text, "stopped after 1 s (--film-timeout)");
    watch_end();
    close_one(&d, &w);
}

/* A pause of the parent counts as one tick. */
TEST(a_stopped_parent)
{
    struct worker w;
    struct watchdog *d = open_one(&w, "0.5", 700000);
    watch_begin(w.watch, 0);
    sleep_ms(1500);
    ticks(d, &w, 1);
    assert_false(watch_stopped());
    watch_end();
    close_one(&d, &w);
}

/* A process without a film in progress has to take one, or to end. */
TEST(between_films)
{
    struct worker w;
    struct watchdog *d = open_one(&w, "0.3", 0);
    ticks(d, &w, 9);
    assert_true(w.killed);
    assert_int_equal(w.blamed.count, 0);
    close_one(&d, &w);
}

/* Without memory for a watchdog, or without a watch, nothing happens. */
TEST(nothing_watched)
{
    struct watchdog *none = NULL;
    struct worker w = {.pid = -1};
    assert_null(watchdog_watches(none, 0));
    watchdog_tick(none, &w, 1);
    watchdog_forget(none, 0);
    watchdog_close(&none);
    watch_begin(NULL, 0);
    watch_moved();
    watch_untimed(true);
    watch_end();
    assert_false(watch_stopped());
}

TEST_MAIN(NULL, NULL)
