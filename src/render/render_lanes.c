#include "render_lanes.h"

#include <pthread.h>
#include <string.h>

#include "barcode/decoders.h"
#include "barcode/gate.h"
#include "barcode/heap.h"
#include "barcode/interrupt.h"
#include "barcode/log.h"
#include "barcode/probe.h"
#include "render_run.h"

enum { LOOKS_MOST = 16 };        /* films that are looked at at once */

/* Lanes that share cores and, of several GPUs, one. */
struct group {
    struct gate *gate, *beside, *look[LOOKS_MOST];
    int looks;
};

/* All of them. */
struct lanes {
    struct film_queue *queue;
    struct worker *worker;
    struct engines list;             /* what each lane's list of engines begins as */
    struct group group[ENGINE_PARTS_MOST];
    int groups;
};

/* A thread that works on films, and what is its own. */
struct lane {
    struct render render;
    struct engines engines;
    const struct lanes *all;
    pthread_t thread;
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

/* A gate for each of them; returns how many there are. */
static int open_looks(int threads, int lanes, uint64_t memory, struct gate *looks[LOOKS_MOST], struct err *e)
{
    int count = 0, wanted = render_lanes_looks(threads, lanes, memory);
    while (count < wanted && (looks[count] = gate_open(threads / wanted, e)))
        count++;
    return count;
}

/* Of `lanes` lanes, with its part of the memory. */
static bool open_group(struct group *g, int threads, int lanes, int groups, struct err *e)
{
    g->gate = gate_open(threads, e);
    g->looks = g->gate ? open_looks(threads, lanes, heap_machine() / (uint64_t)groups, g->look, e) : 0;
    g->beside = g->looks > 0 ? gate_open(threads, e) : NULL;
    return g->beside != NULL;
}

static void close_group(struct group *g)
{
    gate_free(&g->beside);
    for (int i = 0; i < g->looks; i++)
        gate_free(&g->look[i]);
    gate_free(&g->gate);
}

/* What lane `number` of all has of its group. */
static void join_group(struct render *r, const struct lanes *all, int number)
{
    const struct group *own = &all->group[number % all->groups];
    r->lane = number;
    r->gate = own->gate;
    r->beside = own->beside;
    r->looks = own->look[number / all->groups % own->looks];
    if (all->groups > 1)
        engines_share(r->engines, number);
}

/* The lanes beside the first one, which is this thread's. As many as there is memory and are threads for: fewer will do. */
static int start_lanes(const struct render *r, const struct lanes *all, struct lane *lane, int count)
{
    for (int i = 0; i < count; i++) {
        lane[i] = (struct lane){.render = *r, .engines = all->list, .all = all};
        lane[i].render.engines = &lane[i].engines;
        join_group(&lane[i].render, all, i + 1);
        if (pthread_create(&lane[i].thread, NULL, lane_main, &lane[i]) != 0)
            return i;
    }
    return count;
}

static int threads_of_group(const struct render *r, int groups)
{
    return (r->threads + groups - 1) / groups;
}

/* Without memory for the gates one lane works on one film after another. */
static void run_lanes(struct render *r, struct film_queue *queue, struct worker *w, int lanes, int groups)
{
    struct lane lane[OPTION_JOBS_MOST];
    struct lanes all = {.queue = queue, .worker = w, .groups = groups};
    struct err e = ERR_INIT;
    int count = 0, opened = 0, threads = threads_of_group(r, groups);
    while (lanes > 1 && opened < groups && open_group(&all.group[opened], threads, (lanes + groups - 1) / groups, groups, &e))
        opened++;
    if (lanes > 1 && opened == groups) {
        if (groups > 1)
            log_msg(LOG_VERBOSE, "%d GPUs, each with films and %d cores of its own", groups, threads);
        r->threads = threads;
        r->groups = groups;
        engines_begin_as(&all.list, r->engines, threads);
        r->engines->threads = threads;
        render_run_divides(r->run, groups);
        join_group(r, &all, 0);
        count = start_lanes(r, &all, lane, lanes - 1);
    }
    work(r, queue, w, film_queue_next);
    for (int i = 0; i < count; i++)
        pthread_join(lane[i].thread, NULL);
    r->gate = r->beside = r->looks = NULL;
    for (int i = 0; i < groups; i++)
        close_group(&all.group[i]);
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
    return engines_can_share(r->engines) ? gpus : 1;
}

/* Films that are left, at most; those that must be alone are done by now. */
static int choose(const struct render *r, const struct film_tally *t, int groups)
{
    size_t left = t->due - t->done - t->failed;
    if (left < 2)
        return 1;
    /* Where the cores are enough to decode films beside a GPU, NVDEC's must not become fewer by that. */
    enum { MANY_CORES = 12 };
    int threads = threads_of_group(r, groups);
    bool beside = strcmp(r->engines->slot[0].kind, "cpu") != 0 && r->options->decode == DECODE_AUTO && threads >= MANY_CORES;
    int jobs = r->options->jobs > 0 ? r->options->jobs : groups * (render_lanes_choose(threads) + (beside ? RENDER_ASIDE_MOST : 0));
    jobs = jobs < OPTION_JOBS_MOST ? jobs : OPTION_JOBS_MOST;
    return left < (size_t)jobs ? (int)left : jobs;
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
    int groups = choose_groups(r, &tally);
    run_lanes(&own, queue, w, choose(r, &tally, groups), groups);
    render_run_close(&own.run);
    worker_leaves(w, film_queue_status(queue), engines_linger(r->engines));
    decoders_free(&own.decoders);
}
