/*
 * kmeans.h - k-means over the colours of one staged frame, all in integers.
 *
 * This is the definition: every instruction set and every engine gives these bytes (src/DESIGN.md,
 * "Arithmetic").
 *
 * All divisions below are of non-negative integers and round down; sums and potentials are u64.
 *
 * Points   unique 24-bit colours in ascending Morton key (bit 3i+2 = bit i of R, 3i+1 of G,
 *          3i of B), weight = how many pixels have it. Raster order cannot matter. With k or fewer
 *          of them nothing below happens: the result is these colours, inertia 0.
 * Random   Philox4x32-10 [1]: key = seed; counter = (draw, restart, frame number modulo 2^32,
 * stage); stage 0 is the random start, 1 k-means++ on points, 2 the rounds of k-means||, 3
 * k-means++ on its candidates. word 0 | word 1 << 32 is the draw's number u. A draw from weights
 * with sum T > 0 takes t = floor(u * T / 2^64) and then the first point, in order, whose inclusive
 * prefix sum exceeds t. D2       of a point: its squared distance to the nearest centre or
 * candidate so far (at most 195,075). The potential is sum weight * D2. Start    gives centre 0, 1,
 * ... k - 1, each a colour of the frame; n-th draw: draw = n, from 0. random (stage 0): for c in
 * 0..k-1, draw c from the weights, those of points already drawn counting as 0. k-means++ (stage 1)
 * [2], greedy [3], on any weighted points: centre 0 is draw 0 from the weights. For centre c
 * = 1..k-1: L = 2 + floor(ln k) trials, draws 1 + (c-1) L + i for i in 0..L-1, from weight * D2;
 * the trial that would leave the smallest potential becomes the centre, ties to the lower i.
 *          scalable (k-means||) [4], stage 2: candidate 0 is draw 0 from the weights. For round r =
 * 0..4, unless the potential is 0: draws 1 + 2kr + i for i in 0..2k-1 from weight * D2 as it stood
 * at the start of the round; a point drawn before in the round is dropped, the others become
 *          candidates in the order of their draws. If there are fewer than k candidates then, the
 * first points that are none become candidates, in order, up to k. A candidate's weight is the
 * number of pixels nearest to it (ties to the lower candidate). The centres are those of k-means++
 * above, stage 3, on the candidates in their order. Assign   b = ceil(log2 k), f = 8 - b. A
 * centroid is q = S * 2^f / n rounded half up, that is (S * 2^f + n / 2) / n, minus 127 * 2^f, for
 * each channel; a starting centre has S = colour, n = 1. x = colour - 127; h = |q|^2 / 2^(f+1); the
 * point goes to the lowest ((h - x.q) * 2^b) + index. All of it fits int32. Update   S = sum of
 * weight * colour, n = sum of weight, for each cluster. An empty cluster keeps its q. Stop     An
 * iteration is assign + update [5]. Its inertia, in units of 2^-16, is 2^16 * sum w|colour|^2 -
 *          sum_j (2^16 * |S_j|^2) / n_j over the non-empty clusters. A restart ends with the first
 * iteration whose inertia is not below that of the one before, or after max_iter iterations; the
 * clustering that counts is the last that lowered it. Race     with `race` and n_init of 5 or more,
 * by successive halving [6]: after 5 iterations the (n_init + 1) / 2 restarts of the smallest
 * inertia go on, after 12 the (n_init + 4) / 5 of them, ties to the lower restart; the others are
 * left as they are. A restart that has ended keeps its place in the order. Else every restart goes
 * on to its end. Choose   the smallest inertia over restarts 0..n_init-1, ties to the lower
 * restart. It is never that of a restart left in the race: one that goes on is before it in the
 * same order, and its inertia only falls. Result   non-empty clusters: centroid round(S / n) = (2S
 * + n) / 2n, pixel count; sorted by count descending, then 0xRRGGBB ascending.
 *
 * Why so:
 *   A sum of integers is the same in any order, whatever threads, vectors and atomics do, and
 * whether all is summed or only what changed. A sum of floats is not. |x - q / 2^f|^2 = |x|^2 +
 * 2^(1-f) * (|q|^2 / 2^(f+1) - x.q): the lowest score is the nearest centroid. h is rounded down,
 *   so that a near tie may go to the other one: 4 of 1,000,000 random points do.
 *   The score times 2^b has room for the index. One minimum finds the winner then, and gives ties
 * to the lower index. q times 2^b fits int16 and a colour fits 8 bits: vpmaddwd, vpdpwssd and dp2a
 * multiply and add just these. Negated, it fits because 127 is taken off: with 128 that of a black
 * centroid would be 32768, and black bars are common. The inertia falls strictly or the restart
 * ends: every restart ends, and no labels are compared. A draw's probability is off by T / 2^64 at
 * most: 2^-25 for a frame of 1080p. After five iterations the order of the restarts is nearly
 * settled, and most of the iterations are still to come: 28 % of them are left to do at k 8 and
 * n_init 20. How near the result comes to that without a race: tests/bench/README.md. As published,
 * a round of k-means|| draws each point on its own, 2k of them on average with an oversampling of
 * 2k. Here it draws 2k times, so that memory for the candidates has a bound.
 *
 * [1] Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
 * [2] Arthur, Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.
 * [3] Of several trials the best: proposed at the end of [2], and what scikit-learn does. Grunau,
 * Ozudogru, Rozhon, Tetek, "A nearly tight analysis of greedy k-means++", SODA 2023. [4] Bahmani,
 * Moseley, Vattani, Kumar, Vassilvitskii, "Scalable k-means++", PVLDB 5(7), 2012. [5] Lloyd, "Least
 * squares quantization in PCM", IEEE Transactions on Information Theory 28(2), 1982. Equal colours
 * merged into weights: Celebi, "Improving the performance of k-means for color quantization", Image
 * and Vision Computing 29(4), 2011. [6] Jamieson, Talwalkar, "Non-stochastic best arm
 * identification and hyperparameter optimization", AISTATS 2016.
 */
