#include "barcode/kmeans/seed.h"

#include <stdlib.h>
#include <string.h>

#include "philox.h"
#include "seed_nearest.h"

__extension__ typedef unsigned __int128 wide;

struct seed {
    struct kmeans_params params;
    enum isa isa;
    struct nearest frame; /* for the points of the frame */
    /* for the candidates of k-means||, when they are clustered */
    struct nearest few;
    struct points candidates;            /* of k-means||, in the order of their first draw */
    uint32_t point[SEED_CANDIDATES + 1]; /* index of each candidate among the frame's points */
};

/* Identifies a set of draws. */
struct stream {
    uint64_t seed;
    uint32_t restart, frame, stage;
};

static uint64_t draw_below(const struct stream *s, int draw, uint64_t total)
{
    return seed_scale(philox_u64(s->seed, (uint32_t)draw, s->restart, s->frame, s->stage), total);
}

struct seed *seed_open(const struct kmeans_params *params, size_t capacity, enum isa isa,
                       struct err *e)
{
    struct seed *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->params = *params;
    s->isa = isa;
    if (seed_nearest_open(&s->frame, capacity, e) &&
        seed_nearest_open(&s->few, SEED_CANDIDATES, e) &&
        points_open(&s->candidates, SEED_CANDIDATES, e))
        return s;
    seed_close(&s);
    return NULL;
}

void seed_close(struct seed **s)
{
    if (!*s)
        return;
    seed_nearest_close(&(*s)->frame);
    seed_nearest_close(&(*s)->few);
    points_close(&(*s)->candidates);
    free(*s);
    *s = NULL;
}

uint64_t seed_scale(uint64_t u, uint64_t total) { return (uint64_t)((wide)u * total >> 64); }

int seed_trials(int k)
{
    /* e, e^2, e^3, e^4 = 2.7, 7.4, 20.1, 54.6 */
    return 2 + (k >= 3) + (k >= 8) + (k >= 21) + (k >= 55);
}

/* Returns the first point whose inclusive prefix sum of weights exceeds t. */
static size_t find_pixel(const struct points *p, uint64_t t)
{
    size_t low = 0, high = p->n - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->prefix[middle] > t)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/*
 * Performs the random start. t is moved past the points already drawn, in ascending order, to where
 * it would fall if their weights were 0.
 */
static void start_random(const struct stream *stream, const struct points *p, int k,
                         uint32_t *centre)
{
    size_t drawn[CLUSTERS_MAX]; /* ascending */
    uint64_t left = p->pixels;
    for (int c = 0; c < k; c++) {
        uint64_t t = draw_below(stream, c, left);
        int at = 0;
        for (; at < c; at++) {
            uint32_t weight = p->weight[drawn[at]];
            if (t < p->prefix[drawn[at]] - weight)
                break;
            t += weight;
        }
        size_t i = find_pixel(p, t);
        memmove(drawn + at + 1, drawn + at, (size_t)(c - at) * sizeof *drawn);
        drawn[at] = i;
        left -= p->weight[i];
        centre[c] = p->colour[i];
    }
}

/* Performs greedy weighted k-means++ on n->p, which has at least k points. */
static void start_plusplus(const struct stream *stream, struct nearest *n, enum isa isa, int k,
                           uint32_t *centre)
{
    const struct points *p = n->p;
    int trials = seed_trials(k);
    centre[0] = p->colour[find_pixel(p, draw_below(stream, 0, p->pixels))];
    for (int c = 1; c < k; c++) {
        uint32_t trial[8];
        uint64_t potential[8];
        seed_nearest_add(n, isa, centre + c - 1, c - 1, 1, false);
        for (int t = 0; t < trials; t++)
            trial[t] = p->colour[seed_nearest_find(
                n, isa, draw_below(stream, 1 + (c - 1) * trials + t, n->total))];
        seed_nearest_try(n, isa, trial, trials, potential);
        int best = 0;
        for (int t = 1; t < trials; t++)
            if (potential[t] < potential[best])
                best = t;
        centre[c] = trial[best];
    }
}

/* Performs one round: 2k draws by weight * D2. Returns the number of candidates after it. */
static int draw_round(struct seed *s, const struct stream *stream, int round, int count)
{
    int draws = 2 * s->params.k, before = count;
    for (int d = 0; d < draws; d++) {
        uint64_t t = draw_below(stream, 1 + round * draws + d, s->frame.total);
        uint32_t i = (uint32_t)seed_nearest_find(&s->frame, s->isa, t);
        int c = before; /* a candidate of an earlier round has D2 = 0 and is never drawn */
        while (c < count && s->point[c] != i)
            c++;
        s->point[c] = i;
        count += c == count;
    }
    return count;
}

/*
 * Appends the lowest points that are not candidates, up to k candidates, if too many draws selected
 * the same points.
 */
static int top_up(struct seed *s, int count)
{
    int last = count;
    for (uint32_t i = 0; last < s->params.k; i++)
        if (nearest_distance(s->frame.key[i]))
            s->point[last++] = i;
    return last;
}

/* Passes candidates [before, count) to seed_nearest_add. `last`: no others follow. */
static void add_candidates(struct seed *s, int before, int count, bool last)
{
    for (int c = before; c < count; c++)
        s->candidates.colour[c] = s->frame.p->colour[s->point[c]];
    if (count > before)
        seed_nearest_add(&s->frame, s->isa, s->candidates.colour + before, before, count - before,
                         last);
}

/* Performs k-means||: candidates, their weights, and k-means++ on them. */
static void start_scalable(struct seed *s, struct stream *stream, uint32_t *centre)
{
    const struct points *p = s->frame.p;
    int count = 1;
    stream->stage = STAGE_ROUNDS;
    s->point[0] = (uint32_t)find_pixel(p, draw_below(stream, 0, p->pixels));
    add_candidates(s, 0, 1, false);
    for (int round = 0; round < SEED_ROUNDS && s->frame.total > 0; round++) {
        int before = count;
        count = draw_round(s, stream, round, count);
        add_candidates(s, before, count, round + 1 == SEED_ROUNDS && count >= s->params.k);
    }
    if (count < s->params.k) {
        int before = count;
        count = top_up(s, count);
        add_candidates(s, before, count, true);
    }
    seed_nearest_count(&s->frame, s->isa, s->candidates.weight, count);
    points_seal(&s->candidates, (size_t)count);
    points_box(&s->candidates, s->isa);
    s->few.p = &s->candidates;
    stream->stage = STAGE_RECLUSTER;
    start_plusplus(stream, &s->few, s->isa, s->params.k, centre);
}

void seed_start(struct seed *s, const struct points *p, uint64_t frame, int restart,
                uint32_t centre[CLUSTERS_MAX])
{
    struct stream stream = {s->params.seed, (uint32_t)restart, (uint32_t)frame, STAGE_RANDOM};
    s->frame.p = p;
    switch (s->params.init) {
    case INIT_RANDOM: start_random(&stream, p, s->params.k, centre); break;
    case INIT_PLUSPLUS:
        stream.stage = STAGE_PLUSPLUS;
        start_plusplus(&stream, &s->frame, s->isa, s->params.k, centre);
        break;
    case INIT_SCALABLE: start_scalable(s, &stream, centre); break;
    }
}
