#include "film_watch.h"

#include <stdio.h>
#include <stdlib.h>

#include "barcode/base/clock.h"
#include "base/interrupt.h"

/* How long nothing may move, and how long once a film or the worker was asked to end. */
enum { SILENCE_S = 300, GRACE_S = 4 };

static double least(double a, double b) { return a < b ? a : b; }

struct film_watch film_watch_open(int64_t film_us)
{
    const char *silence = getenv("BARCODE_SILENCE");
    struct film_watch w = {.silence_s = silence ? strtod(silence, NULL) : SILENCE_S,
                           .film_s = (double)film_us / 1e6,
                           .period_s = 1,
                           .last_ns = clock_ns()};
    /* Limits of a few seconds are met within a tenth of them. */
    if (w.silence_s > 0)
        w.period_s = least(w.period_s, w.silence_s / 10);
    if (w.film_s > 0)
        w.period_s = least(w.period_s, w.film_s / 10);
    return w;
}

static double grace(const struct film_watch *w)
{
    return w->silence_s > 0 ? least(w->silence_s, GRACE_S) : GRACE_S;
}

static void ask_to_end(const struct film_watch *w, struct watch *watch, struct slot *s,
                       bool too_long)
{
    double limit = too_long ? w->film_s : w->silence_s;
    bool minutes = limit >= 120 && limit == (int)(limit / 60) * 60.0;
    snprintf(s->reason, sizeof s->reason,
             too_long ? "stopped after %g %s (--film-timeout)"
                      : "nothing was read, decoded or written for %g %s",
             minutes ? limit / 60 : limit, minutes ? "minutes" : "s");
    watch_stop(watch, s->serial);
}

/*
 * Counts `seconds` for a film, and asks it to end if that is too much. The worker may report that
 * the film waits for others, if there are `others`, or for the readers of its outputs, but not for
 * ever.
 */
static void count_film(const struct film_watch *w, struct watch *watch,
                       const struct watch_state *now, struct slot *s, bool others, double seconds)
{
    const bool untimed = now->untimed && (others || s->untimed_s < 10 * w->film_s);
    s->silent_s = now->moved ? 0 : s->silent_s + seconds;
    s->total_s += untimed ? 0 : seconds;
    s->untimed_s += untimed ? seconds : 0;
    if (s->reason[0]) /* what still moves gets twice the time */
        s->ending_s += now->moved ? seconds / 2 : seconds;
    bool silent = w->silence_s > 0 && s->silent_s >= w->silence_s;
    bool too_long = w->film_s > 0 && !untimed && s->total_s >= w->film_s;
    if (!s->reason[0] && (silent || too_long))
        ask_to_end(w, watch, s, too_long);
}

static void check_process(const struct film_watch *w, struct film_process *p, struct batch *b,
                          double seconds)
{
    const bool others = film_process_busy(p) > 1;
    bool moved = false, hangs = false;
    for (int i = 0; i < WATCHES; i++) {
        struct slot *s = &p->slot[i];
        if (!s->busy)
            continue;
        struct watch_state now = watch_check(watch_at(p->worker.watch, i));
        moved |= now.moved;
        count_film(w, watch_at(p->worker.watch, i), &now, s, others, seconds);
        film_queue_tick(b->queue, s->film, &now.progress);
        hangs |= s->reason[0] && s->ending_s >= grace(w);
    }
    p->silent_s = moved ? 0 : p->silent_s + seconds;
    if (interrupt_pending()) /* what still moves gets twice the time */
        p->ending_s += moved ? seconds / 2 : seconds;
    hangs |= p->ending_s >= grace(w);
    if (hangs || (w->silence_s > 0 && p->silent_s >= w->silence_s + grace(w)))
        worker_kill(&p->worker, WORKER_SILENT);
}

int film_watch_wait(const struct film_watch *w)
{
    double seconds = w->period_s - clock_since(w->last_ns);
    return seconds <= 0 ? 0 : (int)(seconds * 1e3) + 1;
}

void film_watch_tick(struct film_watch *w, struct film_process *p, int count, struct batch *b,
                     uint64_t memory)
{
    /* the parent's own pauses do not count */
    double seconds = least(clock_since(w->last_ns), 1.5 * w->period_s);
    w->last_ns = clock_ns();
    for (int i = 0; i < count; i++) {
        if (p[i].worker.pid <= 0)
            continue;
        check_process(w, &p[i], b, seconds);
        worker_tick(&p[i].worker, memory);
    }
}
