#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "test.h"
#include "barcode/base/queue.h"

enum { THREADS = 4, EACH = 2000 };

static char mark[16]; /* its addresses are the items */
static atomic_int dropped;

static void count_drop(void *item)
{
    (void)item;
    atomic_fetch_add(&dropped, 1);
}

static struct queue *open_queue(size_t capacity)
{
    atomic_store(&dropped, 0);
    struct queue *q = queue_open(capacity, count_drop, NULL);
    assert_non_null(q);
    return q;
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL); }

TEST(first_in_first_out)
{
    struct queue *q = open_queue(3);
    void *item;
    for (int round = 0; round < 5; round++) { /* over the ring's end */
        assert_true(queue_push(q, &mark[0]));
        assert_true(queue_push(q, &mark[1]));
        assert_true(queue_pop(q, &item));
        assert_ptr_equal(item, &mark[0]);
        assert_true(queue_pop(q, &item));
        assert_ptr_equal(item, &mark[1]);
    }
    queue_free(&q);
    assert_null(q);
    queue_free(&q);
    assert_int_equal(atomic_load(&dropped), 0);
}

TEST(what_is_there)
{
    struct queue *q = open_queue(2);
    void *item = mark;
    assert_false(queue_try_pop(q, &item));
    assert_null(item);
    assert_true(queue_push(q, &mark[0]) && queue_push(q, &mark[1]));
    assert_true(queue_try_pop(q, &item));
    assert_ptr_equal(item, &mark[0]);
    queue_close(q);
    assert_true(queue_try_pop(q, &item));
    assert_ptr_equal(item, &mark[1]);
    assert_false(queue_try_pop(q, &item));
    queue_free(&q);
}

TEST(close_lets_the_rest_out)
{
    struct queue *q = open_queue(3);
    void *item;
    assert_false(queue_is_over(q));
    queue_push(q, &mark[0]);
    queue_push(q, &mark[1]);
    queue_close(q);
    queue_close(q);
    assert_false(queue_push(q, &mark[2]));
    assert_true(queue_pop(q, &item));
    assert_ptr_equal(item, &mark[0]);
    assert_false(queue_is_over(q));
    assert_true(queue_pop(q, &item));
    assert_true(queue_is_over(q));
    assert_false(queue_pop(q, &item));
    assert_null(item);
    queue_free(&q);
    assert_int_equal(atomic_load(&dropped), 0);
}

TEST(abort_drops_the_rest)
{
    struct queue *q = open_queue(3);
    void *item = mark;
    queue_push(q, &mark[0]);
    queue_push(q, &mark[1]);
    queue_abort(q);
    queue_abort(q);
    assert_int_equal(atomic_load(&dropped), 2);
    assert_false(queue_push(q, &mark[2]));
    assert_false(queue_pop(q, &item));
    assert_null(item);
    queue_free(&q);
    assert_int_equal(atomic_load(&dropped), 2);
}

TEST(free_drops_what_is_inside)
{
    struct queue *q = open_queue(3);
    queue_push(q, &mark[0]);
    queue_close(q);
    queue_free(&q);
    assert_int_equal(atomic_load(&dropped), 1);
    q = queue_open(1, NULL, NULL); /* nobody to drop to */
    queue_push(q, &mark[0]);
    queue_free(&q);
}

static struct queue *other;

/* Takes the lock again: would hang for good if drop ran under it. */
static void drop_into_other(void *item)
{
    (void)item;
    void *back;
    assert_false(queue_pop(other, &back));
}

TEST(drop_may_use_the_queue)
{
    other = queue_open(2, drop_into_other, NULL);
    queue_push(other, &mark[0]);
    queue_abort(other);
    queue_free(&other);
}

struct shared {
    struct queue *q;
    atomic_ulong sum, count;
};

static void *produce(void *data)
{
    struct shared *s = data;
    for (uintptr_t i = 1; i <= EACH; i++) {
        uintptr_t *item = malloc(sizeof *item);
        if (!item)
            abort();
        *item = i; /* written here, read by the consumer: TSan checks the hand-over */
        if (!queue_push(s->q, item)) {
            free(item);
            break;
        }
    }
    return NULL;
}

static void *consume(void *data)
{
    struct shared *s = data;
    void *item;
    while (queue_pop(s->q, &item)) {
        atomic_fetch_add(&s->sum, *(uintptr_t *)item);
        atomic_fetch_add(&s->count, 1);
        free(item);
    }
    return NULL;
}

struct traffic {
    struct shared s;
    pthread_t maker[THREADS], eater[THREADS];
};

static void start_traffic(struct traffic *t, size_t capacity)
{
    *t = (struct traffic){.s.q = queue_open(capacity, free, NULL)};
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&t->maker[i], NULL, produce, &t->s), 0);
        assert_int_equal(pthread_create(&t->eater[i], NULL, consume, &t->s), 0);
    }
}

static void join(const pthread_t thread[THREADS])
{
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

TEST(many_producers_and_consumers)
{
    for (size_t capacity = 1; capacity <= 7; capacity += 3) {
        struct traffic t;
        start_traffic(&t, capacity);
        join(t.maker);
        queue_close(t.s.q);
        join(t.eater);
        assert_int_equal(atomic_load(&t.s.count), THREADS * EACH);
        assert_int_equal(atomic_load(&t.s.sum), (unsigned long)THREADS * EACH * (EACH + 1) / 2);
        queue_free(&t.s.q);
    }
}

/* Under ASan this also shows that no item is lost or freed twice. */
TEST(abort_amid_the_traffic)
{
    for (int round = 0; round < 20; round++) {
        struct traffic t;
        start_traffic(&t, 2);
        nanosleep(&(struct timespec){.tv_nsec = 100000 * round}, NULL);
        queue_abort(t.s.q);
        join(t.maker);
        join(t.eater);
        queue_free(&t.s.q);
    }
}

static void *push_one(void *q) { return queue_push(q, &mark[5]) ? q : NULL; }

static void *pop_one(void *q)
{
    void *item;
    return queue_pop(q, &item) ? item : NULL;
}

TEST(every_waiter_is_woken)
{
    for (int aborted = 0; aborted < 2; aborted++) {
        struct queue *empty = open_queue(1), *full = open_queue(1);
        pthread_t popper[2], pusher[2];
        queue_push(full, &mark[0]);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(pthread_create(&popper[i], NULL, pop_one, empty), 0);
            assert_int_equal(pthread_create(&pusher[i], NULL, push_one, full), 0);
        }
        nap();
        (aborted ? queue_abort : queue_close)(empty);
        (aborted ? queue_abort : queue_close)(full);
        for (int i = 0; i < 2; i++) {
            void *got;
            pthread_join(popper[i], &got);
            assert_null(got);
            pthread_join(pusher[i], &got);
            assert_null(got);
        }
        queue_free(&empty);
        queue_free(&full);
        assert_int_equal(atomic_load(&dropped), 1);
    }
}

TEST(room_wakes_a_pusher)
{
    struct queue *q = open_queue(1);
    pthread_t pusher;
    void *item, *got;
    queue_push(q, &mark[0]);
    assert_int_equal(pthread_create(&pusher, NULL, push_one, q), 0);
    nap();
    assert_true(queue_pop(q, &item));
    assert_ptr_equal(item, &mark[0]);
    assert_true(queue_pop(q, &item));
    assert_ptr_equal(item, &mark[5]);
    pthread_join(pusher, &got);
    assert_ptr_equal(got, q);
    queue_free(&q);
}
