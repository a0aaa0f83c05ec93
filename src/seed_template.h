/*
 * seed_template.h - the passes of seed_nearest.h, written once over kmeans_lanes.h. The including
 * file defines ISA(name).
 *
 * A candidate changes nothing in a box when it is at least as far from it as the box's farthest point is from
 * its nearest candidate (on a tie the lower candidate stays), or when another candidate is nearer
 * to the whole box. The test goes over blocks first, then over the groups of a block with the candidates
 * that are left, a vector of them at a time.
 *
 * Tried and slower: reach and mass of two groups reduced together (a tenth).
 */
#include <string.h>

#include "kmeans_lanes.h"
#include "seed_nearest.h"

enum { VECTORS = POINTS_GROUP / LANES, BATCH = 16 };

/* Up to BATCH candidates. What follows the last, up to a whole vector, are copies of the first. */
struct batch {
    _Alignas(64) uint32_t rb[BATCH + LANES];
    _Alignas(64) uint32_t g[BATCH + LANES];
    _Alignas(64) uint32_t number[BATCH + LANES];
    uint32_t count;
};

static void batch_fill(struct batch *b, const uint32_t *colour, int first, int count)
{
    b->count = (uint32_t)count;
    for (int i = 0; i < BATCH + LANES; i++) {
        int at = i < count ? i : 0;
        b->rb[i] = colour[at] & 0x00ff00ff;
        b->g[i] = colour[at] >> 8 & 255;
        b->number[i] = (uint32_t)(first + at);
    }
}

/* Those of `from` whose bit is 1, in their order. */
static inline void batch_choose(struct batch *to, const struct batch *from, uint32_t bits)
{
    int lowest = __builtin_ctz(bits);
    uint32_t n = 0;
    for (uint32_t at = 0; at < from->count; at += LANES) {
        uint32_t here = bits >> at & LANES_EVERY;
        lanes_pack(to->rb + n, here, lanes_load(from->rb + at));
        lanes_pack(to->g + n, here, lanes_load(from->g + at));
        lanes_pack(to->number + n, here, lanes_load(from->number + at));
        n += (uint32_t)__builtin_popcount(here);
    }
    to->count = n;
    lanes_store_anywhere(to->rb + n, lanes_all((int)from->rb[lowest]));
    lanes_store_anywhere(to->g + n, lanes_all((int)from->g[lowest]));
}

/*
 * Which candidates may come nearer to a point of the box than it is now; `reach`: none is farther than that.
 * `rival`: whether to look for a candidate that is nearer to the whole box than others; all must be added
 * together then.
 */
static inline uint32_t batch_near(const struct batch *b, const struct box *box, uint32_t reach, bool rival)
{
    lanes low_rb = lanes_all((int)box->low_rb), high_rb = lanes_all((int)box->high_rb);
    lanes low_g = lanes_all((int)box->low_g), high_g = lanes_all((int)box->high_g);
    lanes nearest[BATCH / LANES], limit = lanes_all((int)reach);
    for (uint32_t v = 0; v * LANES < b->count; v++) {
        lanes rb = lanes_load(b->rb + v * LANES), g = lanes_load(b->g + v * LANES);
        lanes out_rb = lanes_or(pairs_below(low_rb, rb), pairs_below(rb, high_rb));
        lanes out_g = lanes_or(pairs_below(low_g, g), pairs_below(g, high_g));
        nearest[v] = lanes_dot(lanes_dot(lanes_all(0), out_rb, out_rb), out_g, out_g);
        rb = pairs_max(pairs_sub(high_rb, rb), pairs_sub(rb, low_rb));
        g = pairs_max(pairs_sub(high_g, g), pairs_sub(g, low_g));
        /* One more: at equal distance the lower candidate wins, and it may be the other. */
        if (rival)
            limit = lanes_min(limit, lanes_dot(lanes_dot(lanes_all(1), rb, rb), g, g));
    }
    if (rival)
        limit = lanes_all(lanes_least(limit));
    uint32_t near = 0;
    for (uint32_t v = 0; v * LANES < b->count; v++)
        near |= lanes_less(nearest[v], limit) << (v * LANES);
    return near & ((UINT32_C(1) << b->count) - 1);
}

struct colours {
    lanes rb, g;
};

