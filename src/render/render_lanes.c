#include "render_lanes.h"

#include <pthread.h>
#include <string.h>

#include "barcode/decoders.h"
#include "barcode/gate.h"
#include "barcode/interrupt.h"
#include "barcode/probe.h"
#include "render_run.h"

enum { LOOKS_MOST = 16 };        /* films that are looked at at once */

/* A thread that works on films, and what is its own. */
struct lane {
    struct render render;
    struct engines engines;
    struct film_queue *queue;
    struct worker *worker;
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
    work(&lane->render, lane->queue, lane->worker, film_queue_next);
    engines_close(&lane->engines);       /* others may need their memory */
    return NULL;
}

/* The lanes beside the first one, which is this thread's. As many as there is memory and are threads for: fewer will do. */
static int start_lanes(const struct render *r, struct film_queue *queue, struct worker *w, struct lane *lane, int count, struct gate *const *looks, int gates)
{
    const struct options *o = r->options;
    for (int i = 0; i < count; i++) {
        lane[i] = (struct lane){.render = *r, .queue = queue, .worker = w};
        lane[i].render.lane = i + 1;
        lane[i].render.looks = looks[(i + 1) % gates];
        lane[i].render.engines = &lane[i].engines;
        engines_init(&lane[i].engines, o->engine, &o->devices, r->threads);
        lane[i].engines.films = r->engines->films;
        if (pthread_create(&lane[i].thread, NULL, lane_main, &lane[i]) != 0)
            return i;
    }
    return count;
}

/*
 * Gates for the look for bars, one for as many cores as a film's look takes: a short film's takes a tenth of a second, and with one after another
 * a folder of such films waits for nothing else. Returns how many there are.
 */
static int open_looks(int threads, struct gate *looks[LOOKS_MOST], struct err *e)
{
    int count = 0, wanted = threads / PROBE_THREADS;
    wanted = wanted < 1 ? 1 : wanted > LOOKS_MOST ? LOOKS_MOST : wanted;
    while (count < wanted && (looks[count] = gate_open(threads / wanted, e)))
        count++;
    return count;
}

static void run_lanes(struct render *r, struct film_queue *queue, struct worker *w, int lanes)
{
    struct lane lane[OPTION_JOBS_MOST];
    struct gate *looks[LOOKS_MOST];
    struct err e = ERR_INIT;
    int count = 0, gates = 0;
    if (lanes > 1 && (r->gate = gate_open(r->threads, &e)))
        gates = open_looks(r->threads, looks, &e);
    r->looks = gates > 0 ? looks[0] : NULL;
    if (gates > 0 && (r->beside = gate_open(r->threads, &e)))
        count = start_lanes(r, queue, w, lane, lanes - 1, looks, gates);
    work(r, queue, w, film_queue_next);
    for (int i = 0; i < count; i++)
        pthread_join(lane[i].thread, NULL);
    r->looks = NULL;
    gate_free(&r->beside);
    for (int i = 0; i < gates; i++)
        gate_free(&looks[i]);
    gate_free(&r->gate);
}

/* Films that are left, at most; those that must be alone are done by now. */
static int choose(const struct render *r, const struct film_tally *t)
{
    size_t left = t->due - t->done - t->failed;
    if (left < 2)
        return 1;
    /* Where the cores are enough to decode films beside a GPU, NVDEC's must not become fewer by that. */
    enum { MANY_CORES = 12 };
    bool beside = strcmp(r->engines->slot[0].kind, "cpu") != 0 && r->options->decode == DECODE_AUTO && r->threads >= MANY_CORES;
    int jobs = r->options->jobs > 0 ? r->options->jobs : render_lanes_choose(r->threads) + (beside ? RENDER_ASIDE_MOST : 0);
    return left < (size_t)jobs ? (int)left : jobs;
}

void render_lanes(const struct render *r, struct film_queue *queue, struct worker *w)
{
    struct render own = *r;
    struct film_tally tally = film_queue_tally(queue);
    struct err e = ERR_INIT;
    if (tally.due > 1) {
        own.run = render_run_open(r, queue, OPTION_JOBS_MOST);
        own.decoders = decoders_open(&e);      /* without memory for them none are kept */
    }
    r->engines->films = tally.due;
    own.again = true;
    work(&own, queue, w, film_queue_next_alone);
    own.again = false;
    tally = film_queue_tally(queue);
    run_lanes(&own, queue, w, choose(r, &tally));
    render_run_close(&own.run);
    worker_leaves(w, film_queue_status(queue), engines_linger(r->engines));
    decoders_free(&own.decoders);
}
