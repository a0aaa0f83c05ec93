#include "barcode/base/gate.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "barcode/base/clock.h"
#include "barcode/base/interrupt.h"

struct gate {
    pthread_mutex_t lock;          /* guards what follows                */
    pthread_cond_t changed;
    int cores, busy;
    bool feeding;
    uint64_t calls, turn;          /* of gate_enter; the one that is next */
};

struct gate *gate_open(int cores, struct err *e)
{
    struct gate *g = calloc(1, sizeof *g);
    if (!g) {
        err_memory(e, sizeof *g);
        return NULL;
    }
    g->cores = cores;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    return g;
}

/* Somebody asks whether the user interrupted: a signal's handler cannot wake who waits here. */
static void wait_a_moment(struct gate *g)
{
    struct timespec until = clock_deadline(100000000);
    pthread_cond_timedwait(&g->changed, &g->lock, &until);
}

bool gate_enter(struct gate_turn *t, struct err *e)
{
    struct gate *g = t->gate;
    if (!g)
        return true;
    pthread_mutex_lock(&g->lock);
    uint64_t mine = g->calls++;
    while (!interrupted() && (g->turn != mine || g->feeding || g->busy >= g->cores))
        wait_a_moment(g);
    bool fine = !interrupted();
    g->feeding |= fine;
    t->feeds = fine;
    g->turn++;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
    return fine || interrupt_error(e);
}

void gate_fed(struct gate_turn *t)
{
    struct gate *g = t ? t->gate : NULL;
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    if (t->feeds)
        g->feeding = false;
    t->feeds = false;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

void gate_busy(struct gate_turn *t, int cores)
{
    struct gate *g = t ? t->gate : NULL;
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    g->busy += cores;
    if (cores < 0)
        pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

bool gate_spare(struct gate_turn *t, int *cores)
{
    struct gate *g = t ? t->gate : NULL;
    if (!g)
        return true;
    pthread_mutex_lock(&g->lock);
    bool spare = g->calls == g->turn;
    if (spare)
        *cores = g->cores - g->busy;
    pthread_mutex_unlock(&g->lock);
    return spare;
}

int gate_idle(struct gate_turn *t)
{
    struct gate *g = t ? t->gate : NULL;
    if (!g)
        return INT_MAX;
    pthread_mutex_lock(&g->lock);
    int idle = g->busy < g->cores ? g->cores - g->busy : 0;
    pthread_mutex_unlock(&g->lock);
    return idle;
}

void gate_free(struct gate **g)
{
    if (!*g)
        return;
    pthread_cond_destroy(&(*g)->changed);
    pthread_mutex_destroy(&(*g)->lock);
    free(*g);
    *g = NULL;
}
