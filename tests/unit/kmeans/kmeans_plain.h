/*
 * kmeans_plain.h - the k-means of kmeans.h in plain loops over all points: what every instruction
 * set is compared with.
 */
#ifndef TEST_KMEANS_PLAIN_H
#define TEST_KMEANS_PLAIN_H

#include "kmeans_pictures.h"
#include "barcode/kmeans/seed.h"
#include "kmeans/assign.h"

__extension__ typedef unsigned __int128 wide;

/* ---- The start ---- */

struct draws {
    uint64_t seed;
    uint32_t restart, frame, stage;
};

static inline uint64_t u_of(const struct draws *s, int draw)
{
    return philox_u64(s->seed, (uint32_t)draw, s->restart, s->frame, s->stage);
}

static inline uint32_t distance2(uint32_t a, uint32_t b)
{
    int r = colour_red(a) - colour_red(b), g = colour_green(a) - colour_green(b),
        u = colour_blue(a) - colour_blue(b);
    return (uint32_t)(r * r + g * g + u * u);
}

/* Points, and each one's nearest candidate. */
struct plain_points {
    size_t n;
    const uint32_t *colour, *weight;
    uint32_t *d2, *nearest;
};

static inline struct plain_points plain_points(size_t n, const uint32_t *colour,
                                               const uint32_t *weight)
{
    struct plain_points p = {n, colour, weight, malloc(n * sizeof *p.d2),
                             calloc(n, sizeof *p.nearest)};
    assert_true(p.d2 && p.nearest);
    memset(p.d2, 255, n * sizeof *p.d2);
    return p;
}

static inline void plain_free(struct plain_points *p)
{
    free(p->d2);
    free(p->nearest);
}

static inline void plain_add(struct plain_points *p, uint32_t colour, uint32_t number)
{
    for (size_t i = 0; i < p->n; i++) {
        uint32_t d = distance2(p->colour[i], colour);
        if (d < p->d2[i]) {
            p->d2[i] = d;
            p->nearest[i] = number;
        }
    }
}

/* Returns what the potential would be with one more candidate. */
static inline uint64_t plain_try(const struct plain_points *p, uint32_t colour)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < p->n; i++) {
        uint32_t d = distance2(p->colour[i], colour);
        sum += (uint64_t)p->weight[i] * (d < p->d2[i] ? d : p->d2[i]);
    }
    return sum;
}

static inline uint64_t plain_potential(const struct plain_points *p)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < p->n; i++)
        sum += (uint64_t)p->weight[i] * p->d2[i];
    return sum;
}

/* Returns the first point whose prefix sum of weight * D2 exceeds t; without `far`, of weight. */
static inline size_t plain_find(const struct plain_points *p, bool far, uint64_t t)
{
    for (size_t i = 0;; i++) {
        uint64_t here = p->weight[i] * (far ? (uint64_t)p->d2[i] : 1);
        if (t < here)
            return i;
        t -= here;
    }
}

static inline size_t plain_draw(const struct plain_points *p, uint64_t u)
{
    return plain_find(p, true, seed_scale(u, plain_potential(p)));
}

static inline size_t plain_first(const struct plain_points *p, uint64_t u)
{
    uint64_t total = 0;
    for (size_t i = 0; i < p->n; i++)
        total += p->weight[i];
    return plain_find(p, false, seed_scale(u, total));
}

static inline void plain_plusplus(struct plain_points p, const struct draws *s, int k,
                                  uint32_t *centre)
{
    int trials = seed_trials(k);
    centre[0] = p.colour[plain_first(&p, u_of(s, 0))];
    for (int c = 1; c < k; c++) {
        uint64_t least = UINT64_MAX;
        plain_add(&p, centre[c - 1], 0);
        for (int i = 0; i < trials; i++) {
            uint32_t trial = p.colour[plain_draw(&p, u_of(s, 1 + (c - 1) * trials + i))];
            uint64_t potential = plain_try(&p, trial);
            if (potential < least) {
                least = potential;
                centre[c] = trial;
            }
        }
    }
    plain_free(&p);
}

static inline bool is_among(const uint32_t *colour, int count, uint32_t c)
{
    for (int i = 0; i < count; i++)
        if (colour[i] == c)
            return true;
    return false;
}

