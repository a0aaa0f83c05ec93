#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "base/interrupt.h"
#include "base/watch.h"

static struct watch *watches;

FIXTURE(open_watches)
{
    struct err e = ERR_INIT;
    watches = watch_open(&e);
    return watches ? 0 : -1;
}

FIXTURE(close_watches)
{
    watch_begin(NULL, 0);
    watch_free(watches);
    return 0;
}

/* What another process writes is read here, and clamped. */
TEST_WITH(numbers_of_another_process, open_watches, close_watches)
{
    static const struct watch_progress table[][2] = {
        {{0.25, 1, 2, 3}, {0.25, 1, 2, 3}},
        {{-1, 0, 0, 0}, {-1, 0, 0, 0}},
        {{7, UINT64_MAX, UINT64_MAX, (uint64_t)1 << 41},
         {1, (uint64_t)1 << 40, (uint64_t)1 << 40, (uint64_t)1 << 40}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        pid_t child = fork();
        if (child == 0) {
            watch_begin(watch_at(watches, 1), 9);
            watch_untimed(true);
            watch_set_progress(&table[i][0]);
            _exit(0);
        }
        assert_int_equal(waitpid(child, NULL, 0), child);
        struct watch_state now = watch_check(watch_at(watches, 1));
        assert_true(now.moved && now.untimed);
        assert_memory_equal(&now.progress, &table[i][1], sizeof now.progress);
        now = watch_check(watch_at(watches, 1));
        assert_true(!now.moved && now.untimed);
    }
    assert_false(watch_check(watch_at(watches, 0)).moved);
}

/* Any bytes are numbers in their ranges. */
TEST_WITH(garbage, open_watches, close_watches)
{
    for (int byte = 0; byte < 256; byte++) {
        memset(watches, byte, WATCHES * 64);
        for (int i = 0; i < WATCHES; i++) {
            const struct watch_state now = watch_check(watch_at(watches, i));
            const struct watch_progress p = now.progress;
            assert_int_equal(now.moved, byte != 0);
            assert_true(p.share == -1 || (p.share >= 0 && p.share <= 1));
            assert_true((p.frames | p.columns | p.columns_total) <= (uint64_t)1 << 40);
        }
    }
}

/* The next film of the watch is not the one that was asked to end. */
TEST_WITH(only_that_film, open_watches, close_watches)
{
    struct err e = ERR_INIT;
    watch_begin(watches, 7);
    watch_stop(watches, 6);
    assert_false(watch_stopped() || interrupted() || watch_error(&e));
    watch_stop(watches, 7);
    assert_true(watch_stopped() && interrupt_pending());
    watch_end();
    assert_false(watch_stopped());
    watch_begin(watches, 8);
    assert_false(watch_stopped());
    watch_stop(watches, 8);
    assert_true(watch_error(&e));
    assert_int_equal(e.code, ERR_FAILED);
    assert_false(watch_stopped() || watch_error(&e));
}

static void *mark(void *argument)
{
    watch_moved();
    watch_untimed(true);
    return watch_stopped() ? argument : NULL;
}

/* Threads have the watch of the thread that started them. */
TEST_WITH(threads, open_watches, close_watches)
{
    pthread_t thread;
    void *stopped;
    watch_begin(watch_at(watches, 2), 1);
    watch_stop(watch_at(watches, 2), 1);
    (void)watch_check(watch_at(watches, 2));
    assert_int_equal(watch_thread(&thread, mark, watches), 0);
    pthread_join(thread, &stopped);
    assert_ptr_equal(stopped, watches);
    struct watch_state now = watch_check(watch_at(watches, 2));
    assert_true(now.moved && now.untimed);
    watch_untimed(false);
    assert_false(watch_check(watch_at(watches, 2)).untimed);
}

/* Without a watch nothing happens. */
TEST(nothing_watched)
{
    struct err e = ERR_INIT;
    assert_null(watch_at(NULL, 3));
    watch_begin(NULL, 1);
    watch_moved();
    watch_untimed(true);
    watch_set_progress(&(struct watch_progress){.frames = 1});
    assert_false(watch_stopped() || watch_error(&e));
    watch_end();
    watch_free(NULL);
}
