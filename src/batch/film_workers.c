#include "film_workers.h"
#include "batch_options.h"
#include "film_messages.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/admission.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/interrupt.h"
#include "base/worker.h"
#include "base/log.h"
#include "base/watch.h"
#include "media/source.h"

enum { PROBES_MOST = 16 }; /* films that are probed at once */

/* A film worker: a thread that renders films, with its own engines. */
struct film_worker {
    struct job_context context;
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

int worker_process_count(const struct job_context *context, const struct film_tally *t, int jobs)
{
    enum { CORES_A_WORKER = 2 };
    /* for less, starting another GPU takes longer than decoding on the first */
    const uint64_t bytes_a_gpu = (uint64_t)64 << 20, memory_a_worker = (uint64_t)256 << 20;
    uint64_t most = context->plan->film.decode == DECODE_CPU
                        ? 1
                        : (uint64_t)engines_devices_at_most(context->engines);
    const uint64_t limit[] = {WORKERS_MOST,
                              t->due,
                              (uint64_t)(context->threads / CORES_A_WORKER),
                              jobs > 0 ? (uint64_t)jobs : WORKERS_MOST,
                              engines_have_gpu(context->engines) ? t->bytes / bytes_a_gpu
                                                                 : WORKERS_MOST,
                              limits_memory() / memory_a_worker};
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++)
        most = limit[i] < most ? limit[i] : most;
    return most > 1 ? (int)most : 1;
}

int film_worker_count(int threads, uint64_t memory)
{
    enum { LEAST = 3, MOST = 8 };
    const uint64_t memory_a_film = (uint64_t)256 << 20;
    int count = threads < MOST ? threads : MOST;
    if (count < LEAST)
        count = LEAST;
    if (memory / memory_a_film < (uint64_t)count)
        count = (int)(memory / memory_a_film);
    return count > 1 ? count : 1;
}

/* ---- The link to the parent; if the parent is gone, the process ends ---- */

static int parent = -1; /* the link */

/* Serializes a question and its answer. */
static pthread_mutex_t link_mutex = PTHREAD_MUTEX_INITIALIZER;

static void send_message(const void *message, size_t size)
{
    if (!link_send(parent, message, size, -1))
        _exit(1);
}

/* Sends a question, and receives its answer of `size` bytes. Returns the descriptor, or -1. */
static int ask_parent(const void *question, size_t length, void *answer, size_t size)
{
    int fd;
    pthread_mutex_lock(&link_mutex);
    send_message(question, length);
    if (link_wait(parent, answer, size, &fd) != (ssize_t)size)
        _exit(1);
    pthread_mutex_unlock(&link_mutex);
    return fd;
}

/* Implements file_asking. Any thread. */
static int ask_file(enum file_request request, const char *path, int *file)
{
    struct file_ask m = {.kind = FILM_ASK_FILE,
                         .slot = (uint32_t)watch_number(),
                         .request = request,
                         .file = file ? *file : -1};
    struct file_answer answer;
    size_t bytes = path ? strlen(path) + 1 : 1;
    errno = ENAMETOOLONG;
    if (bytes > sizeof m.path)
        return -1;
    if (path)
        memcpy(m.path, path, bytes);
    int fd = ask_parent(&m, offsetof(struct file_ask, path) + bytes, &answer, sizeof answer);
    if (answer.error != 0) {
        errno = answer.error;
        return -1;
    }
    if (file)
        *file = answer.file;
    bool expected = request == FILE_READ || request == FILE_SCRATCH || request == FILE_WRITE ||
                    request == FILE_ADD;
    errno = EMFILE;
    return expected ? fd : 0;
}

/* Sets the link for the functions below, and for file_ask. Before other threads run. */
static void open_client(const struct worker *w)
{
    parent = w->link;
    file_ask = ask_file;
}

