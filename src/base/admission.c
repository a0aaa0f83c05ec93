#include "admission.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "barcode/base/clock.h"
#include "interrupt.h"
#include "watch.h"

struct admission {
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t changed;
    int cores, busy;
    bool held;      /* by the film that was admitted last */
    uint64_t calls; /* of admission_enter */
    uint64_t next;  /* the number of the call to admit next; `calls` if no film waits */
};

struct admission *admission_open(int cores, struct err *e)
{
    struct admission *a = err_calloc(1, sizeof *a, e);
    if (!a)
        return NULL;
    a->cores = cores;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    return a;
}

/* Waits for a change, but at most 0.1 s: a signal handler cannot wake a waiting thread. */
static void wait_a_moment(struct admission *a)
{
    struct timespec until = clock_deadline(100000000);
    pthread_cond_timedwait(&a->changed, &a->lock, &until);
}

bool admission_enter(struct admission_ticket *t, struct err *e)
{
    struct admission *a = t->admission;
    if (!a)
        return true;
    pthread_mutex_lock(&a->lock);
    const uint64_t number = a->calls++;
    watch_untimed(true);
    while (!interrupted() && (a->next != number || a->held || a->busy >= a->cores))
        wait_a_moment(a);
    watch_untimed(false);
    t->holds = !interrupted();
    if (t->holds)
        a->held = true;
    a->next++;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    if (!t->holds)
        return interrupt_error(e);
    return true;
}

void admission_release(struct admission_ticket *t)
{
    struct admission *a = t ? t->admission : NULL;
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    if (t->holds)
        a->held = false;
    t->holds = false;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

void admission_add_cores(struct admission_ticket *t, int cores)
{
    struct admission *a = t ? t->admission : NULL;
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->busy += cores;
    if (cores < 0)
        pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
}

bool admission_spare_cores(struct admission_ticket *t, int *cores)
{
    struct admission *a = t ? t->admission : NULL;
    if (!a)
        return true;
    pthread_mutex_lock(&a->lock);
    bool spare = a->calls == a->next;
    if (spare)
        *cores = a->cores - a->busy;
    pthread_mutex_unlock(&a->lock);
    return spare;
}

int admission_idle_cores(struct admission_ticket *t)
{
    struct admission *a = t ? t->admission : NULL;
    if (!a)
        return INT_MAX;
    pthread_mutex_lock(&a->lock);
    int idle = a->busy < a->cores ? a->cores - a->busy : 0;
    pthread_mutex_unlock(&a->lock);
    return idle;
}

void admission_free(struct admission **a)
{
    if (!*a)
        return;
    pthread_cond_destroy(&(*a)->changed);
    pthread_mutex_destroy(&(*a)->lock);
    free(*a);
    *a = NULL;
}