#ifndef BARCODE_KMEANS_H
#define BARCODE_KMEANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/base/isa.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CLUSTERS_MAX = 64 };

/* One colour of a column: the centroid round(S / n) and the pixels nearest to it. */
struct cluster {
    uint8_t rgb[3];
    uint32_t count;
};

enum kmeans_init { INIT_SCALABLE, INIT_PLUSPLUS, INIT_RANDOM };

struct kmeans_params {
    int k;        /* 1..64 */
    int n_init;   /* restarts, 1..1000 */
    int max_iter; /* 1..100000 */
    enum kmeans_init init;
    uint64_t seed;
    /* restarts that fall behind are left; else each goes on to its end, as in scikit-learn */
    bool race;
};

/* A rung of the race: restarts go on to `iterations` of them, and of these restarts `go_on` to the
 * next rung. */
struct kmeans_rung {
    int iterations, go_on;
};

enum { KMEANS_RUNGS = 3 };

/*
 * The rungs that restarts with these params take ("Race"); returns how many (1..KMEANS_RUNGS).
 * Iterations and restarts are 1 or more; iterations rise, restarts do not. The last rung ends at
 * max_iter and leaves one restart. Any thread.
 */
int kmeans_rungs(const struct kmeans_params *params, struct kmeans_rung rung[KMEANS_RUNGS]);

/*
 * Fractional bits of an inertia. Whole units would do for a photograph, but on a nearly flat frame
 * all of the inertia is a few units, and what rounding hides then decides between restarts (seen: 4
 * % off).
 */
enum { INERTIA_FRACTION = 16 };

struct kmeans;

/*
 * A workspace for one thread, for frames of at most `pixels` (1..2^28) pixels. Allocates
 * everything that kmeans_run will need; `params` is copied. `isa` must be supported; a workspace of
 * more than 2^24 pixels works in plain C. Memory: some 30 bytes a pixel up to 2^22 pixels, and up
 * to 16 MiB for restarts that wait in a race. NULL when memory runs out.
 */
struct kmeans *kmeans_open(const struct kmeans_params *params, size_t pixels, enum isa isa,
                           struct err *e);

/*
 * Clusters rgb[pixels][3] (1 <= pixels <= the workspace's). `frame` feeds the random
 * numbers. Fills cluster[0..k'), k of them at most, and returns k' (1..k). *inertia (may be NULL)
 * gets the inertia of the result in units of 2^-INERTIA_FRACTION. Cannot fail. Gives up once
 * interrupted() is true, because a large frame may take minutes; the result then means nothing.
 */
int kmeans_run(struct kmeans *km, const uint8_t *rgb, size_t pixels, uint64_t frame,
               struct cluster *cluster, uint64_t *inertia);

/* Frees the workspace; sets *km to NULL. NULL is fine. */
void kmeans_free(struct kmeans **km);

const char *kmeans_init_name(enum kmeans_init init); /* "scalable", "k-means++", "random" */

#ifdef __cplusplus
}
#endif
#endif
