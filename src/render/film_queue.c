#include "barcode/film_queue.h"

#include <pthread.h>
#include <stdlib.h>

struct film_queue {
    const struct inputs *in;
    struct err *failure;           /* [in->count], ERR_NONE: none, or not done yet    */
    pthread_mutex_t lock;          /* guards `failure` and what follows               */
    size_t next;
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
    if (q)
        q->failure = calloc(in->count + 1, sizeof *q->failure);
    if (!q || !q->failure) {
        free(q);
        err_memory(e, sizeof *q + in->count * sizeof *q->failure);
        return NULL;
    }
    pthread_mutex_init(&q->lock, NULL);
    q->in = in;
    for (size_t i = 0; i < in->count; i++)
        count_entry(&q->tally, in, i);
    return q;
}

bool film_queue_next(struct film_queue *q, size_t *film)
{
    pthread_mutex_lock(&q->lock);
    while (q->next < q->in->count && !inputs_is_due(q->in, q->next))
        q->next++;
    bool there = q->next < q->in->count && !q->interrupted;
    if (there)
        *film = q->next++;
    pthread_mutex_unlock(&q->lock);
    return there;
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
    free(*q);
    *q = NULL;
}
