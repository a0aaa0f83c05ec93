/*
 * seed_template.h - the passes of seed_nearest.h, written once over kmeans_lanes.h.
 *
 * A candidate changes nothing in a box when it is at least as far from it as the box's farthest point is from
 * its nearest candidate (on a tie the lower candidate stays), or when another candidate is nearer
 * to the whole box. The test goes over blocks first, a vector of candidates at a time, then over the groups of a
 * block with the candidates that are left, a vector of groups at a time.
 *
 * Tried and slower: reach and mass of two groups reduced together (a tenth).
 */
#include <string.h>

#include "kmeans_lanes.h"
#include "kmeans_vector.h"
#include "seed_nearest.h"

enum { BATCH = 16 };

/* `count` candidates, BATCH at most, numbered from `first`; after them, up to BATCH, copies of the first. */
struct batch {
    _Alignas(64) uint32_t rb[BATCH];
    _Alignas(64) uint32_t g[BATCH];
    int first, count;
};

static void batch_fill(struct batch *b, const uint32_t *colour, int first, int count)
{
    b->first = first;
    b->count = count;
    for (int i = 0; i < BATCH; i++) {
        int at = i < count ? i : 0;
        b->rb[i] = colour[at] & 0x00ff00ff;
        b->g[i] = colour[at] >> 8 & 255;
    }
}

/* A box or a vector of them, and a candidate or a vector of them. */
struct corners {
    lanes low_rb, low_g, high_rb, high_g;
};

/* Squared distance from the candidate to the box's nearest point. */
static inline lanes box_nearest(struct corners b, lanes rb, lanes g)
{
    lanes out_rb = lanes_or(pairs_below(b.low_rb, rb), pairs_below(rb, b.high_rb));
    lanes out_g = lanes_or(pairs_below(b.low_g, g), pairs_below(g, b.high_g));
    return lanes_dot(lanes_dot(lanes_all(0), out_rb, out_rb), out_g, out_g);
}

/*
 * Squared distance to the box's farthest point, plus one: at equal distance the lower candidate wins, and the candidate that is
 * compared with this may be the lower one.
 */
static inline lanes box_beyond(struct corners b, lanes rb, lanes g)
{
    rb = pairs_max(pairs_sub(b.high_rb, rb), pairs_sub(rb, b.low_rb));
    g = pairs_max(pairs_sub(b.high_g, g), pairs_sub(g, b.low_g));
    return lanes_dot(lanes_dot(lanes_all(1), rb, rb), g, g);
}

/*
 * Which candidates may be nearer to a point of the box than its nearest so far. `reach`: no point is farther from that.
 * `rival`: also look for a candidate that is nearer to the whole box than others; all must be added together then.
 */
static inline uint32_t batch_near(const struct batch *b, const struct boxes *box, size_t at, uint32_t reach, bool rival)
{
    struct corners c = {lanes_all((int)box->low_rb[at]), lanes_all((int)box->low_g[at]),
                        lanes_all((int)box->high_rb[at]), lanes_all((int)box->high_g[at])};
    lanes nearest[BATCH / LANES], limit = lanes_all((int)reach);
    for (int v = 0; v * LANES < b->count; v++) {
        lanes rb = lanes_load(b->rb + v * LANES), g = lanes_load(b->g + v * LANES);
        nearest[v] = box_nearest(c, rb, g);
        if (rival)
            limit = lanes_min(limit, box_beyond(c, rb, g));
    }
    if (rival)
        limit = lanes_all(lanes_least(limit));
    uint32_t near = 0;
    for (int v = 0; v * LANES < b->count; v++)
        near |= mask_bits(mask_less(nearest[v], limit)) << (v * LANES);
    return near & ((UINT32_C(1) << b->count) - 1);
}

/* Squared distances from the points to candidate c. The high half of the points' green is 1. */
static inline lanes distances(struct colours p, const struct batch *b, int c)
{
    lanes rb = pairs_sub(p.rb, lanes_all((int)b->rb[c]));
    lanes g = pairs_sub(p.g, lanes_all((int)(b->g[c] | UINT32_C(1) << 16)));
    return lanes_dot(lanes_dot(lanes_all(0), rb, rb), g, g);
}

/* Gives a group's points to the candidates in `near` (one at least) where these are nearer. */
static inline void group_add(struct nearest *n, size_t group, const struct batch *b, uint32_t near, bool fresh)
{
    size_t at = group * GROUP;
    struct colours c[VECTORS];
    lanes best[VECTORS], index[VECTORS], reach = lanes_all(0), mass = lanes_all(0);
    for (int v = 0; v < VECTORS; v++) {
        c[v] = colours_at(n->p->colour + at + v * LANES);
        best[v] = fresh ? lanes_all(INT32_MAX) : lanes_load(n->distance + at + v * LANES);
        index[v] = fresh ? lanes_all(0) : lanes_from_u16(n->index + at + v * LANES);
    }
    do {
        int i = __builtin_ctz(near);
        lanes number = lanes_all(b->first + i);
        for (int v = 0; v < VECTORS; v++) {
            lanes d = distances(c[v], b, i);
            index[v] = lanes_select(mask_less(d, best[v]), number, index[v]);
            best[v] = lanes_min(best[v], d);
        }
    } while (near &= near - 1);
    for (int v = 0; v < VECTORS; v++) {
        lanes_store(n->distance + at + v * LANES, best[v]);
        lanes_to_u16(n->index + at + v * LANES, index[v]);
        reach = lanes_max(reach, best[v]);
        mass = wide_add(mass, wide_products(best[v], lanes_load(n->p->weight + at + v * LANES)));
    }
    n->reach[group] = (uint32_t)lanes_most(reach);
    n->mass[group] = wide_sum(mass);
}

