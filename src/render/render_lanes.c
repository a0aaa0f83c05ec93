#include "render_lanes.h"

#include <pthread.h>

#include "barcode/decoders.h"
#include "barcode/gate.h"
#include "barcode/heap.h"
#include "barcode/interrupt.h"
#include "barcode/log.h"
#include "barcode/machine.h"
#include "barcode/probe.h"
#include "render_run.h"

enum { LOOKS_MOST = 16 };        /* films that are looked at at once */

/* Lanes that share cores and, of several GPUs, one. */
struct group {
    struct gate *gate, *look[LOOKS_MOST];
    int looks;
};

/* A thread that works on films, and what is its own. */
struct lane {
    struct render render;
    struct engines engines;
    struct render_lanes *all;
    pthread_t thread;
};

/* All of them. */
struct render_lanes {
    struct film_queue *queue;
    struct worker *worker;
    struct lane lane[OPTION_JOBS_MOST];      /* number 1 and those after it; number 0 is the process's first thread */
    int count;
    struct engines list;             /* what each lane's list of engines begins as */
    struct group group[ENGINE_DEVICES_MOST];
    int groups, threads;             /* threads: of each                           */
};

int render_lanes_choose(int threads)
{
    enum { LEAST = 3, MOST = 8 };
    return threads < LEAST ? LEAST : threads < MOST ? threads : MOST;
}

/* After an interruption the next film fails without being opened. */
static bool render_unless_interrupted(const struct render *r, size_t film, struct err *e)
{
    if (!interrupted())
        return render_film(r, film, e);
    interrupt_error(e);
    return err_prefix(e, "'%s'", r->inputs->path[film]);
}

typedef bool next_film(struct film_queue *q, size_t *film);

static void work(const struct render *r, struct film_queue *queue, struct worker *w, next_film *next)
{
    struct err e = ERR_INIT;
    for (size_t film; next(queue, &film); err_clear(&e)) {
        worker_takes(w, film);
        render_run_takes(r->run, r->lane, film);
        bool fine = render_unless_interrupted(r, film, &e);
        if (!fine)
            err_tell(&e);
        film_queue_done(queue, film, fine ? NULL : &e);
        worker_did(w, film, fine ? NULL : &e);
    }
}

static void *lane_main(void *argument)
{
    struct lane *lane = argument;
    work(&lane->render, lane->all->queue, lane->all->worker, film_queue_next);
    engines_close(&lane->engines);       /* others may need their memory */
    return NULL;
}

/*
 * A short film's look takes a tenth of a second, and with one after another a folder of such films waits for nothing else. Each of its threads has
 * a decoder of its own, for a part of the time alone: with PROBE_THREADS cores for each look half of them were idle. Where memory is short it
 * stays at that: a look at 2160p HEVC takes up to 0.8 GB, with the pictures that stand in for those that its key frames name.
 */
int render_lanes_looks(int threads, int lanes, uint64_t memory)
{
    const uint64_t memory_a_look = (uint64_t)4 << 30;
    int least = threads / PROBE_THREADS, most = 2 * least < lanes ? 2 * least : lanes;
    int fit = memory / memory_a_look < (uint64_t)most ? (int)(memory / memory_a_look) : most;
    int looks = fit > least ? fit : least;
    looks = looks < lanes ? looks : lanes;
    return looks < 1 ? 1 : looks < LOOKS_MOST ? looks : LOOKS_MOST;
}

/* A gate for each of them. */
static bool open_looks(struct group *g, int threads, int lanes, uint64_t memory, struct err *e)
{
    int wanted = render_lanes_looks(threads, lanes, memory);
    while (g->looks < wanted && (g->look[g->looks] = gate_open(threads / wanted, e)))
        g->looks++;
    return g->looks > 0;
}

/* Of `lanes` lanes, with its part of the memory. */
static bool open_group(struct group *g, int threads, int lanes, int groups, struct err *e)
{
    g->gate = gate_open(threads, e);
    return g->gate && open_looks(g, threads, lanes, machine_memory() / (uint64_t)groups, e);
}

static void close_group(struct group *g)
{
    for (int i = 0; i < g->looks; i++)
        gate_free(&g->look[i]);
    gate_free(&g->gate);
}

/* What lane `number` of all has of its group. */
static void join_group(struct render *r, const struct render_lanes *all, int number)
{
    const struct group *own = &all->group[number % all->groups];
    r->threads = all->threads;
    r->groups = all->groups;
    r->gate = own->gate;
    r->looks = own->look[number / all->groups % own->looks];
    if (all->groups > 1)
        engines_turn(r->engines, number);
}

/* Further lanes, so that there are `count` beside this thread's. As many as there is memory and are threads for: fewer will do. */
static void start_lanes(const struct render *r, struct render_lanes *all, int count)
{
    for (; all->count < count; all->count++) {
        struct lane *lane = &all->lane[all->count];
        *lane = (struct lane){.render = *r, .engines = all->list, .all = all};
        lane->render.engines = &lane->engines;
        lane->render.lane = all->count + 1;
        join_group(&lane->render, all, lane->render.lane);
        if (pthread_create(&lane->thread, NULL, lane_main, lane) != 0)
            return;
    }
}

