#include "barcode/kmeans.h"

#include <stdlib.h>
#include <string.h>

#include "assign.h"
#include "barcode/interrupt.h"
#include "barcode/points.h"
#include "barcode/seed.h"

/* The vector versions sum in 32 bits: 2^24 * 255 still fits. */
#define PIXELS_VECTOR ((size_t)1 << 24)

__extension__ typedef unsigned __int128 wide;

/* One clustering: sums and counts, and its inertia. */
struct outcome {
    uint64_t sum[CLUSTERS_MAX][4];
    uint64_t inertia;
};

struct kmeans {
    struct kmeans_params params;
    enum isa isa;                    /* ISA_C for a workspace beyond PIXELS_VECTOR */
    struct points_maker *maker;
    struct points points;
    struct seed *seed;
    struct assign *assign;
    struct outcome last, best;       /* of the restart under way; of all restarts  */
};

const char *kmeans_init_name(enum kmeans_init init)
{
    static const char *const names[] = {"scalable", "k-means++", "random"};
    return (unsigned)init <= INIT_RANDOM ? names[init] : "?";
}

struct kmeans *kmeans_open(const struct kmeans_params *params, size_t pixels, enum isa isa, struct err *e)
{
    size_t most = points_most(pixels);
    struct kmeans *km = calloc(1, sizeof *km);
    if (!km) {
        err_memory(e, sizeof *km);
        return NULL;
    }
    km->params = *params;
    km->isa = pixels <= PIXELS_VECTOR ? isa : ISA_C;
    km->maker = points_maker_open(pixels, e);
    if (km->maker && points_open(&km->points, most, e))
        km->seed = seed_open(params, most, km->isa, e);
    if (km->seed)
        km->assign = assign_open(params->k, most, km->isa, e);
    if (!km->assign)
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
    assign_close(&(*km)->assign);
    free(*km);
    *km = NULL;
}

/* Division by the same n several times: one division, then products. */
struct divisor {
    uint64_t n, inverse;
};

static struct divisor divisor_of(uint64_t n)
{
    return (struct divisor){n, UINT64_MAX / n};
}

/* floor(x / n), exact: the estimate is at most 2 too low. */
static uint64_t divide(uint64_t x, struct divisor d)
{
    uint64_t quotient = (uint64_t)((wide)x * d.inverse >> 64);
    uint64_t rest = x - quotient * d.n;
    while (rest >= d.n) {
        rest -= d.n;
        quotient++;
    }
    return quotient;
}

/*
 * q of a cluster from its sums, and |S|^2 / n in units of 2^-INERTIA_FRACTION, rounded down. With S = a n + r,
 * S^2 / n = a^2 n + 2 a r + r^2 / n: nothing passes 64 bits up to n = 2^28.
 */
static uint64_t settle(const uint64_t sum[4], int f, int32_t q[3])
{
    struct divisor n = divisor_of(sum[3]);
    uint64_t whole = 0, rest = 0;
    for (int c = 0; c < 3; c++) {
        uint64_t a = divide(sum[c], n), r = sum[c] - a * n.n;
        q[c] = (int32_t)(a << f) + (int32_t)divide((r << f) + n.n / 2, n) - 127 * (1 << f);
        whole += a * a * n.n + 2 * a * r;
        rest += r * r;
    }
    uint64_t unit = divide(rest, n);
    return ((whole + unit) << INERTIA_FRACTION) + divide((rest - unit * n.n) << INERTIA_FRACTION, n);
}

/* The update step: new centroids from the sums, and the inertia of the clustering that the sums describe. */
static uint64_t update(struct assign *a, const struct points *p)
{
    uint64_t explained = 0;
    for (int j = 0; j < a->k; j++)
        if (a->sum[j][3])
            explained += settle(a->sum[j], 8 - a->bits, a->q[j]);
    return (p->square << INERTIA_FRACTION) - explained;
}

/* One restart from `centre`; leaves the clustering that counts in km->last. */
static void restart(struct kmeans *km, const uint32_t *centre)
{
    struct assign *a = km->assign;
    int one = 1 << (8 - a->bits);
    for (int j = 0; j < a->k; j++) {
        a->q[j][0] = (colour_red(centre[j]) - 127) * one;
        a->q[j][1] = (colour_green(centre[j]) - 127) * one;
        a->q[j][2] = (colour_blue(centre[j]) - 127) * one;
    }
    km->last.inertia = UINT64_MAX;
    for (int i = 0; i < km->params.max_iter && !interrupted(); i++) {
        assign_step(a, &km->points, i == 0);
        uint64_t inertia = update(a, &km->points);
        if (inertia >= km->last.inertia)
            break;
        km->last.inertia = inertia;
        memcpy(km->last.sum, a->sum, sizeof a->sum);
    }
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

static int clusters_of(const struct outcome *o, int k, struct cluster *cluster)
{
    int found = 0;
    for (int j = 0; j < k; j++) {
        const uint64_t *sum = o->sum[j];
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
    km->best.inertia = 0;
    if (p->n <= (size_t)k) {
        found = few_colours(p, cluster);
    } else {
        km->best.inertia = UINT64_MAX;
        points_box(p, km->isa);
        for (int i = 0; i < km->params.n_init && !interrupted(); i++) {
            uint32_t centre[CLUSTERS_MAX];
            seed_start(km->seed, p, frame, i, centre);
            restart(km, centre);
            if (km->last.inertia < km->best.inertia)
                km->best = km->last;
        }
        found = interrupted() ? 0 : clusters_of(&km->best, k, cluster);
    }
    qsort(cluster, (size_t)found, sizeof *cluster, by_count_then_colour);
    if (inertia)
        *inertia = km->best.inertia;
    return found;
}
