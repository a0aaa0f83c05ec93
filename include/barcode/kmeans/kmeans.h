/*
 * kmeans.h - k-means over the colours of one analysis frame, in integers only.
 *
 * This is the definition: every instruction set and every engine gives these bytes (src/DESIGN.md,
 * "Arithmetic").
 *
 * All divisions below are of non-negative integers and round down. Sums and potentials are u64.
 *
 *   Points   The frame's distinct 24-bit colours in ascending Morton key (bit 3i+2 = bit i of R,
 *            3i+1 of G, 3i of B). A point's weight is the number of pixels of that colour. Raster
 *            order does not matter. If there are k points or fewer, the result is these colours
 *            with inertia 0, and nothing below happens.
 *   Random   Philox4x32-10 [1]: key = seed; counter = (draw, restart, frame number modulo 2^32,
 *            stage). Stage 0 is the random start, 1 k-means++ on points, 2 the rounds of
 *            k-means||, 3 k-means++ on its candidates. word 0 | word 1 << 32 is the draw's number
 *            u. A draw from weights with sum T > 0 computes t = floor(u * T / 2^64) and selects
 *            the first point, in order, whose inclusive prefix sum exceeds t.
 *   D2       A point's squared distance to the nearest centre or candidate so far (at most
 *            195,075). The potential is sum weight * D2.
 *   Start    gives centres 0, 1, ... k - 1, each a colour of the frame. The n-th draw, from 0,
 *            has draw = n.
 *            random (stage 0): for c in 0..k-1, draw c from the weights, where points already
 *            drawn count as 0.
 *            k-means++ (stage 1) [2], greedy [3], on any weighted points: centre 0 is draw 0 from
 *            the weights. For centre c = 1..k-1 there are L = 2 + floor(ln k) trials, draws
 *            1 + (c-1) L + i for i in 0..L-1, from weight * D2. The trial that would leave the
 *            smallest potential becomes the centre, ties to the lower i.
 *            scalable (k-means||) [4], stage 2: candidate 0 is draw 0 from the weights. For round
 *            r = 0..4, unless the potential is 0: draws 1 + 2kr + i for i in 0..2k-1 from
 *            weight * D2 as at the start of the round. A point drawn before in the round is
 *            dropped; the others become candidates in the order of their draws. If there are then
 *            fewer than k candidates, the first points that are not candidates are appended, in
 *            order, up to k. A candidate's weight is the number of pixels nearest to it (ties to
 *            the lower candidate). The centres are those of k-means++ above, stage 3, on the
 *            candidates in their order.
 *   Assign   b = ceil(log2 k), f = 8 - b. For each channel, a centroid is q = S * 2^f / n rounded
 *            half up, that is (S * 2^f + n / 2) / n, minus 127 * 2^f. A starting centre has
 *            S = colour, n = 1. x = colour - 127; h = |q|^2 / 2^(f+1). The point goes to the
 *            lowest ((h - x.q) * 2^b) + index. All of it fits int32.
 *   Update   For each cluster, S = sum of weight * colour and n = sum of weight. An empty cluster
 *            keeps its q.
 *   Stop     An iteration is assign + update [5]. Its inertia, in units of 2^-16, is
 *            2^16 * sum w|colour|^2 - sum_j (2^16 * |S_j|^2) / n_j over the non-empty clusters. A
 *            restart ends with the first iteration whose inertia is not below the previous one,
 *            or after max_iter iterations. Its result is the last clustering that lowered the
 *            inertia.
 *   Race     With `race` and n_init of 5 or more, restarts are eliminated by successive halving
 *            [6]. After 5 iterations the (n_init + 1) / 2 restarts of the smallest inertia
 *            continue, after 12 iterations (n_init + 4) / 5 of them, ties to the lower restart.
 *            A restart that has ended keeps its rank. Without a race every restart continues to
 *            its end.
 *   Choose   The smallest inertia over restarts 0..n_init-1, ties to the lower restart. An
 *            eliminated restart is never chosen: a continuing one ranks before it, and inertia
 *            only falls.
 *   Result   The non-empty clusters: centroid round(S / n) = (2S + n) / 2n, pixel count; sorted by
 *            count descending, then 0xRRGGBB ascending.
 *
 * Reasons:
 *
 * - A sum of integers is the same in any order, regardless of threads, vectors and atomics, and
 *   whether everything is summed or only the changes. A sum of floats is not.
 * - |x - q / 2^f|^2 = |x|^2 + 2^(1-f) * (|q|^2 / 2^(f+1) - x.q), so the lowest score is the nearest
 *   centroid. h is rounded down, so that a near tie may go to the other centroid.
 * - The score times 2^b has room for the index. So one minimum finds the nearest centroid and gives
 *   ties to the lower index.
 * - q times 2^b fits int16 and a colour fits 8 bits, as vpmaddwd, vpdpwssd and dp2a need.
 *   Subtracting 127 keeps the negated q in range too: with 128, that of a black centroid would be
 *   32768.
 * - The inertia falls strictly or the restart ends. So every restart ends, and no labels are
 *   compared.
 * - A draw's probability is off by T / 2^64 at most.
 * - After five iterations the ranking of the restarts hardly changes, but most of the iterations
 *   are still to come. tests/bench/README.md compares results with and without a race.
 * - The published k-means|| draws each point independently, 2k of them on average with an
 *   oversampling of 2k. Exactly 2k draws bound the memory for candidates.
 *
 * [1] Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
 * [2] Arthur, Vassilvitskii, "k-means++: the advantages of careful seeding", SODA 2007.
 * [3] The best of several trials: proposed at the end of [2] and used by scikit-learn. Grunau,
 *     Ozudogru, Rozhon, Tetek, "A nearly tight analysis of greedy k-means++", SODA 2023.
 * [4] Bahmani, Moseley, Vattani, Kumar, Vassilvitskii, "Scalable k-means++", PVLDB 5(7), 2012.
 * [5] Lloyd, "Least squares quantization in PCM", IEEE Transactions on Information Theory 28(2),
 *     1982. Equal colours merged into weights: Celebi, "Improving the performance of k-means for
 *     color quantization", Image and Vision Computing 29(4), 2011.
 * [6] Jamieson, Talwalkar, "Non-stochastic best arm identification and hyperparameter
 *     optimization", AISTATS 2016.
 */
