#include "film_workers.h"

#include <pthread.h>
#include <string.h>

#include "film_client.h"
#include "base/admission.h"
#include "base/limits.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/watch.h"
#include "media/source.h"
#include "media/probe.h"

enum { PROBES_MOST = 16 }; /* films that are probed at once */

/* A film worker: a thread that renders films, with its own engines. */
struct film_worker {
    struct render render;
    struct engines engines;
    struct watch *watches; /* of the process */
    int slot;
    pthread_t thread;
};

/* The admissions that the film workers of a process share. */
struct admissions {
    struct admission *admission, *probe[PROBES_MOST];
    int probes;
};

int worker_process_count(const struct render *r, const struct film_tally *t)
{
    enum { CORES_A_WORKER = 2 };
    /* for less, starting another GPU takes longer than decoding on the first */
    const uint64_t bytes_a_gpu = (uint64_t)64 << 20, memory_a_worker = (uint64_t)256 << 20;
    const struct options *o = r->options;
    bool cpu = strcmp(r->engines->slot[0].kind, "cpu") == 0;
    uint64_t most =
        o->film.decode == DECODE_CPU ? 1 : (uint64_t)engines_devices_at_most(r->engines);
    const uint64_t limit[] = {WORKERS_MOST,
                              t->due,
                              (uint64_t)(r->threads / CORES_A_WORKER),
                              o->batch.jobs > 0 ? (uint64_t)o->batch.jobs : WORKERS_MOST,
                              cpu ? WORKERS_MOST : t->bytes / bytes_a_gpu,
                              limits_memory() / memory_a_worker};
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++)
        most = limit[i] < most ? limit[i] : most;
    return most > 1 ? (int)most : 1;
}

int film_worker_count(int threads, uint64_t memory)
{
    enum { LEAST = 3, MOST = 8 };
    const uint64_t memory_a_film = (uint64_t)256 << 20;
    int count = threads < LEAST ? LEAST : threads < MOST ? threads : MOST;
    int fit = memory / memory_a_film < MOST ? (int)(memory / memory_a_film) : MOST;
    return fit < 1 ? 1 : fit < count ? fit : count;
}

/*
 * Renders a film; after an interruption fails without opening it. Once it is watched, interrupted()
 * may also mean that this film alone has to end.
 */
static bool render_unless_interrupted(const struct render *r, size_t film, uint64_t serial,
                                      struct watch *watch, struct film_result *result,
                                      struct err *e)
{
    *result = film_no_result;
    if (interrupted()) {
        interrupt_error(e);
        return err_prefix(e, "'%s'", r->inputs->path[film]);
    }
    watch_begin(watch, serial);
    bool ok = render_film(r, film, result, e);
    watch_end();
    return ok;
}

/* Renders films in a slot until none is left; with `alone` those that must be rendered alone. */
static void work(const struct render *r, struct watch *watches, int slot, bool alone)
{
    struct film_result result;
    struct err e = ERR_INIT;
    uint64_t serial;
    for (size_t film; film_client_next(slot, alone, &film, &serial); err_clear(&e)) {
        bool ok = render_unless_interrupted(r, film, serial, watch_at(watches, slot), &result, &e);
        if (!ok && render_again_alone(r, film, &e)) {
            log_msg(LOG_VERBOSE, "%s; rendering it again, alone", e.text);
            film_client_again(slot);
        } else {
            film_client_ended(slot, &result, &e);
        }
    }
}

static void *film_worker_main(void *argument)
{
    struct film_worker *film_worker = argument;
    work(&film_worker->render, film_worker->watches, film_worker->slot, false);
    engines_close(&film_worker->engines); /* frees memory for the other film workers */
    return NULL;
}

/*
 * Probing one film at a time would make a folder of short films wait, and a probe does not keep its
 * cores busy. So up to two films are probed per PROBE_THREADS cores. memory_per_probe allows for
 * 2160p HEVC.
 */
int max_concurrent_probes(int threads, int film_workers, uint64_t memory)
{
    const uint64_t memory_per_probe = (uint64_t)4 << 30;
    int most = threads / PROBE_THREADS * 2, probes = most < film_workers ? most : film_workers;
    if (memory / memory_per_probe < (uint64_t)probes)
        probes = (int)(memory / memory_per_probe);
    return probes < 1 ? 1 : probes < PROBES_MOST ? probes : PROBES_MOST;
}

