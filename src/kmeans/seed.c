#include "barcode/kmeans/seed.h"

#include <stdlib.h>
#include <string.h>

#include "kmeans_vector.h"

__extension__ typedef unsigned __int128 wide;

/* ------------------------------------------------------------------ the nearest candidates */

bool seed_nearest_open(struct nearest *n, size_t capacity, struct err *e)
{
    size_t padded = (capacity + POINTS_STEP - 1) / POINTS_STEP * POINTS_STEP;
    size_t groups = padded / POINTS_GROUP_LEAST;
    *n = (struct nearest){.key = NULL};
    n->key = kmeans_lines(padded * sizeof *n->key);
    n->reach = kmeans_lines(groups * sizeof *n->reach);
    n->mass = kmeans_lines(groups * sizeof *n->mass);
    n->before = kmeans_lines(groups * sizeof *n->before);
    if (n->key && n->reach && n->mass && n->before)
        return true;
    seed_nearest_close(n);
    return err_memory(e, padded * sizeof *n->key);
}

void seed_nearest_close(struct nearest *n)
{
    free(n->key);
    free(n->reach);
    free(n->mass);
    free(n->before);
    *n = (struct nearest){.key = NULL};
}

static uint32_t distance2(uint32_t a, uint32_t b)
{
    int r = colour_red(a) - colour_red(b);
    int g = colour_green(a) - colour_green(b);
    int u = colour_blue(a) - colour_blue(b);
    return (uint32_t)(r * r + g * g + u * u);
}

/* Computes what a draw needs from the masses of the groups. */
static void sum_groups(struct nearest *n)
{
    uint64_t before = 0;
    for (size_t g = 0; g < n->p->groups; g++) {
        n->before[g] = before;
        before += n->mass[g];
    }
    n->total = before;
}

void seed_nearest_add(struct nearest *n, enum isa isa, const uint32_t *colour, int first, int count,
                      bool last)
{
    const struct kmeans_vector *vector = kmeans_vector_of(isa);
    if (first == 0) {
        n->alone = true;
        n->origin = colour[0];
        vector->begin(n);
    } else {
        vector->add(n, colour, first, count, last);
        n->alone = false;
    }
    if (!last)
        sum_groups(n);
}

/* Writes the keys of candidate 0, which seed_nearest_add postpones. */
static void write_keys(struct nearest *n, const struct kmeans_vector *vector)
{
    if (!n->alone)
        return;
    vector->add(n, NULL, 1, 0, false);
    n->alone = false;
}

void seed_nearest_try(struct nearest *n, enum isa isa, const uint32_t *colour, int count,
                      uint64_t *potential)
{
    const struct kmeans_vector *vector = kmeans_vector_of(isa);
    write_keys(n, vector);
    vector->try(n, colour, count, potential);
}

/*
 * Returns the last group that begins at or before t; preceding groups of mass 0 begin at the same
 * value. There is no branch on t, here and below, because t is random.
 */
static size_t group_of(const struct nearest *n, uint64_t t)
{
    const uint64_t *low = n->before;
    for (size_t count = n->p->groups; count > 1; count -= count / 2) {
        const uint64_t *middle = low + count / 2;
        low = *middle <= t ? middle : low;
    }
    return (size_t)(low - n->before);
}

/* Implements seed_nearest_find for t within a group, by counting the points before t. */
static size_t find_in_group(const struct nearest *n, size_t group, uint64_t t)
{
    size_t first = group * n->p->each, before = 0;
    uint64_t sum = 0;
    for (size_t i = first; i < first + n->p->each; i++) {
        uint32_t d = n->alone ? distance2(n->p->colour[i], n->origin) : nearest_distance(n->key[i]);
        sum += (uint64_t)n->p->weight[i] * d;
        before += sum <= t;
    }
    return first + before;
}

size_t seed_nearest_find(const struct nearest *n, uint64_t t)
{
    size_t group = group_of(n, t);
    return find_in_group(n, group, t - n->before[group]);
}

void seed_nearest_count(struct nearest *n, enum isa isa, uint32_t *weight, int count)
{
    const struct kmeans_vector *vector = kmeans_vector_of(isa);
    write_keys(n, vector);
    vector->count(n, weight, count);
}

/* ------------------------------------------------------------------ the starts */

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

/* The random start. t moves past the points already drawn, as if their weights were 0. */
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
                n, draw_below(stream, 1 + (c - 1) * trials + t, n->total))];
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
        uint32_t i = (uint32_t)seed_nearest_find(&s->frame, t);
        int c = before; /* a candidate of an earlier round has D2 = 0 and is never drawn */
        while (c < count && s->point[c] != i)
            c++;
        s->point[c] = i;
        count += c == count;
    }
    return count;
}

/* Appends the lowest points that are not candidates, up to k candidates. */
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
