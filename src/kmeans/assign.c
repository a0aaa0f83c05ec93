#include "assign.h"

#include <stdlib.h>
#include <string.h>

#include "kmeans_vector.h"
#include "base/interrupt.h"

/* Allocates the state, zeroed: what is beyond the last block is loaded too. */
static bool open_vectors(struct assign *a, size_t padded)
{
    size_t groups = padded / POINTS_GROUP_LEAST, blocks = groups / POINTS_BLOCK;
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        a->slack[i] = kmeans_lines_zeroed(groups * sizeof *a->slack[i]);
        a->least[i] = kmeans_lines_zeroed(blocks * sizeof *a->least[i]);
        a->due[i] = kmeans_lines_zeroed(blocks * sizeof *a->due[i]);
        a->rivals[i] = kmeans_lines_zeroed(blocks * sizeof *a->rivals[i]);
        ok = ok && a->slack[i] && a->least[i] && a->due[i] && a->rivals[i];
    }
    a->kind = kmeans_lines_zeroed(blocks * sizeof *a->kind);
    a->label = kmeans_lines(padded);
    return ok && a->kind && a->label;
}

struct assign *assign_open(int k, size_t capacity, enum isa isa, struct err *e)
{
    size_t padded = (capacity + POINTS_STEP - 1) / POINTS_STEP * POINTS_STEP;
    struct assign *a = kmeans_lines_zeroed(sizeof *a);
    if (!a) {
        err_memory(e, sizeof *a);
        return NULL;
    }
    a->vector = kmeans_vector_of(isa);
    a->k = k;
    while (1 << a->bits < k)
        a->bits++;
    if (open_vectors(a, padded))
        return a;
    assign_close(&a);
    err_memory(e, padded);
    return NULL;
}

void assign_close(struct assign **a)
{
    if (!*a)
        return;
    free((*a)->label);
    for (int i = 0; i < 2; i++) {
        free((*a)->slack[i]);
        free((*a)->least[i]);
        free((*a)->due[i]);
        free((*a)->rivals[i]);
    }
    free((*a)->kind);
    free(*a);
    *a = NULL;
}

int32_t assign_constant(const int32_t q[3], int bits, int index)
{
    int64_t square = (int64_t)q[0] * q[0] + (int64_t)q[1] * q[1] + (int64_t)q[2] * q[2];
    int32_t h = (int32_t)(square / (1 << (9 - bits)));
    return (h + 127 * (q[0] + q[1] + q[2])) * (1 << bits) + index;
}

/* Packs two int16 into a word. */
static uint32_t pair(int low, int high) { return (uint16_t)low | (uint32_t)(uint16_t)high << 16; }

static void load_one(struct assign *a, int j)
{
    const int32_t *q = a->q[j];
    int scale = 1 << a->bits;
    a->now.constant[j] = assign_constant(q, a->bits, j) + ASSIGN_RAISED;
    a->now.twice[j] = 2 * (a->now.constant[j] - j) + j;
    a->now.rb[j] = pair(-q[0] * scale, -q[2] * scale);
    a->now.g[j] = pair(-q[1] * scale, 0);
    a->now.half_rb[j] = pair(-q[0] * scale / 2, -q[2] * scale / 2);
    a->now.half_g[j] = pair(-q[1] * scale / 2, 0);
}

/* Returns the difference of two int16; sets *far if that of two such would not fit. */
static uint16_t int16_gap(uint32_t a, uint32_t b, bool *far)
{
    int gap = (int16_t)(uint16_t)a - (int16_t)(uint16_t)b;
    *far |= abs(gap) > INT16_MAX / 2;
    return (uint16_t)gap;
}

/* Computes now, moved and far from q. */
static void load_centroids(struct assign *a, bool first)
{
    a->far = false;
    for (int j = 0; j < a->k; j++) {
        int32_t constant = a->now.constant[j];
        uint32_t rb = a->now.rb[j], g = a->now.g[j];
        load_one(a, j);
        if (first)
            continue;
        a->moved.twice[j] = 2 * (a->now.constant[j] - constant);
        a->moved.rb[j] = int16_gap(a->now.rb[j], rb, &a->far) |
                         (uint32_t)int16_gap(a->now.rb[j] >> 16, rb >> 16, &a->far) << 16;
        a->moved.g[j] = int16_gap(a->now.g[j], g, &a->far);
    }
}

void assign_step(struct assign *a, const struct points *p, bool first)
{
    a->p = p;
    load_centroids(a, first);
    a->vector->step(a, first);
    for (int j = 0; j < a->k; j++)
        for (int c = 0; c < 4; c++)
            a->sum[j][c] = a->total[0][j][c] + a->total[1][j][c];
}

/* ---- A restart ---- */

__extension__ typedef unsigned __int128 wide;

/* For several divisions by the same n: one division, then multiplications. */
struct divisor {
    uint64_t n, inverse;
};

static struct divisor divisor_of(uint64_t n) { return (struct divisor){n, UINT64_MAX / n}; }

/* Returns floor(x / n), exactly. The estimate is at most 2 too low. */
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
 * Computes q of a cluster from its sums. Returns |S|^2 / n in units of 2^-INERTIA_FRACTION, rounded
 * down. With S = a n + r, S^2 / n = a^2 n + 2 a r + r^2 / n, and nothing exceeds 64 bits up to n =
 * 2^28.
 */
static uint64_t centroid_of(const uint64_t sum[4], int f, int32_t q[3])
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
    return ((whole + unit) << INERTIA_FRACTION) +
           divide((rest - unit * n.n) << INERTIA_FRACTION, n);
}

/* Computes new centroids from the sums. Returns the inertia of the clustering with these sums. */
static uint64_t update(struct assign *a, const struct points *p)
{
    uint64_t explained = 0;
    for (int j = 0; j < a->k; j++)
        if (a->sum[j][3])
            explained += centroid_of(a->sum[j], 8 - a->bits, a->q[j]);
    return (p->square << INERTIA_FRACTION) - explained;
}

void restart_begin(struct restart *r, int number, const uint32_t *centre)
{
    int one = 1 << (8 - r->assign->bits);
    for (int j = 0; j < r->assign->k; j++) {
        r->q[j][0] = (colour_red(centre[j]) - 127) * one;
        r->q[j][1] = (colour_green(centre[j]) - 127) * one;
        r->q[j][2] = (colour_blue(centre[j]) - 127) * one;
    }
    r->number = number;
    r->iterations = 0;
    r->ended = false;
    r->inertia = UINT64_MAX;
}

void restart_go_on(struct restart *r, const struct points *p, int iterations)
{
    struct assign *a = r->assign;
    size_t k = (size_t)a->k;
    bool first = r->iterations == 0 || !r->unshared;
    memcpy(a->q, r->q, k * sizeof *a->q);
    for (; !r->ended && r->iterations < iterations && !interrupted(); r->iterations++) {
        assign_step(a, p, first);
        first = false;
        uint64_t inertia = update(a, p);
        r->ended = inertia >= r->inertia;
        if (r->ended)
            continue;
        r->inertia = inertia;
        memcpy(r->sum, a->sum, k * sizeof *a->sum);
    }
    memcpy(r->q, a->q, k * sizeof *a->q);
}