/* Opens the admissions of `film_workers` threads. */
static bool open_admissions(struct admissions *g, const struct render *r, int film_workers)
{
    struct err none = ERR_INIT;
    int probes =
        max_concurrent_probes(r->threads, film_workers, limits_memory() / (uint64_t)r->workers);
    g->admission = admission_open(r->threads, &none);
    while (g->admission && g->probes < probes &&
           (g->probe[g->probes] = admission_open(r->threads / probes, &none)))
        g->probes++;
    return g->probes > 0;
}

static void close_admissions(struct admissions *g)
{
    for (int i = 0; i < g->probes; i++)
        admission_free(&g->probe[i]);
    admission_free(&g->admission);
}

/*
 * Starts film workers so that there are `count` with this thread. Returns how many there are: fewer
 * if out of memory or threads.
 */
static int start_film_workers(struct film_worker *film_worker, const struct render *r,
                              const struct admissions *g, struct watch *watches, int count)
{
    for (int i = 1; i < count; i++) {
        film_worker[i] = (struct film_worker){.render = *r, .watches = watches, .slot = i};
        film_worker[i].render.engines = &film_worker[i].engines;
        film_worker[i].render.probe_admission = g->probe[i % g->probes];
        engines_begin_as(&film_worker[i].engines, r->engines, r->threads);
        if (pthread_create(&film_worker[i].thread, NULL, film_worker_main, &film_worker[i]) != 0)
            return i;
    }
    return count;
}

/*
 * Returns the number of film workers: at most the number of films left. The films that must run
 * alone are finished by now.
 */
static int choose(const struct render *r, const struct worker *w, const struct film_tally *t)
{
    size_t left = t->due - t->done - t->failed;
    int jobs = r->options->batch.jobs > 0
                   ? (r->options->batch.jobs + r->workers - 1 - w->number) / r->workers
                   : film_worker_count(r->threads, limits_memory() / (uint64_t)r->workers);
    return left < (size_t)jobs ? (int)left : jobs;
}

/*
 * Renders the films with several film workers, or one after another if there is no memory for the
 * admissions.
 */
static void run_film_workers(struct render *r, const struct film_tally *t, const struct worker *w)
{
    struct film_worker film_worker[OPTION_JOBS_MOST]; /* number 0 is this thread */
    struct admissions admissions = {.probes = 0};
    int count = choose(r, w, t);
    if (count > 1 && open_admissions(&admissions, r, count)) {
        r->admission = admissions.admission;
        r->probe_admission = admissions.probe[0];
        count = start_film_workers(film_worker, r, &admissions, w->watch, count);
    } else {
        count = 1;
    }
    r->alone = count == 1;
    work(r, w->watch, 0, false);
    for (int i = 1; i < count; i++)
        pthread_join(film_worker[i].thread, NULL);
    r->admission = r->probe_admission = NULL; /* films may still be rendered alone */
    close_admissions(&admissions);
}

/*
 * Gives the worker process its part of the machine: cores, and the GPU to try first. Returns false
 * if there are fewer GPUs than worker_process_count assumed, and none for this process.
 */
static bool take_part(struct render *r, const struct worker *w, int workers)
{
    int gpus = workers > 1 ? engines_devices(r->engines) : 1;
    r->workers = gpus < workers ? gpus : workers;
    if (w->number >= r->workers)
        return false;
    r->threads = (r->threads + r->workers - 1) / r->workers;
    r->engines->threads = r->threads;
    if (r->workers > 1) {
        log_msg(LOG_VERBOSE, "worker %d of %d: one GPU and %d cores", w->number + 1, r->workers,
                r->threads);
        engines_turn(r->engines, w->number);
    }
    return true;
}

/* Renders the films that were put back, one after another. */
static void render_alone(struct render *r, const struct worker *w)
{
    r->again = r->alone = true;
    work(r, w->watch, 0, true);
    r->again = r->alone = false;
}

int film_workers_run(const struct render *r, const struct film_tally *t, struct worker *w,
                     int workers)
{
    struct render own = *r;
    struct err e = ERR_INIT;
    film_client_open(w);
    if (take_part(&own, w, workers)) {
        if (t->due > 1)
            (void)process_limits_keep_heap();
        own.decoders = decoders_open(t->due > 1, &e); /* out of memory: no decoders are pooled */
        r->engines->films = t->due;
        const uint64_t memory = limits_memory() / (uint64_t)own.workers;
        process_limits_set(memory);
        worker_watch_memory(w, memory);
        render_alone(&own, w);
        run_film_workers(&own, t, w);
        render_alone(&own, w);
    }
    worker_leaves(w, 0, engines_linger(r->engines));
    decoders_free(&own.decoders);
    return 0;
}
