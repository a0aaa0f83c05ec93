#include "barcode/base/queue.h"

#include <pthread.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    void (*drop)(void *item);
    size_t capacity, head, count;
    bool closed, aborted;
    void *item[];
};

struct queue *queue_open(size_t capacity, void (*drop)(void *item), struct err *e)
{
    size_t bytes = sizeof(struct queue) + capacity * sizeof(void *);
    struct queue *q = err_calloc(1, bytes, e);
    if (!q)
        return NULL;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->not_empty, NULL);
    pthread_cond_init(&q->not_full, NULL);
    q->drop = drop;
    q->capacity = capacity;
    return q;
}

bool queue_push(struct queue *q, void *item)
{
    pthread_mutex_lock(&q->lock);
    while (!q->closed && q->count == q->capacity)
        pthread_cond_wait(&q->not_full, &q->lock);
    bool taken = !q->closed;
    if (taken) {
        q->item[(q->head + q->count++) % q->capacity] = item;
        pthread_cond_signal(&q->not_empty);
    }
    pthread_mutex_unlock(&q->lock);
    return taken;
}

/* The caller holds the lock. */
static bool pop_locked(struct queue *q, void **item)
{
    if (q->count == 0)
        return false;
    *item = q->item[q->head];
    q->head = (q->head + 1) % q->capacity;
    q->count--;
    pthread_cond_signal(&q->not_full);
    return true;
}

bool queue_pop(struct queue *q, void **item)
{
    *item = NULL;
    pthread_mutex_lock(&q->lock);
    while (!q->closed && q->count == 0)
        pthread_cond_wait(&q->not_empty, &q->lock);
    bool got = !q->aborted && pop_locked(q, item);
    pthread_mutex_unlock(&q->lock);
    return got;
}

bool queue_is_over(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    bool over = q->closed && q->count == 0;
    pthread_mutex_unlock(&q->lock);
    return over;
}

bool queue_try_pop(struct queue *q, void **item)
{
    *item = NULL;
    pthread_mutex_lock(&q->lock);
    bool got = !q->aborted && q->count > 0 && pop_locked(q, item);
    pthread_mutex_unlock(&q->lock);
    return got;
}

static void close_locked(struct queue *q)
{
    q->closed = true;
    pthread_cond_broadcast(&q->not_empty);
    pthread_cond_broadcast(&q->not_full);
}

void queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    close_locked(q);
    pthread_mutex_unlock(&q->lock);
}

void queue_abort(struct queue *q)
{
    void *item;
    pthread_mutex_lock(&q->lock);
    close_locked(q);
    q->aborted = true;
    while (pop_locked(q, &item)) {
        /* Without the lock: `drop` may need one whose holder waits for this queue. */
        pthread_mutex_unlock(&q->lock);
        if (q->drop)
            q->drop(item);
        pthread_mutex_lock(&q->lock);
    }
    pthread_mutex_unlock(&q->lock);
}

void queue_free(struct queue **q)
{
    if (!*q)
        return;
    queue_abort(*q);
    pthread_cond_destroy(&(*q)->not_full);
    pthread_cond_destroy(&(*q)->not_empty);
    pthread_mutex_destroy(&(*q)->lock);
    free(*q);
    *q = NULL;
}