/*
 * Asks for the next film of film worker `slot`, which has none: the next one of the queue, or with
 * `alone` the next one that must be rendered alone. Returns false if there is none, or after an
 * interruption. Otherwise sets its index in the inputs, and its serial for watch_begin. Any thread.
 */
static bool ask_film(int slot, bool alone, size_t *film, uint64_t *serial)
{
    const struct film_ask m = {.kind = FILM_ASK, .slot = (uint32_t)slot, .alone = alone};
    struct film_answer answer;
    (void)ask_parent(&m, sizeof m, &answer, sizeof answer);
    *film = (size_t)answer.film;
    *serial = answer.serial;
    return answer.found != 0;
}

/* `failure` is empty if the film succeeded. Any thread. */
static void report_end(int slot, const struct job_result *result, const struct err *failure)
{
    struct film_end m = {
        .kind = FILM_ENDED, .slot = (uint32_t)slot, .code = failure->code, .result = *result};
    memcpy(m.text, failure->text, sizeof m.text);
    if (failure->file)
        log_msg(LOG_DEBUG, "raised at %s:%d", failure->file, failure->line);
    send_message(&m, sizeof m);
}

/* Puts the film back, to be rendered alone. Any thread. */
static void put_back(int slot)
{
    const struct film_end m = {.kind = FILM_AGAIN, .slot = (uint32_t)slot};
    send_message(&m, offsetof(struct film_end, code));
}

/* ---- Films ---- */

/*
 * Renders a film; after an interruption fails without opening it. Once it is watched, interrupted()
 * may also mean that this film alone has to end.
 */
static bool render_unless_interrupted(const struct job_context *context, size_t film,
                                      uint64_t serial, struct watch *watch,
                                      struct job_result *result, struct err *e)
{
    *result = job_no_result;
    if (interrupted()) {
        interrupt_error(e);
        return err_prefix(e, "'%s'", context->inputs->path[film]);
    }
    struct outputs outputs;
    watch_begin(watch, serial);
    bool ok = outputs_of(context->plan, context->inputs, film, &outputs, e);
    if (ok) {
        ok = job_run(context, film, &outputs, result, e);
        outputs_free(&outputs);
    }
    watch_end();
    return ok;
}

/* Renders films in a slot until none is left; with `alone` those that must be rendered alone. */
static void render_queue(const struct job_context *context, struct watch *watches, int slot,
                         bool alone)
{
    struct job_result result;
    struct err e = ERR_INIT;
    uint64_t serial;
    for (size_t film; ask_film(slot, alone, &film, &serial); err_clear(&e)) {
        bool ok =
            render_unless_interrupted(context, film, serial, watch_at(watches, slot), &result, &e);
        if (!ok && job_again_alone(context, film, &e)) {
            log_msg(LOG_VERBOSE, "%s; rendering it again, alone", e.text);
            put_back(slot);
        } else {
            report_end(slot, &result, &e);
        }
    }
}

static void *film_worker_main(void *argument)
{
    struct film_worker *film_worker = argument;
    render_queue(&film_worker->context, film_worker->watches, film_worker->slot, false);
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
    if (probes > PROBES_MOST)
        probes = PROBES_MOST;
    if (memory / memory_per_probe < (uint64_t)probes)
        probes = (int)(memory / memory_per_probe);
    return probes > 1 ? probes : 1;
}