static inline void plain_scalable(struct plain_points p, struct draws s, int k, uint32_t *centre)
{
    uint32_t colour[SEED_CANDIDATES], weight[SEED_CANDIDATES] = {0};
    int count = 1;
    s.stage = STAGE_ROUNDS;
    colour[0] = p.colour[plain_first(&p, u_of(&s, 0))];
    plain_add(&p, colour[0], 0);
    for (int r = 0; r < SEED_ROUNDS && plain_potential(&p) > 0; r++) {
        int before = count;
        for (int i = 0; i < 2 * k; i++) {
            uint32_t c = p.colour[plain_draw(&p, u_of(&s, 1 + 2 * k * r + i))];
            if (!is_among(colour + before, count - before, c))
                colour[count++] = c;
        }
        for (; before < count; before++)
            plain_add(&p, colour[before], (uint32_t)before);
    }
    for (size_t i = 0; count < k; i++)
        if (!is_among(colour, count, p.colour[i])) {
            plain_add(&p, p.colour[i], (uint32_t)count);
            colour[count++] = p.colour[i];
        }
    for (size_t i = 0; i < p.n; i++)
        weight[p.nearest[i]] += p.weight[i];
    plain_free(&p);
    s.stage = STAGE_RECLUSTER;
    plain_plusplus(plain_points((size_t)count, colour, weight), &s, k, centre);
}

static inline void plain_random(const struct plain_points *p, const struct draws *s, int k,
                                uint32_t *centre)
{
    uint64_t total = 0;
    for (size_t i = 0; i < p->n; i++) {
        p->d2[i] = 1;
        total += p->weight[i];
    }
    for (int c = 0; c < k; c++) {
        size_t i = plain_find(p, true, seed_scale(u_of(s, c), total));
        centre[c] = p->colour[i];
        p->d2[i] = 0;
        total -= p->weight[i];
    }
}

static inline void plain_start(const struct points *points, const struct kmeans_params *params,
                               uint64_t frame, int restart, uint32_t *centre)
{
    struct plain_points p = plain_points(points->n, points->colour, points->weight);
    struct draws s = {params->seed, (uint32_t)restart, (uint32_t)frame, STAGE_RANDOM};
    if (params->init == INIT_SCALABLE) {
        plain_scalable(p, s, params->k, centre);
    } else if (params->init == INIT_PLUSPLUS) {
        s.stage = STAGE_PLUSPLUS;
        plain_plusplus(p, &s, params->k, centre);
    } else {
        plain_random(&p, &s, params->k, centre);
        plain_free(&p);
    }
}

/* ---- Assign, update, stop ---- */

/* Returns P_j of a colour word, as assign.h defines it. */
static inline int32_t plain_score(int32_t constant, const int32_t q[3], int bits, uint32_t colour)
{
    int32_t dot =
        q[0] * colour_red(colour) + q[1] * colour_green(colour) + q[2] * colour_blue(colour);
    return constant - dot * (1 << bits);
}

static inline void plain_sums(const struct points *p, int k, int bits, const int32_t (*q)[3],
                              uint64_t (*sum)[4])
{
    int32_t constant[CLUSTERS_MAX];
    for (int j = 0; j < k; j++)
        constant[j] = assign_constant(q[j], bits, j);
    memset(sum, 0, CLUSTERS_MAX * sizeof *sum);
    for (size_t i = 0; i < p->n; i++) {
        int32_t best = INT32_MAX;
        for (int j = 0; j < k; j++) {
            int32_t score = plain_score(constant[j], q[j], bits, p->colour[i]);
            best = score < best ? score : best;
        }
        for (int c = 0; c < 4; c++)
            sum[best & ((1 << bits) - 1)][c] +=
                (uint64_t)p->weight[i] * (p->colour[i] >> 8 * c & 255);
    }
}

struct plain_restart {
    int number, iterations;
    bool ended;
    int32_t q[CLUSTERS_MAX][3];
    uint64_t sum[CLUSTERS_MAX][4], inertia;
};

static inline int bits_of(int k)
{
    int bits = 0;
    while (1 << bits < k)
        bits++;
    return bits;
}

/* Sets q to the centroid of sums S and returns 2^16 |S|^2 / n. */
static inline uint64_t plain_centroid(const uint64_t s[4], int f, int32_t q[3])
{
    wide square = 0;
    for (int c = 0; c < 3; c++) {
        q[c] = (int32_t)(((s[c] << f) + s[3] / 2) / s[3]) - 127 * (1 << f);
        square += (wide)s[c] * s[c];
    }
    return (uint64_t)((square << INERTIA_FRACTION) / s[3]);
}

