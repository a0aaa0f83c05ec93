#include "film_queue.h"

#include "barcode/base/shared.h"

/* The state of a film. */
struct entry {
    enum { WAITING, TAKEN, ALONE, ENDED } turn;
    int worker;         /* the worker process that took it */
    enum err_code code; /* ERR_NONE: not failed */
    uint64_t order;     /* number of films taken before it */
    uint64_t frames;    /* so far */
    double share;       /* finished share while it is in progress, 0..1 */
};

/* In memory shared with the worker processes. */
struct film_queue {
    const struct inputs *in;
    pthread_mutex_t lock; /* guards what follows */
    size_t next;          /* no film before it is WAITING */
    uint64_t taken;
    bool interrupted;
    struct film_tally tally; /* without the films in progress */
    struct entry film[];     /* [in->count] */
};

static size_t size_of(const struct inputs *in)
{
    return sizeof(struct film_queue) + in->count * sizeof(struct entry);
}

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
    struct film_queue *q = shared_alloc(size_of(in), e);
    if (!q)
        return NULL;
    shared_lock_init(&q->lock);
    q->in = in;
    for (size_t i = 0; i < in->count; i++)
        count_entry(&q->tally, in, i);
    return q;
}

/* Marks the film as taken. The caller holds the lock. */
static void assign_film(struct film_queue *q, int worker, size_t film)
{
    q->film[film].worker = worker;
    q->film[film].order = q->taken++;
    q->film[film].turn = TAKEN;
}

bool film_queue_next(struct film_queue *q, int worker, size_t *film)
{
    shared_lock(&q->lock);
    while (q->next < q->in->count &&
           (q->film[q->next].turn != WAITING || !inputs_is_due(q->in, q->next)))
        q->next++;
    bool there = q->next < q->in->count && !q->interrupted;
    if (there) {
        *film = q->next;
        assign_film(q, worker, *film);
    }
    pthread_mutex_unlock(&q->lock);
    return there;
}

bool film_queue_next_alone(struct film_queue *q, int worker, size_t *film)
{
    size_t i = 0;
    shared_lock(&q->lock);
    while (i < q->in->count && q->film[i].turn != ALONE)
        i++;
    bool there = i < q->in->count && !q->interrupted;
    if (there) {
        *film = i;
        assign_film(q, worker, i);
    }
    pthread_mutex_unlock(&q->lock);
    return there;
}

void film_queue_again(struct film_queue *q, size_t film)
{
    shared_lock(&q->lock);
    q->film[film] = (struct entry){.turn = ALONE};
    pthread_mutex_unlock(&q->lock);
}

void film_queue_tick(struct film_queue *q, size_t film, double share, uint64_t frames)
{
    if (!q)
        return;
    shared_lock(&q->lock);
    q->film[film].share = share > 0 ? share : 0;
    q->film[film].frames = frames;
    pthread_mutex_unlock(&q->lock);
}

void film_queue_done(struct film_queue *q, size_t film, const struct err *failure)
{
    enum err_code code = failure ? failure->code : ERR_NONE;
    bool interrupted = code == ERR_INTERRUPTED;
    shared_lock(&q->lock);
    q->film[film].code = code;
    q->film[film].turn = ENDED;
    q->interrupted |= interrupted;
    q->tally.done += code == ERR_NONE;
    q->tally.failed += code != ERR_NONE && !interrupted;
    q->tally.bytes_ended += interrupted ? 0 : q->in->file[film].bytes;
    pthread_mutex_unlock(&q->lock);
}

void film_queue_under_way(struct film_queue *q, int worker, struct film_list *films)
{
    films->count = 0;
    shared_lock(&q->lock);
    for (size_t i = 0; i < q->in->count && films->count < FILM_LIST_MOST; i++)
        if (q->film[i].turn == TAKEN && q->film[i].worker == worker)
            films->film[films->count++] = i;
    pthread_mutex_unlock(&q->lock);
}

struct film_tally film_queue_tally(struct film_queue *q)
{
    shared_lock(&q->lock);
    struct film_tally t = q->tally;
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < q->in->count; i++) {
        const struct entry *f = &q->film[i];
        t.frames += f->frames;
        if (f->turn != TAKEN)
            continue;
        t.films_now += f->share;
        t.bytes_now += f->share * (double)q->in->file[i].bytes;
        t.under_way++;
        if (f->order < first) {
            first = f->order;
            t.longest = i;
        }
    }
    pthread_mutex_unlock(&q->lock);
    return t;
}

int film_queue_status(struct film_queue *q)
{
    struct err problem = ERR_INIT, failure = ERR_INIT;
    shared_lock(&q->lock);
    for (size_t i = 0; i < q->in->count; i++) {
        if (q->in->duty[i] != INPUT_TO_DO)
            continue;
        if (problem.code == ERR_NONE)
            problem.code = q->in->problem[i].code;
        if (failure.code == ERR_NONE)
            failure.code = q->film[i].code;
    }
    bool interrupted = q->interrupted;
    pthread_mutex_unlock(&q->lock);
    return interrupted ? ERR_INTERRUPTED
                       : err_exit_status(problem.code != ERR_NONE ? &problem : &failure);
}

void film_queue_free(struct film_queue **q)
{
    if (*q)
        shared_free(*q, size_of((*q)->in));
    *q = NULL;
}
