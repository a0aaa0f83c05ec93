#include "film_queue.h"

#include <stdlib.h>

/* The state of a film. */
struct entry {
    enum { WAITING, TAKEN, ALONE, ENDED } state;
    enum err_code code; /* ERR_NONE: not failed */
    uint64_t order;     /* number of films taken before it */
    struct watch_progress progress;
};

struct film_queue {
    const struct inputs *in;
    size_t next; /* no film before it is WAITING */
    uint64_t taken;
    enum err_code stopped;   /* ERR_NONE; no film is taken after ERR_INTERRUPTED and ERR_PIPE */
    struct film_tally tally; /* without the films in progress */
    struct entry film[];     /* [in->count] */
};

static void count_entry(struct film_tally *t, const struct inputs *in, size_t i)
{
    if (inputs_is_due(in, i)) {
        t->due++;
        t->bytes += in->file[i].bytes;
    } else if (in->duty[i] == INPUT_LEFT_OUT) {
        t->left_out++;
    } else if (in->duty[i] == INPUT_FAILED) {
        t->failed_before++;
    } else if (in->duty[i] == INPUT_TO_DO) {
        t->problems++;
    }
}

struct film_queue *film_queue_open(const struct inputs *in, struct err *e)
{
    struct film_queue *q = err_calloc(1, sizeof *q + in->count * sizeof *q->film, e);
    if (!q)
        return NULL;
    q->in = in;
    for (size_t i = 0; i < in->count; i++)
        count_entry(&q->tally, in, i);
    return q;
}

bool film_queue_next(struct film_queue *q, bool alone, size_t *film)
{
    size_t i = alone ? 0 : q->next;
    while (i < q->in->count &&
           (q->film[i].state != (alone ? ALONE : WAITING) || !inputs_is_due(q->in, i)))
        i++;
    if (!alone)
        q->next = i;
    if (i == q->in->count || q->stopped != ERR_NONE)
        return false;
    *film = i;
    q->film[i].order = q->taken++;
    q->film[i].state = TAKEN;
    return true;
}

void film_queue_again(struct film_queue *q, size_t film)
{
    q->film[film] = (struct entry){.state = ALONE};
}

void film_queue_tick(struct film_queue *q, size_t film, const struct watch_progress *p)
{
    q->film[film].progress = *p;
}

void film_queue_done(struct film_queue *q, size_t film, const struct err *failure)
{
    enum err_code code = failure ? failure->code : ERR_NONE;
    bool stops = code == ERR_INTERRUPTED || code == ERR_PIPE;
    q->film[film].code = code;
    q->film[film].state = ENDED;
    if (stops && q->stopped != ERR_PIPE)
        q->stopped = code;
    q->tally.longest = film;
    q->tally.now = q->film[film].progress;
    q->tally.done += code == ERR_NONE;
    q->tally.failed += code != ERR_NONE && !stops;
    q->tally.bytes_ended += stops ? 0 : q->in->file[film].bytes;
}

struct film_tally film_queue_tally(struct film_queue *q)
{
    struct film_tally t = q->tally;
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < q->in->count; i++) {
        const struct entry *f = &q->film[i];
        t.frames += f->progress.frames;
        if (f->state != TAKEN)
            continue;
        double share = f->progress.share > 0 ? f->progress.share : 0;
        t.films_now += share;
        t.bytes_now += share * (double)q->in->file[i].bytes;
        t.under_way++;
        if (f->order < first) {
            first = f->order;
            t.longest = i;
            t.now = f->progress;
        }
    }
    return t;
}

int film_queue_status(struct film_queue *q)
{
    struct err problem = ERR_INIT, failure = ERR_INIT;
    for (size_t i = 0; i < q->in->count; i++) {
        if (q->in->duty[i] != INPUT_TO_DO)
            continue;
        if (problem.code == ERR_NONE)
            problem.code = q->in->problem[i].code;
        if (failure.code == ERR_NONE)
            failure.code = q->film[i].code;
    }
    if (q->stopped != ERR_NONE)
        return (int)q->stopped;
    return err_exit_status(problem.code != ERR_NONE ? &problem : &failure);
}

bool film_queue_is_abandoned(const struct film_queue *q) { return q->stopped == ERR_PIPE; }

void film_queue_free(struct film_queue **q)
{
    free(*q);
    *q = NULL;
}