static inline struct colours colours_at(const struct points *p, size_t at)
{
    lanes colour = lanes_load(p->colour + at), mask = lanes_all(0x00ff00ff);
    return (struct colours){lanes_and(colour, mask), lanes_and(lanes_right8(colour), mask)};
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
    size_t at = group * POINTS_GROUP;
    struct colours c[VECTORS];
    lanes best[VECTORS], index[VECTORS], reach = lanes_all(0), mass = lanes_all(0);
    for (int v = 0; v < VECTORS; v++) {
        c[v] = colours_at(n->p, at + (size_t)(v * LANES));
        best[v] = fresh ? lanes_all(INT32_MAX) : lanes_load(n->distance + at + v * LANES);
        index[v] = fresh ? lanes_all(0) : lanes_from_u16(n->index + at + v * LANES);
    }
    do {
        int i = __builtin_ctz(near);
        lanes number = lanes_all((int)b->number[i]);
        for (int v = 0; v < VECTORS; v++) {
            lanes d = distances(c[v], b, i);
            index[v] = lanes_pick_less(d, best[v], number, index[v]);
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

static inline uint32_t block_reach(const struct nearest *n, size_t group, size_t end)
{
    uint32_t reach = 0;
    for (; group < end; group++)
        reach = n->reach[group] > reach ? n->reach[group] : reach;
    return reach;
}

/* The groups that a batch may change, and the candidates of the batch that may do it. */
struct visits {
    uint32_t group[POINTS_BLOCK + 1], near[POINTS_BLOCK + 1];
    uint32_t count;
};

/*
 * Finds them in one block; `chosen` gets the candidates that are left for it. A list, because whether a group
 * is among them is as good as random to a branch predictor.
 */
static inline void block_visits(const struct nearest *n, size_t block, const struct batch *all, bool rival,
                                struct batch *chosen, struct visits *visits)
{
    size_t group = block * POINTS_BLOCK, end = group + POINTS_BLOCK;
    end = end < n->p->groups ? end : n->p->groups;
    visits->count = 0;
    uint32_t near = batch_near(all, n->p->block + block, block_reach(n, group, end), rival);
    if (!near)
        return;
    batch_choose(chosen, all, near);
    rival &= chosen->count > 2;
    for (; group < end; group++) {
        near = batch_near(chosen, n->p->group + group, n->reach[group], rival);
        visits->group[visits->count] = (uint32_t)group;
        visits->near[visits->count] = near;
        visits->count += near != 0;
    }
}

void ISA(nearest_add)(struct nearest *n, const uint32_t *colour, int first, int count)
{
    for (int at = 0; at < count; at += BATCH) {
        struct batch all, chosen;
        struct visits visits;
        batch_fill(&all, colour + at, first + at, count - at < BATCH ? count - at : BATCH);
        for (size_t group = 0; first == 0 && group < n->p->groups; group++)
            group_add(n, group, &all, 1, true);
        for (size_t block = 0; first != 0 && block < n->p->blocks; block++) {
            block_visits(n, block, &all, true, &chosen, &visits);
            for (uint32_t i = 0; i < visits.count; i++)
                group_add(n, visits.group[i], &chosen, visits.near[i], false);
        }
    }
}

/* gain[number of c] grows by what candidate c would take off the group's mass. */
static inline void group_try(const struct nearest *n, size_t group, const struct batch *b, uint32_t near,
                             uint64_t *gain)
{
    size_t at = group * POINTS_GROUP;
    struct colours c[VECTORS];
    lanes best[VECTORS], weight[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        c[v] = colours_at(n->p, at + (size_t)(v * LANES));
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
        gain[b->number[i]] += wide_sum(mass);
    } while (near &= near - 1);
}

void ISA(nearest_try)(const struct nearest *n, const uint32_t *colour, int count, uint64_t *potential)
{
    struct batch all, chosen;
    struct visits visits;
    uint64_t gain[BATCH] = {0};
    batch_fill(&all, colour, 0, count);
    for (size_t block = 0; block < n->p->blocks; block++) {
        block_visits(n, block, &all, false, &chosen, &visits);
        for (uint32_t i = 0; i < visits.count; i++)
            group_try(n, visits.group[i], &chosen, visits.near[i], gain);
    }
    for (int c = 0; c < count; c++)
        potential[c] = n->total - gain[c];
}