#ifndef BARCODE_KMEANS_H
#define BARCODE_KMEANS_H

#include "barcode/base/err.h"
#include "barcode/base/isa.h"

SHARED_BEGIN

enum { CLUSTERS_MAX = 64 };

/* One colour of a column: the centroid round(S / n) and the number of pixels nearest to it. */
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
    /* eliminate restarts that fall behind; otherwise each runs to its end, as in scikit-learn */
    bool race;
};

/* The options of a command line (base/option.h); their defaults are those of the program. */
extern const struct option_table kmeans_options;

/* Restarts run up to `iterations` iterations, then the best `go_on` continue. */
struct kmeans_rung {
    int iterations, go_on;
};

enum { KMEANS_RUNGS = 3 };

/*
 * Writes the rungs for these params ("Race"); returns their number (1..KMEANS_RUNGS). Both fields
 * are 1 or more; `iterations` rises, `go_on` does not. The last rung ends at max_iter and leaves
 * one restart. Any thread.
 */
int kmeans_rungs(const struct kmeans_params *params, struct kmeans_rung rung[KMEANS_RUNGS]);

/*
 * Fractional bits of an inertia. On a nearly flat frame the total inertia is a few units, so that
 * rounding to units would decide between restarts.
 */
enum { INERTIA_FRACTION = 16 };

struct kmeans;

/*
 * Creates a workspace for one thread, for frames of at most `pixels` (1..2^28) pixels. Allocates
 * everything that kmeans_run needs; copies `params`. `isa` must be supported. Memory: about 30 bytes
 * a pixel up to 2^22 pixels, and up to 16 MiB for restarts that wait in a race. Returns NULL if out
 * of memory.
 */
struct kmeans *kmeans_open(const struct kmeans_params *params, size_t pixels, enum isa isa,
                           struct err *e);
void kmeans_free(struct kmeans **km);

/*
 * Clusters rgb[pixels][3] (1 <= pixels <= the workspace's). `frame` feeds the random numbers. Fills
 * cluster[0..k'), at most k of them, and returns k' (1..k). *inertia (may be NULL) gets the inertia
 * of the result in units of 2^-INERTIA_FRACTION. Cannot fail. Stops early once interrupted() is
 * true, because a large frame may take minutes. It may then return 0, and *inertia is meaningless.
 */
int kmeans_run(struct kmeans *km, const uint8_t *rgb, size_t pixels, uint64_t frame,
               struct cluster *cluster, uint64_t *inertia);

const char *kmeans_init_name(enum kmeans_init init); /* "scalable", "k-means++", "random" */

SHARED_END
#endif
