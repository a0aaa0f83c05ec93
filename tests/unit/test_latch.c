/*
 * test_latch.c - those who wait go on when it has happened, and see what was written before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "barcode/latch.h"

static struct latch *latch;
static int written;
static atomic_int passed;

static void *waiter(void *seen)
{
    *(int *)seen = latch_wait(latch) ? written : -written;
    atomic_fetch_add(&passed, 1);
    return NULL;
}

static void wait_for(bool good)
{
    enum { WAITERS = 4 };
    struct err e = ERR_INIT;
    pthread_t thread[WAITERS];
    int seen[WAITERS] = {0};
    atomic_store(&passed, 0);
    written = 0;
    latch = latch_new(&e);
    assert_non_null(latch);
    for (int i = 0; i < WAITERS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, waiter, &seen[i]), 0);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    assert_int_equal(atomic_load(&passed), 0);
    written = 7;
    latch_release(latch, good);
    latch_release(latch, !good);
    for (int i = 0; i < WAITERS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(seen[i], good ? 7 : -7);
    }
    assert_int_equal(latch_wait(latch), good);
    latch_free(&latch);
    assert_null(latch);
    latch_free(&latch);
}

static void they_wait(void **state)
{
    (void)state;
    wait_for(true);
    wait_for(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(they_wait)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
