#include "barcode/film_queue.h"

#include <pthread.h>
#include <stdlib.h>

struct film_queue {
    const struct inputs *in;
    struct err *failure;           /* [in->count], ERR_NONE: none, or not done yet    */
    pthread_mutex_t lock;          /* guards `failure` and what follows               */
    enum film_turn { WAITING, TAKEN, ALONE } *turn;      /* [in->count]               */
    size_t next;                   /* none before it is WAITING                       */
    size_t alone;                  /* how many are ALONE                              */
    bool interrupted;
    struct film_tally tally;
};

static void count_entry(struct film_tally *t, const struct inputs *in, size_t i)
{
    if (inputs_is_due(in, i)) {
        t->due++;
        t->bytes += in->file[i].bytes;
    } else if (in->duty[i] == INPUT_LEFT_OUT) {
        t->left_out++;
    } else if (in->duty[i] == INPUT_TO_DO) {
        t->problems++;
    }
}

struct film_queue *film_queue_open(const struct inputs *in, struct err *e)
{
    struct film_queue *q = calloc(1, sizeof *q);
    if (!q) {
        err_memory(e, sizeof *q);
        return NULL;
    }
    pthread_mutex_init(&q->lock, NULL);
    q->in = in;
    q->failure = calloc(in->count + 1, sizeof *q->failure);
    q->turn = calloc(in->count + 1, sizeof *q->turn);
    if (!q->failure || !q->turn) {
        film_queue_free(&q);
        err_memory(e, in->count * (sizeof *q->failure + sizeof *q->turn));
        return NULL;
    }
    for (size_t i = 0; i < in->count; i++)
        count_entry(&q->tally, in, i);
    return q;
}

bool film_queue_next(struct film_queue *q, size_t *film)
{
    pthread_mutex_lock(&q->lock);
    while (q->next < q->in->count && (q->turn[q->next] != WAITING || !inputs_is_due(q->in, q->next)))
        q->next++;
    bool there = q->next < q->in->count && !q->interrupted;
    if (there) {
        q->turn[q->next] = TAKEN;
        *film = q->next++;
    }
    pthread_mutex_unlock(&q->lock);
    return there;
}

bool film_queue_next_alone(struct film_queue *q, size_t *film)
{
    pthread_mutex_lock(&q->lock);
    bool there = q->alone > 0 && !q->interrupted;
    if (there) {
        size_t i = 0;
        while (q->turn[i] != ALONE)
            i++;
        q->turn[i] = TAKEN;
        q->alone--;
        *film = i;
    }
    pthread_mutex_unlock(&q->lock);
    return there;
}

void film_queue_take(struct film_queue *q, size_t film)
{
    pthread_mutex_lock(&q->lock);
    q->alone -= q->turn[film] == ALONE;
    q->turn[film] = TAKEN;
    pthread_mutex_unlock(&q->lock);
}

void film_queue_again(struct film_queue *q, size_t film)
{
    pthread_mutex_lock(&q->lock);
    q->alone += q->turn[film] != ALONE;
    q->turn[film] = ALONE;
    pthread_mutex_unlock(&q->lock);
}

void film_queue_done(struct film_queue *q, size_t film, const struct err *failure)
{
    bool interrupted = failure && failure->code == ERR_INTERRUPTED;
    pthread_mutex_lock(&q->lock);
    if (failure)
        q->failure[film] = *failure;
    q->interrupted |= interrupted;
    q->tally.done += !failure;
    q->tally.failed += failure && !interrupted;
    q->tally.bytes_ended += interrupted ? 0 : q->in->file[film].bytes;
    pthread_mutex_unlock(&q->lock);
}

struct film_tally film_queue_tally(struct film_queue *q)
{
    pthread_mutex_lock(&q->lock);
    struct film_tally tally = q->tally;
    pthread_mutex_unlock(&q->lock);
    return tally;
}

/* The first error among this run's entries; NULL: none. */
static const struct err *first_of(const struct inputs *in, const struct err *error)
{
    for (size_t i = 0; i < in->count; i++)
        if (in->duty[i] == INPUT_TO_DO && error[i].code != ERR_NONE)
            return &error[i];
    return NULL;
}

int film_queue_status(struct film_queue *q)
{
    pthread_mutex_lock(&q->lock);
    const struct err *problem = first_of(q->in, q->in->problem), *failure = first_of(q->in, q->failure);
    int status = q->interrupted ? ERR_INTERRUPTED : problem ? err_exit_status(problem) : failure ? err_exit_status(failure) : 0;
    pthread_mutex_unlock(&q->lock);
    return status;
}

void film_queue_free(struct film_queue **q)
{
    if (!*q)
        return;
    pthread_mutex_destroy(&(*q)->lock);
    free((*q)->failure);
    free((*q)->turn);
    free(*q);
    *q = NULL;
}
