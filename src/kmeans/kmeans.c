#include "barcode/kmeans/kmeans.h"

#include <stdlib.h>
#include <string.h>

#include "assign.h"
#include "base/interrupt.h"
#include "base/option.h"
#include "barcode/kmeans/points.h"
#include "barcode/kmeans/seed.h"

/* Bytes for the assign steps of waiting restarts. Without them, all points are examined again. */
#define WAITING_BYTES ((size_t)16 << 20)

enum { RACE_LEAST = 5, RACE_HALF = 5, RACE_FIFTH = 12 };

struct kmeans {
    struct kmeans_params params;
    enum isa isa;
    struct points_maker *maker;
    struct points points;
    struct seed *seed;
    struct kmeans_rung rung[KMEANS_RUNGS];
    /* room: one more than the restarts that continue after the first rung */
    int rungs, room;
    struct restart *restart; /* [room] */
    /* [room] pointers to all restarts; those in the race come first, ranked by restart_before */
    struct restart **order;
};

const char *kmeans_init_name(enum kmeans_init init)
{
    static const char *const names[] = {"scalable", "k-means++", "random"};
    return (unsigned)init <= INIT_RANDOM ? names[init] : "?";
}

int kmeans_rungs(const struct kmeans_params *params, struct kmeans_rung rung[KMEANS_RUNGS])
{
    int rungs = 0;
    if (params->race && params->n_init >= RACE_LEAST) {
        if (params->max_iter > RACE_HALF)
            rung[rungs++] = (struct kmeans_rung){RACE_HALF, (params->n_init + 1) / 2};
        if (params->max_iter > RACE_FIFTH)
            rung[rungs++] = (struct kmeans_rung){RACE_FIFTH, (params->n_init + 4) / 5};
    }
    rung[rungs++] = (struct kmeans_rung){params->max_iter, 1};
    return rungs;
}

/*
 * Creates the restarts. Those for which WAITING_BYTES suffices get an assign workspace of their
 * own, if that is useful. The others share one, used by one restart at a time.
 */
static bool open_restarts(struct kmeans *km, size_t most, struct err *e)
{
    km->rungs = kmeans_rungs(&km->params, km->rung);
    km->room = km->rung[0].go_on + 1;
    km->restart = calloc((size_t)km->room, sizeof *km->restart);
    km->order = calloc((size_t)km->room, sizeof *km->order);
    if (!km->restart || !km->order)
        return err_memory(e, (size_t)km->room * sizeof *km->restart);
    size_t fit = km->rungs > 1 ? WAITING_BYTES / (2 * most) : 0;
    struct assign *shared = NULL;
    for (int i = 0; i < km->room; i++) {
        struct restart *r = km->order[i] = &km->restart[i];
        r->unshared = (size_t)i < fit;
        r->assign = !r->unshared && shared ? shared : assign_open(km->params.k, most, km->isa, e);
        if (!r->assign)
            return false;
        shared = r->unshared ? NULL : r->assign;
    }
    return true;
}

static void close_restarts(struct kmeans *km)
{
    for (int i = 0; km->restart && i < km->room; i++) {
        if (i + 1 == km->room || km->restart[i].assign != km->restart[i + 1].assign)
            assign_close(&km->restart[i].assign);
    }
    free(km->restart);
    free(km->order);
}

struct kmeans *kmeans_open(const struct kmeans_params *params, size_t pixels, enum isa isa,
                           struct err *e)
{
    size_t most = points_most(pixels);
    struct kmeans *km = err_calloc(1, sizeof *km, e);
    if (!km)
        return NULL;
    km->params = *params;
    km->isa = isa;
    km->maker = points_maker_open(pixels, km->isa, e);
    if (km->maker && points_open(&km->points, most, e))
        km->seed = seed_open(params, most, km->isa, e);
    if (!km->seed || !open_restarts(km, most, e))
        kmeans_free(&km);
    return km;
}

void kmeans_free(struct kmeans **km)
{
    if (!*km)
        return;
    points_maker_close(&(*km)->maker);
    points_close(&(*km)->points);
    seed_close(&(*km)->seed);
    close_restarts(*km);
    free(*km);
    *km = NULL;
}

/* Moves the restart at `at` to its rank among those before it. */
static void rank(struct kmeans *km, int at)
{
    struct restart *r = km->order[at];
    for (; at > 0 && restart_before(r, km->order[at - 1]); at--)
        km->order[at] = km->order[at - 1];
    km->order[at] = r;
}

