#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "test.h"
#include "barcode/base/gate.h"
#include "barcode/base/interrupt.h"

static struct gate *opened(int cores)
{
    struct err e = ERR_INIT;
    struct gate *g = gate_open(cores, &e);
    assert_non_null(g);
    return g;
}

/* Without a gate nothing waits. */
static void alone(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    struct gate_turn t = {.gate = NULL};
    for (int i = 0; i < 2; i++)
        assert_true(gate_enter(&t, &e));
    gate_busy(&t, 5);
    gate_fed(&t);
    gate_fed(NULL);
    gate_busy(NULL, 1);
    struct gate *none = NULL;
    gate_free(&none);
}

/* One that waits on a thread of its own. */
struct waiter {
    struct gate_turn turn;
    pthread_t thread;
    struct err error;
    atomic_int through;          /* 0: it waits, else which it was to come through; -1: it failed */
    atomic_int *count;
};

static void *wait_main(void *argument)
{
    struct waiter *w = argument;
    bool fine = gate_enter(&w->turn, &w->error);
    atomic_store(&w->through, fine ? atomic_fetch_add(w->count, 1) + 1 : -1);
    return NULL;
}

static void start(struct waiter *w, struct gate *g, atomic_int *count)
{
    *w = (struct waiter){.turn = {.gate = g}, .error = ERR_INIT, .count = count};
    assert_int_equal(pthread_create(&w->thread, NULL, wait_main, w), 0);
    usleep(30000);               /* so that the next one's call is later */
}

static int comes_through(struct waiter *w)
{
    pthread_join(w->thread, NULL);
    return atomic_load(&w->through);
}

/* Nobody begins while one feeds, nor while all cores work; a second gate_fed of one film does not open for others. */
static void one_feeds(void **state)
{
    (void)state;
    struct gate *g = opened(2);
    struct gate_turn first = {.gate = g};
    struct err e = ERR_INIT;
    struct waiter second, third;
    atomic_int count = 0;
    assert_true(gate_enter(&first, &e));
    gate_busy(&first, 2);
    start(&second, g, &count);
    start(&third, g, &count);
    gate_fed(&first);
    usleep(30000);
    assert_int_equal(atomic_load(&count), 0);        /* both cores still work */
    gate_busy(&first, -1);
    assert_int_equal(comes_through(&second), 1);
    gate_fed(&first);
    gate_busy(&first, -1);
    usleep(30000);
    assert_int_equal(atomic_load(&count), 1);        /* the second one feeds */
    gate_fed(&second.turn);
    assert_int_equal(comes_through(&third), 2);
    gate_fed(&third.turn);
    gate_free(&g);
    assert_null(g);
}

/* In the order of their calls, however many wait. */
static void in_their_order(void **state)
{
    (void)state;
    enum { WAITERS = 5 };
    struct gate *g = opened(1);
    struct gate_turn first = {.gate = g};
    struct err e = ERR_INIT;
    struct waiter w[WAITERS];
    atomic_int count = 0;
    assert_true(gate_enter(&first, &e));
    for (int i = 0; i < WAITERS; i++)
        start(&w[i], g, &count);
    gate_fed(&first);
    for (int i = 0; i < WAITERS; i++) {
        assert_int_equal(comes_through(&w[i]), i + 1);
        gate_fed(&w[i].turn);
    }
    gate_free(&g);
}

/* Last: from here on the process is interrupted. */
static void interrupted_while_waiting(void **state)
{
    (void)state;
    struct gate *g = opened(1);
    struct gate_turn first = {.gate = g};
    struct err e = ERR_INIT;
    struct waiter w[2];
    atomic_int count = 0;
    assert_true(gate_enter(&first, &e));
    for (int i = 0; i < 2; i++)
        start(&w[i], g, &count);
    raise(SIGTERM);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(comes_through(&w[i]), -1);
        assert_int_equal(w[i].error.code, ERR_INTERRUPTED);
        assert_false(w[i].turn.feeds);
    }
    gate_fed(&first);
    gate_free(&g);
}

/* What nobody is at work with is to spare, unless another film waits for it. */
static void what_is_to_spare(void **state)
{
    (void)state;
    struct gate *g = opened(8);
    struct gate_turn first = {.gate = g}, none = {.gate = NULL};
    struct err e = ERR_INIT;
    struct waiter second;
    atomic_int count = 0;
    int cores = 5;
    assert_true(gate_spare(NULL, &cores));
    assert_true(gate_spare(&none, &cores));
    assert_int_equal(cores, 5);
    assert_true(gate_enter(&first, &e));
    gate_busy(&first, 3);
    assert_true(gate_spare(&first, &cores));
    assert_int_equal(cores, 5);
    gate_busy(&first, 7);
    assert_true(gate_spare(&first, &cores));
    assert_int_equal(cores, -2);
    start(&second, g, &count);
    assert_false(gate_spare(&first, &cores));
    assert_int_equal(cores, -2);
    gate_busy(&first, -10);
    gate_fed(&first);
    assert_int_equal(comes_through(&second), 1);
    assert_true(gate_spare(&first, &cores));
    assert_int_equal(cores, 8);
    gate_fed(&second.turn);
    gate_free(&g);
}

/* Cores on which nobody is at work. */
static void idle_cores(void **state)
{
    (void)state;
    struct gate *g = opened(4);
    struct gate_turn first = {.gate = g}, none = {.gate = NULL};
    struct err e = ERR_INIT;
    assert_int_equal(gate_idle(NULL), INT_MAX);
    assert_int_equal(gate_idle(&none), INT_MAX);
    assert_true(gate_enter(&first, &e));
    gate_busy(&first, 3);
    assert_int_equal(gate_idle(&first), 1);
    gate_busy(&first, 3);
    assert_int_equal(gate_idle(&first), 0);
    gate_busy(&first, -6);
    gate_fed(&first);
    gate_free(&g);
}

int main(void)
{
    interrupt_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone), cmocka_unit_test(what_is_to_spare), cmocka_unit_test(idle_cores), cmocka_unit_test(one_feeds), cmocka_unit_test(in_their_order), cmocka_unit_test(interrupted_while_waiting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