static inline void plain_begin(struct plain_restart *r, int k, int number, const uint32_t *centre)
{
    *r = (struct plain_restart){.number = number, .inertia = UINT64_MAX};
    for (int j = 0; j < k; j++) {
        const uint64_t one[4] = {(uint64_t)colour_red(centre[j]), (uint64_t)colour_green(centre[j]),
                                 (uint64_t)colour_blue(centre[j]), 1};
        plain_centroid(one, 8 - bits_of(k), r->q[j]);
    }
}

static inline void plain_go_on(struct plain_restart *r, const struct points *p, int k,
                               int iterations)
{
    for (; !r->ended && r->iterations < iterations; r->iterations++) {
        uint64_t sum[CLUSTERS_MAX][4], inertia = p->square << INERTIA_FRACTION;
        plain_sums(p, k, bits_of(k), (const int32_t(*)[3])r->q, sum);
        for (int j = 0; j < k; j++)
            if (sum[j][3])
                inertia -= plain_centroid(sum[j], 8 - bits_of(k), r->q[j]);
        r->ended = inertia >= r->inertia;
        if (r->ended)
            continue;
        r->inertia = inertia;
        memcpy(r->sum, sum, sizeof sum);
    }
}

/* ---- Race, choose, result ---- */

static inline int by_inertia(const void *a, const void *b)
{
    const struct plain_restart *x = a, *y = b;
    if (x->inertia != y->inertia)
        return x->inertia < y->inertia ? -1 : 1;
    return x->number - y->number;
}

/* Sorts the first `in` restarts by rank, then the next. */
static inline void plain_best(const struct points *p, const struct kmeans_params *params,
                              uint64_t frame, struct plain_restart *best)
{
    int n = params->n_init;
    struct kmeans_rung rung[KMEANS_RUNGS];
    struct plain_restart *all = malloc((size_t)n * sizeof *all);
    assert_non_null(all);
    for (int i = 0; i < n; i++) {
        uint32_t centre[CLUSTERS_MAX];
        plain_start(p, params, frame, i, centre);
        plain_begin(&all[i], params->k, i, centre);
    }
    for (int i = 0, rungs = kmeans_rungs(params, rung); i < rungs; n = rung[i++].go_on) {
        for (int j = 0; j < n; j++)
            plain_go_on(&all[j], p, params->k, rung[i].iterations);
        qsort(all, (size_t)n, sizeof *all, by_inertia);
    }
    *best = all[0];
    free(all);
}

static inline int by_count(const void *a, const void *b)
{
    const struct cluster *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return memcmp(x->rgb, y->rgb, 3);
}

static inline struct result plain_clusters(const struct points *p,
                                           const struct kmeans_params *params, uint64_t frame)
{
    struct plain_restart best = {.inertia = 0};
    struct result r = {.found = 0};
    if (p->n > (size_t)params->k)
        plain_best(p, params, frame, &best);
    for (size_t i = 0; p->n <= (size_t)params->k && i < p->n; i++)
        for (int c = 0; c < 4; c++)
            best.sum[i][c] = (uint64_t)p->weight[i] * (p->colour[i] >> 8 * c & 255);
    for (int j = 0; j < params->k; j++) {
        const uint64_t *s = best.sum[j];
        if (!s[3])
            continue;
        for (int c = 0; c < 3; c++)
            r.cluster[r.found].rgb[c] = (uint8_t)((2 * s[c] + s[3]) / (2 * s[3]));
        r.cluster[r.found++].count = (uint32_t)s[3];
    }
    r.inertia = best.inertia;
    qsort(r.cluster, (size_t)r.found, sizeof *r.cluster, by_count);
    return r;
}

static inline struct result plain_run(const struct kmeans_params *params, const uint8_t *rgb,
                                      size_t pixels, uint64_t frame)
{
    struct err e = ERR_INIT;
    struct points p;
    struct points_maker *maker = points_maker_open(pixels, ISA_BASE, &e);
    assert_true(maker && points_open(&p, points_most(pixels), &e));
    points_make(maker, &p, rgb, pixels);
    struct result r = plain_clusters(&p, params, frame);
    points_close(&p);
    points_maker_close(&maker);
    return r;
}

/* Compares every instruction set with plain loops, and what must hold for any result. */
static inline void compare(const struct kmeans_params *p, const uint8_t *rgb, size_t pixels)
{
    struct result want = plain_run(p, rgb, pixels, 5);
    assert_wellformed(&want, p->k, pixels);
    for (int isa = ISA_BASE; isa <= ISA_VNNI && isa_supported((enum isa)isa); isa++) {
        struct result got = run(p, (enum isa)isa, rgb, pixels);
        assert_same(&got, &want);
    }
}

#endif