/* Returns the best restart. Once the first rung is full, the lowest-ranked one is replaced. */
static const struct restart *best_restart(struct kmeans *km, uint64_t frame)
{
    int racing = 0;
    for (int i = 0; i < km->params.n_init && !interrupted(); i++) {
        struct restart *r = km->order[racing];
        uint32_t centre[CLUSTERS_MAX];
        seed_start(km->seed, &km->points, frame, i, centre);
        restart_begin(r, i, centre);
        restart_go_on(r, &km->points, km->rung[0].iterations);
        rank(km, racing);
        if (racing < km->rung[0].go_on)
            racing++;
    }
    for (int n = 1; n < km->rungs; n++) {
        for (int i = 0; i < racing; i++) {
            restart_go_on(km->order[i], &km->points, km->rung[n].iterations);
            rank(km, i);
        }
        racing = km->rung[n].go_on;
    }
    return km->order[0];
}

static int by_count_then_colour(const void *a, const void *b)
{
    const struct cluster *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return memcmp(x->rgb, y->rgb, sizeof x->rgb);
}

static int few_colours(const struct points *p, struct cluster *cluster)
{
    for (size_t i = 0; i < p->n; i++) {
        cluster[i].rgb[0] = (uint8_t)colour_red(p->colour[i]);
        cluster[i].rgb[1] = (uint8_t)colour_green(p->colour[i]);
        cluster[i].rgb[2] = (uint8_t)colour_blue(p->colour[i]);
        cluster[i].count = p->weight[i];
    }
    return (int)p->n;
}

static int clusters_of(const struct restart *r, int k, struct cluster *cluster)
{
    int found = 0;
    for (int j = 0; j < k; j++) {
        const uint64_t *sum = r->sum[j];
        if (!sum[3])
            continue;
        for (int c = 0; c < 3; c++)
            cluster[found].rgb[c] = (uint8_t)((2 * sum[c] + sum[3]) / (2 * sum[3]));
        cluster[found++].count = (uint32_t)sum[3];
    }
    return found;
}

int kmeans_run(struct kmeans *km, const uint8_t *rgb, size_t pixels, uint64_t frame,
               struct cluster *cluster, uint64_t *inertia)
{
    struct points *p = &km->points;
    int k = km->params.k, found;
    points_make(km->maker, p, rgb, pixels);
    if (inertia)
        *inertia = 0;
    if (p->n <= (size_t)k) {
        found = few_colours(p, cluster);
    } else {
        points_box(p, km->isa);
        const struct restart *best = best_restart(km, frame);
        found = interrupted() ? 0 : clusters_of(best, k, cluster);
        if (inertia)
            *inertia = best->inertia;
    }
    qsort(cluster, (size_t)found, sizeof *cluster, by_count_then_colour);
    return found;
}

/* ---- The options ---- */

#define OPTION_STRUCT struct kmeans_params

static const char *init_word(size_t i)
{
    return i <= INIT_RANDOM ? kmeans_init_name((enum kmeans_init)i) : NULL;
}

static const struct option_row rows[] = {
    {"clusters", "N", "clusters per frame, 1 to 64 (8)", 'k', OPTION_COLOURS, .common = TASK_LOOKS,
     OPTION_WHOLE(k, 1, 64)},
    {"n-init", "N", "k-means restarts; the best is kept (20)", .group = OPTION_EXPERTS,
     OPTION_WHOLE(n_init, 1, 1000)},
    {"no-race", NULL, "finish every restart, as scikit-learn does; palette and all always do",
     .group = OPTION_EXPERTS, OPTION_UNSET(race)},
    {"init", "METHOD", "seeding: scalable (default), k-means++, random", .group = OPTION_EXPERTS,
     .word_at = init_word, OPTION_WORD(init)},
    {"max-iter", "N", "limit of iterations per restart (300)", .group = OPTION_EXPERTS,
     OPTION_WHOLE(max_iter, 1, 100000)},
    {"seed", "N", "random seed (0)", .group = OPTION_EXPERTS, OPTION_WHOLE(seed, 0, UINT64_MAX)},
    {0}};

static const struct kmeans_params defaults = {
    .k = 8, .n_init = 20, .max_iter = 300, .init = INIT_SCALABLE, .seed = 0, .race = true};

const struct option_table kmeans_options = {rows, &defaults, sizeof defaults};