static int threads_of_group(const struct render *r, int groups)
{
    return (r->threads + groups - 1) / groups;
}

/* The groups' gates, and what this thread's lane and those to come have of them. */
static bool divide(struct render *r, struct render_lanes *all, int lanes, int groups)
{
    struct err none = ERR_INIT;
    int opened = 0, threads = threads_of_group(r, groups);
    while (opened < groups && open_group(&all->group[opened], threads, (lanes + groups - 1) / groups, groups, &none))
        opened++;
    if (opened < groups)
        return false;
    if (groups > 1)
        log_msg(LOG_VERBOSE, "%d GPUs, each with films and %d cores of its own", groups, threads);
    all->groups = groups;
    all->threads = threads;
    engines_begin_as(&all->list, r->engines, threads);
    r->engines->threads = threads;
    join_group(r, all, 0);
    return true;
}

/* Of the films that may be left; one of unknown length may be as long as any. */
static uint64_t largest(const struct inputs *in)
{
    uint64_t most = 0;
    for (size_t i = 0; i < in->count; i++)
        if (inputs_is_due(in, i))
            most = in->file[i].bytes == 0 ? UINT64_MAX : in->file[i].bytes > most ? in->file[i].bytes : most;
    return most;
}

/* Enough films for so many GPUs, of which none is a large part of all, and enough cores and lanes. */
static bool may_divide(const struct render *r, size_t films, uint64_t bytes, int gpus)
{
    enum { FILMS_A_GPU = 8, LARGE = 4, CORES_A_GPU = 2 };
    int jobs = r->options->jobs;
    return films >= (size_t)gpus * FILMS_A_GPU && largest(r->inputs) <= bytes / (uint64_t)gpus / LARGE &&
           gpus * CORES_A_GPU <= r->threads && (jobs == 0 || gpus <= jobs);
}

/*
 * In how many groups the lanes work. Where there are several GPUs and many films of which none is a large part of all, each GPU has lanes, cores and
 * films of its own, as if it were a machine of its own. Fewer or longer films have all GPUs, one film after another: no GPU waits while the last one is decoded.
 * The driver is asked where its answer can matter.
 */
static int choose_groups(const struct render *r, const struct film_tally *t)
{
    const uint64_t least = (uint64_t)64 << 20;        /* less is not worth the question */
    size_t left = t->due - t->done - t->failed;
    uint64_t bytes = t->bytes - t->bytes_ended;
    if (bytes < least || r->options->decode == DECODE_CPU || !may_divide(r, left, bytes, 2))
        return 1;
    int gpus = engines_devices(r->engines);
    if (gpus < 2 || !may_divide(r, left, bytes, gpus))
        return 1;
    engines_close(r->engines);       /* films that had to be alone may have opened them */
    return gpus;
}

/* Films that are left, at most; those that must be alone are done by now. */
static int choose(const struct render *r, const struct film_tally *t, int groups)
{
    size_t left = t->due - t->done - t->failed;
    if (left < 2)
        return 1;
    int threads = threads_of_group(r, groups);
    int jobs = r->options->jobs > 0 ? r->options->jobs : groups * render_lanes_choose(threads);
    jobs = jobs < OPTION_JOBS_MOST ? jobs : OPTION_JOBS_MOST;
    return left < (size_t)jobs ? (int)left : jobs;
}

/* Without memory for the gates one film is done after another. */
static void run_lanes(struct render *r, struct film_queue *queue, struct worker *w, const struct film_tally *t)
{
    struct render_lanes all = {.queue = queue, .worker = w};
    int groups = choose_groups(r, t), lanes = choose(r, t, groups);
    if (lanes > 1 && divide(r, &all, lanes, groups))
        start_lanes(r, &all, lanes - 1);
    work(r, queue, w, film_queue_next);
    for (int i = 0; i < all.count; i++)
        pthread_join(all.lane[i].thread, NULL);
    r->gate = r->looks = NULL;
    for (int i = 0; i < groups; i++)
        close_group(&all.group[i]);
}

void render_lanes(const struct render *r, struct film_queue *queue, struct worker *w)
{
    struct render own = *r;
    struct film_tally tally = film_queue_tally(queue);
    struct err e = ERR_INIT;
    if (tally.due > 1) {
        (void)heap_keep();
        own.run = render_run_open(r, queue, OPTION_JOBS_MOST);
    }
    own.decoders = decoders_open(tally.due > 1, &e);      /* without memory for them none are kept */
    r->engines->films = tally.due;
    own.again = true;
    work(&own, queue, w, film_queue_next_alone);
    own.again = false;
    tally = film_queue_tally(queue);
    run_lanes(&own, queue, w, &tally);
    render_run_close(&own.run);
    worker_leaves(w, film_queue_status(queue), engines_linger(r->engines));
    decoders_free(&own.decoders);
}
