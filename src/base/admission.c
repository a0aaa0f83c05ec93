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
    struct admission *g = err_calloc(1, sizeof *g, e);
    if (!g)
        return NULL;
    g->cores = cores;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    return g;
}

/* Waits for a change, but at most 0.1 s: a signal handler cannot wake a waiting thread. */
static void wait_a_moment(struct admission *g)
{
    struct timespec until = clock_deadline(100000000);
    pthread_cond_timedwait(&g->changed, &g->lock, &until);
}

bool admission_enter(struct admission_ticket *t, struct err *e)
{
    struct admission *g = t->admission;
    if (!g)
        return true;
    pthread_mutex_lock(&g->lock);
    const uint64_t number = g->calls++;
    watch_untimed(true);
    while (!interrupted() && (g->next != number || g->held || g->busy >= g->cores))
        wait_a_moment(g);
    watch_untimed(false);
    t->holds = !interrupted();
    if (t->holds)
        g->held = true;
    g->next++;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
    if (!t->holds)
        return interrupt_error(e);
    return true;
}

void admission_release(struct admission_ticket *t)
{
    struct admission *g = t ? t->admission : NULL;
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    if (t->holds)
        g->held = false;
    t->holds = false;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

void admission_add_cores(struct admission_ticket *t, int cores)
{
    struct admission *g = t ? t->admission : NULL;
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    g->busy += cores;
    if (cores < 0)
        pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

bool admission_spare_cores(struct admission_ticket *t, int *cores)
{
    struct admission *g = t ? t->admission : NULL;
    if (!g)
        return true;
    pthread_mutex_lock(&g->lock);
    bool spare = g->calls == g->next;
    if (spare)
        *cores = g->cores - g->busy;
    pthread_mutex_unlock(&g->lock);
    return spare;
}

int admission_idle_cores(struct admission_ticket *t)
{
    struct admission *g = t ? t->admission : NULL;
    if (!g)
        return INT_MAX;
    pthread_mutex_lock(&g->lock);
    int idle = g->busy < g->cores ? g->cores - g->busy : 0;
    pthread_mutex_unlock(&g->lock);
    return idle;
}

void admission_free(struct admission **g)
{
    if (!*g)
        return;
    pthread_cond_destroy(&(*g)->changed);
    pthread_mutex_destroy(&(*g)->lock);
    free(*g);
    *g = NULL;
}