static inline uint32_t block_reach(const struct nearest *n, size_t group)
{
    lanes reach = lanes_load(n->reach + group);
    for (int i = LANES; i < POINTS_BLOCK; i += LANES)
        reach = lanes_max(reach, lanes_load(n->reach + group + i));
    return (uint32_t)lanes_most(reach);
}

/* The groups that a batch may change, and the candidates of the batch that may do it. */
struct visits {
    uint32_t group[POINTS_BLOCK + LANES], near[POINTS_BLOCK + LANES];
    uint32_t count;
};

/*
 * The same test as batch_near, LANES groups at once, with the candidates that are left for their block. A list, because
 * whether a group is among them is as good as random to a branch predictor.
 */
static inline void groups_near(const struct nearest *n, size_t group, const struct batch *b, uint32_t left, bool rival,
                               struct visits *visits)
{
    const struct boxes *box = &n->p->group;
    struct corners c = {lanes_load(box->low_rb + group), lanes_load(box->low_g + group),
                        lanes_load(box->high_rb + group), lanes_load(box->high_g + group)};
    lanes nearest[BATCH], limit = lanes_load(n->reach + group), near = lanes_all(0);
    for (uint32_t bits = left; bits; bits &= bits - 1) {
        int i = __builtin_ctz(bits);
        lanes rb = lanes_all((int)b->rb[i]), g = lanes_all((int)b->g[i]);
        nearest[i] = box_nearest(c, rb, g);
        if (rival)
            limit = lanes_min(limit, box_beyond(c, rb, g));
    }
    for (uint32_t bits = left; bits; bits &= bits - 1) {
        int i = __builtin_ctz(bits);
        near = lanes_or(near, lanes_where(mask_less(nearest[i], limit), lanes_all(1 << i)));
    }
    uint32_t some = lanes_differ(near, lanes_all(0));
    lanes_pack(visits->group + visits->count, some, lanes_add(lanes_count(), lanes_all((int)group)));
    lanes_pack(visits->near + visits->count, some, near);
    visits->count += (uint32_t)__builtin_popcount(some);
}

/* Finds them in one block. */
static inline void block_visits(const struct nearest *n, size_t block, const struct batch *b, bool rival,
                                struct visits *visits)
{
    size_t group = block * POINTS_BLOCK;
    visits->count = 0;
    uint32_t near = batch_near(b, &n->p->block, block, block_reach(n, group), rival);
    if (!near)
        return;
    rival &= __builtin_popcount(near) > 2;
    for (size_t end = group + POINTS_BLOCK; group < end; group += LANES)
        groups_near(n, group, b, near, rival, visits);
}

/* seed_nearest_add, but for the sums over groups. */
static void add_candidates(struct nearest *n, const uint32_t *colour, int first, int count)
{
    for (int at = 0; at < count; at += BATCH) {
        struct batch all;
        struct visits visits;
        batch_fill(&all, colour + at, first + at, count - at < BATCH ? count - at : BATCH);
        for (size_t group = 0; first == 0 && group < n->p->groups; group++)
            group_add(n, group, &all, 1, true);
        for (size_t block = 0; first != 0 && block < n->p->blocks; block++) {
            block_visits(n, block, &all, true, &visits);
            for (uint32_t i = 0; i < visits.count; i++)
                group_add(n, visits.group[i], &all, visits.near[i], false);
        }
    }
}

/* gain[c] grows by what candidate c would take off the group's mass. */
static inline void group_try(const struct nearest *n, size_t group, const struct batch *b, uint32_t near,
                             uint64_t *gain)
{
    size_t at = group * GROUP;
    struct colours c[VECTORS];
    lanes best[VECTORS], weight[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        c[v] = colours_at(n->p->colour + at + v * LANES);
        best[v] = lanes_load(n->distance + at + v * LANES);
        weight[v] = lanes_load(n->p->weight + at + v * LANES);
    }
    do {
        int i = __builtin_ctz(near);
        lanes mass = lanes_all(0);
        for (int v = 0; v < VECTORS; v++) {
            lanes d = lanes_min(best[v], distances(c[v], b, i));
            mass = wide_add(mass, wide_products(lanes_sub(best[v], d), weight[v]));
        }
        gain[i] += wide_sum(mass);
    } while (near &= near - 1);
}

/* seed_nearest_try. */
static void try_candidates(const struct nearest *n, const uint32_t *colour, int count, uint64_t *potential)
{
    struct batch all;
    struct visits visits;
    uint64_t gain[BATCH] = {0};
    batch_fill(&all, colour, 0, count);
    for (size_t block = 0; block < n->p->blocks; block++) {
        block_visits(n, block, &all, false, &visits);
        for (uint32_t i = 0; i < visits.count; i++)
            group_try(n, visits.group[i], &all, visits.near[i], gain);
    }
    for (int c = 0; c < count; c++)
        potential[c] = n->total - gain[c];
}
