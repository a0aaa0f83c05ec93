#include "watchdog.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "barcode/base/clock.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/watch.h"

/* How long nothing may move, and how long once a film or the worker was asked to end. */
enum { SILENCE_S = 300, GRACE_S = 5 };

/* The seconds of a film in progress. */
struct film_clock {
    uint64_t turn;                /* of the watch */
    double total, silent, ending; /* ending: silent since it was asked to end */
};

struct watchdog {
    int workers;
    double silence_s, film_s; /* the limits; 0: none */
    int64_t last_ns;          /* of the last tick */
    struct watch *watch;      /* [workers][OPTION_JOBS_MOST] */
    struct process_clock {
        struct film_clock film[OPTION_JOBS_MOST];
        double silent; /* all its films together */
        bool interrupted;
    } process[]; /* [workers] */
};

struct watchdog *watchdog_open(int workers, int64_t film_us)
{
    struct err none = ERR_INIT;
    const char *silence = getenv("BARCODE_SILENCE");
    struct watchdog *d = calloc(1, sizeof *d + (size_t)workers * sizeof *d->process);
    if (d && !(d->watch = watch_open((size_t)workers * OPTION_JOBS_MOST, &none))) {
        free(d);
        d = NULL;
    }
    if (!d)
        return NULL;
    d->workers = workers;
    d->silence_s = silence ? strtod(silence, NULL) : SILENCE_S;
    d->film_s = (double)film_us / 1e6;
    d->last_ns = clock_ns();
    return d;
}

struct watch *watchdog_watches(struct watchdog *d, int worker)
{
    return d ? watch_at(d->watch, (size_t)worker * OPTION_JOBS_MOST) : NULL;
}

static double grace(const struct watchdog *d)
{
    return d->silence_s > 0 && d->silence_s < GRACE_S ? d->silence_s : GRACE_S;
}

static void ask_to_end(const struct watchdog *d, struct watch *w, uint64_t turn, bool too_long)
{
    double limit = too_long ? d->film_s : d->silence_s;
    bool minutes = limit >= 120 && limit == (int)(limit / 60) * 60.0;
    char reason[128];
    snprintf(reason, sizeof reason,
             too_long ? "stopped after %g %s (--film-timeout)"
                      : "nothing was read, decoded or written for %g %s",
             minutes ? limit / 60 : limit, minutes ? "minutes" : "s");
    watch_stop(w, turn, reason);
}

/* Counts `seconds` for a film, and asks it to end if that is too much. */
static void count_film(const struct watchdog *d, struct watch *w, const struct watch_state *now,
                       struct film_clock *film, double seconds)
{
    if (film->turn != now->turn)
        *film = (struct film_clock){.turn = now->turn};
    film->silent = now->moved ? 0 : film->silent + seconds;
    film->ending = now->moved || !now->stopped ? 0 : film->ending + seconds;
    film->total += now->untimed ? 0 : seconds;
    bool silent = d->silence_s > 0 && film->silent >= d->silence_s;
    bool too_long = d->film_s > 0 && !now->untimed && film->total >= d->film_s;
    if (!now->stopped && (silent || too_long))
        ask_to_end(d, w, now->turn, too_long);
}

/* Kills a worker. The films that were asked to end are to blame. */
static void kill_worker(struct watchdog *d, struct worker *w)
{
    struct watch *watch = watchdog_watches(d, w->number);
    w->killed = true;
    for (size_t i = 0; i < OPTION_JOBS_MOST; i++) {
        struct watch_state now = watch_check(watch_at(watch, i));
        if (now.in_progress && now.stopped) {
            w->blamed.film[w->blamed.count++] = now.film;
            snprintf(w->reason, sizeof w->reason, "%s", watch_reason(watch_at(watch, i)));
        }
    }
    kill(w->pid, SIGKILL);
}

static void check_worker(struct watchdog *d, struct worker *w, double seconds)
{
    struct process_clock *p = &d->process[w->number];
    struct watch *watch = watchdog_watches(d, w->number);
    bool moved = false, hangs = false;
    for (size_t i = 0; i < OPTION_JOBS_MOST; i++) {
        struct watch_state now = watch_check(watch_at(watch, i));
        moved |= now.moved;
        if (!now.in_progress)
            continue;
        count_film(d, watch_at(watch, i), &now, &p->film[i], seconds);
        hangs |= now.stopped && p->film[i].ending >= grace(d);
    }
    moved |= interrupt_pending() && !p->interrupted;
    p->interrupted = interrupt_pending();
    p->silent = moved ? 0 : p->silent + seconds;
    double limit = p->interrupted ? grace(d) : d->silence_s + grace(d);
    if (hangs || (d->silence_s > 0 && p->silent >= limit))
        kill_worker(d, w);
}

void watchdog_tick(struct watchdog *d, struct worker *w, int count)
{
    const double most = 0.1; /* the parent's own pauses do not count */
    if (!d)
        return;
    double seconds = clock_since(d->last_ns);
    seconds = seconds < most ? seconds : most;
    d->last_ns = clock_ns();
    for (int i = 0; i < count; i++)
        if (w[i].pid > 0 && !w[i].killed)
            check_worker(d, &w[i], seconds);
}

void watchdog_forget(struct watchdog *d, int worker)
{
    if (!d)
        return;
    for (size_t i = 0; i < OPTION_JOBS_MOST; i++)
        watch_clear(watch_at(watchdog_watches(d, worker), i));
    d->process[worker] = (struct process_clock){.silent = 0};
}

void watchdog_close(struct watchdog **d)
{
    if (*d)
        watch_free((*d)->watch, (size_t)(*d)->workers * OPTION_JOBS_MOST);
    free(*d);
    *d = NULL;
}
