#include "assign.h"

#include <string.h>

#include "base/interrupt.h"

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
