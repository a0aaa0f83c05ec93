#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "test.h"
#include "base/admission.h"
#include "base/interrupt.h"

static struct admission *opened(int cores)
{
    struct err e = ERR_INIT;
    struct admission *g = admission_open(cores, &e);
    assert_non_null(g);
    return g;
}

/* Without a admission nothing waits. */
TEST(alone)
{
    struct err e = ERR_INIT;
    struct admission_ticket t = {.admission = NULL};
    for (int i = 0; i < 2; i++)
        assert_true(admission_enter(&t, &e));
    admission_add_cores(&t, 5);
    admission_release(&t);
    admission_release(NULL);
    admission_add_cores(NULL, 1);
    struct admission *none = NULL;
    admission_free(&none);
}

/* One that waits on a thread of its own. */
struct waiter {
    struct admission_ticket ticket;
    pthread_t thread;
    struct err error;
    atomic_int through; /* 0: it waits, else which it was to come through; -1: it failed */
    atomic_int *count;
};

static void *wait_main(void *argument)
{
    struct waiter *w = argument;
    bool ok = admission_enter(&w->ticket, &w->error);
    atomic_store(&w->through, ok ? atomic_fetch_add(w->count, 1) + 1 : -1);
    return NULL;
}

static void start(struct waiter *w, struct admission *g, atomic_int *count)
{
    *w = (struct waiter){.ticket = {.admission = g}, .error = ERR_INIT, .count = count};
    assert_int_equal(pthread_create(&w->thread, NULL, wait_main, w), 0);
    usleep(30000); /* so that the next one's call is later */
}

static int comes_through(struct waiter *w)
{
    pthread_join(w->thread, NULL);
    return atomic_load(&w->through);
}

/* Nobody begins while one holds, nor while all cores work; a second admission_release of one film
 * does not open for others. */
TEST(one_feeds)
{
    struct admission *g = opened(2);
    struct admission_ticket first = {.admission = g};
    struct err e = ERR_INIT;
    struct waiter second, third;
    atomic_int count = 0;
    assert_true(admission_enter(&first, &e));
    admission_add_cores(&first, 2);
    start(&second, g, &count);
    start(&third, g, &count);
    admission_release(&first);
    usleep(30000);
    assert_int_equal(atomic_load(&count), 0); /* both cores still work */
    admission_add_cores(&first, -1);
    assert_int_equal(comes_through(&second), 1);
    admission_release(&first);
    admission_add_cores(&first, -1);
    usleep(30000);
    assert_int_equal(atomic_load(&count), 1); /* the second one holds */
    admission_release(&second.ticket);
    assert_int_equal(comes_through(&third), 2);
    admission_release(&third.ticket);
    admission_free(&g);
    assert_null(g);
}

/* In the order of their calls, however many wait. */
TEST(in_their_order)
{
    enum { WAITERS = 5 };
    struct admission *g = opened(1);
    struct admission_ticket first = {.admission = g};
    struct err e = ERR_INIT;
    struct waiter w[WAITERS];
    atomic_int count = 0;
    assert_true(admission_enter(&first, &e));
    for (int i = 0; i < WAITERS; i++)
        start(&w[i], g, &count);
    admission_release(&first);
    for (int i = 0; i < WAITERS; i++) {
        assert_int_equal(comes_through(&w[i]), i + 1);
        admission_release(&w[i].ticket);
    }
    admission_free(&g);
}

/* What nobody is at work with is to spare, unless another film waits for it. */
TEST(what_is_to_spare)
{
    struct admission *g = opened(8);
    struct admission_ticket first = {.admission = g}, none = {.admission = NULL};
    struct err e = ERR_INIT;
    struct waiter second;
    atomic_int count = 0;
    int cores = 5;
    assert_true(admission_spare_cores(NULL, &cores));
    assert_true(admission_spare_cores(&none, &cores));
    assert_int_equal(cores, 5);
    assert_true(admission_enter(&first, &e));
    admission_add_cores(&first, 3);
    assert_true(admission_spare_cores(&first, &cores));
    assert_int_equal(cores, 5);
    admission_add_cores(&first, 7);
    assert_true(admission_spare_cores(&first, &cores));
    assert_int_equal(cores, -2);
    start(&second, g, &count);
    assert_false(admission_spare_cores(&first, &cores));
    assert_int_equal(cores, -2);
    admission_add_cores(&first, -10);
    admission_release(&first);
    assert_int_equal(comes_through(&second), 1);
    assert_true(admission_spare_cores(&first, &cores));
    assert_int_equal(cores, 8);
    admission_release(&second.ticket);
    admission_free(&g);
}

/* Cores on which nobody is at work. */
TEST(idle_cores)
{
    struct admission *g = opened(4);
    struct admission_ticket first = {.admission = g}, none = {.admission = NULL};
    struct err e = ERR_INIT;
    assert_int_equal(admission_idle_cores(NULL), INT_MAX);
    assert_int_equal(admission_idle_cores(&none), INT_MAX);
    assert_true(admission_enter(&first, &e));
    admission_add_cores(&first, 3);
    assert_int_equal(admission_idle_cores(&first), 1);
    admission_add_cores(&first, 3);
    assert_int_equal(admission_idle_cores(&first), 0);
    admission_add_cores(&first, -6);
    admission_release(&first);
    admission_free(&g);
}

/* Last: from here on the process is interrupted. */
TEST(interrupted_while_waiting)
{
    struct admission *g = opened(1);
    struct admission_ticket first = {.admission = g};
    struct err e = ERR_INIT;
    struct waiter w[2];
    atomic_int count = 0;
    assert_true(admission_enter(&first, &e));
    for (int i = 0; i < 2; i++)
        start(&w[i], g, &count);
    raise(SIGTERM);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(comes_through(&w[i]), -1);
        assert_int_equal(w[i].error.code, ERR_INTERRUPTED);
        assert_false(w[i].ticket.holds);
    }
    admission_release(&first);
    admission_free(&g);
}

FIXTURE(begin)
{
    interrupt_install();
    return 0;
}

TEST_FIXTURE(begin, NULL)