/* Opens the admissions of `film_workers` threads. */
static bool open_admissions(struct admissions *g, const struct job_context *context,
                            int film_workers)
{
    struct err none = ERR_INIT;
    int probes = max_concurrent_probes(context->threads, film_workers,
                                       limits_memory() / (uint64_t)context->workers);
    g->admission = admission_open(context->threads, &none);
    while (g->admission && g->probes < probes &&
           (g->probe[g->probes] = admission_open(context->threads / probes, &none)))
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
static int start_film_workers(struct film_worker *film_worker, const struct job_context *context,
                              const struct admissions *g, struct watch *watches, int count)
{
    for (int i = 1; i < count; i++) {
        film_worker[i] = (struct film_worker){.context = *context, .watches = watches, .slot = i};
        film_worker[i].context.engines = &film_worker[i].engines;
        film_worker[i].context.probe_admission = g->probe[i % g->probes];
        engines_begin_as(&film_worker[i].engines, context->engines, context->threads);
        if (pthread_create(&film_worker[i].thread, NULL, film_worker_main, &film_worker[i]) != 0)
            return i;
    }
    return count;
}

/*
 * Returns the number of film workers: at most the number of films left. The films that must run
 * alone are finished by now.
 */
static int count_film_workers(const struct job_context *context, const struct worker *w,
                              const struct film_tally *t, int jobs)
{
    size_t left = t->due - t->done - t->failed;
    int count = film_worker_count(context->threads, limits_memory() / (uint64_t)context->workers);
    if (jobs > 0)
        count = (jobs + context->workers - 1 - w->number) / context->workers;
    return left < (size_t)count ? (int)left : count;
}

/*
 * Renders the films with several film workers, or one after another if there is no memory for the
 * admissions.
 */
static void run_film_workers(struct job_context *context, const struct film_tally *t,
                             const struct worker *w, int jobs)
{
    struct film_worker film_worker[BATCH_JOBS_MOST]; /* number 0 is this thread */
    struct admissions admissions = {.probes = 0};
    int count = count_film_workers(context, w, t, jobs);
    if (count > 1 && open_admissions(&admissions, context, count)) {
        context->admission = admissions.admission;
        context->probe_admission = admissions.probe[0];
        count = start_film_workers(film_worker, context, &admissions, w->watch, count);
    } else {
        count = 1;
    }
    context->alone = count == 1;
    render_queue(context, w->watch, 0, false);
    for (int i = 1; i < count; i++)
        pthread_join(film_worker[i].thread, NULL);
    context->admission = context->probe_admission = NULL; /* films may still be rendered alone */
    close_admissions(&admissions);
}

/*
 * Gives the worker process its part of the machine: cores, and the GPU to try first. Returns false
 * if there are fewer GPUs than worker_process_count assumed, and none for this process.
 */
static bool claim_share(struct job_context *context, const struct worker *w, int workers)
{
    int gpus = workers > 1 ? engines_devices(context->engines) : 1;
    context->workers = gpus < workers ? gpus : workers;
    if (w->number >= context->workers)
        return false;
    context->threads = (context->threads + context->workers - 1) / context->workers;
    context->engines->threads = context->threads;
    if (context->workers > 1) {
        log_msg(LOG_VERBOSE, "worker %d of %d: one GPU and %d cores", w->number + 1,
                context->workers, context->threads);
        engines_turn(context->engines, w->number);
    }
    return true;
}

/* Renders the films that were put back, one after another. */
static void render_alone(struct job_context *context, const struct worker *w)
{
    context->alone = true;
    render_queue(context, w->watch, 0, true);
    context->alone = false;
}

int film_workers_run(const struct job_context *context, const struct film_tally *t,
                     struct worker *w, int workers, int jobs)
{
    struct job_context own = *context;
    struct err e = ERR_INIT;
    open_client(w);
    if (claim_share(&own, w, workers)) {
        if (t->due > 1)
            (void)process_limits_keep_heap();
        own.decoders = decoders_open(t->due > 1, &e); /* out of memory: no decoders are pooled */
        context->engines->films = t->due;
        context->engines->bytes = t->due > 0 ? t->bytes / t->due : 0;
        const uint64_t memory = limits_memory() / (uint64_t)own.workers;
        process_limits_set(memory);
        worker_watch_memory(w, memory);
        render_alone(&own, w);
        run_film_workers(&own, t, w, jobs);
        render_alone(&own, w);
    }
    worker_leaves(w, 0, engines_linger(context->engines));
    decoders_free(&own.decoders);
    return 0;
}
