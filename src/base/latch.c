#include "barcode/latch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct latch {
    pthread_mutex_t lock;
    pthread_cond_t released;
    atomic_bool open;             /* set under the lock, after `good` */
    bool good;
};

struct latch *latch_new(struct err *e)
{
    struct latch *l = calloc(1, sizeof *l);
    if (!l) {
        err_memory(e, sizeof *l);
        return NULL;
    }
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->released, NULL);
    return l;
}

void latch_release(struct latch *l, bool good)
{
    pthread_mutex_lock(&l->lock);
    if (!atomic_load(&l->open))
        l->good = good;
    atomic_store(&l->open, true);
    pthread_cond_broadcast(&l->released);
    pthread_mutex_unlock(&l->lock);
}

bool latch_wait(struct latch *l)
{
    if (atomic_load(&l->open))
        return l->good;
    pthread_mutex_lock(&l->lock);
    while (!atomic_load(&l->open))
        pthread_cond_wait(&l->released, &l->lock);
    pthread_mutex_unlock(&l->lock);
    return l->good;
}

void latch_free(struct latch **l)
{
    if (!*l)
        return;
    pthread_cond_destroy(&(*l)->released);
    pthread_mutex_destroy(&(*l)->lock);
    free(*l);
    *l = NULL;
}
