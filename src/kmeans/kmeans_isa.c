/*
 * kmeans_isa.c - the functions of kmeans_vector.h, written once for all instruction sets (isa.h) on
 * top of kmeans_lanes.h. The assign step is in assign_isa.c.
 */
#include <string.h>

#include "assign.h"
#include "kmeans_lanes.h"
#include "kmeans_vector.h"

/* ---- Points from sorted keys; boxes and sums of groups and blocks ---- */

/*
 * Merges equal neighbouring pixels, which would also delay one another in the sort. For each run of
 * equal pixels, writes its key to `key` and the number of pixels up to its end to `end`. Both have
 * room for `pixels` entries. Returns the number of runs.
 */
static size_t list_runs(const uint32_t *from, size_t pixels, uint32_t *key, uint32_t *end)
{
    size_t n = 0, i = 0;
    for (; i + LANES < pixels; i += LANES) {
        lanes here = lanes_load(from + i);
        uint32_t last = lanes_differ(here, lanes_load_any(from + i + 1));
        if ((i + LANES) % KEY_RUN == 0)
            last |= UINT32_C(1) << (LANES - 1);
        lanes_pack(end + n, last, lanes_count() + lanes_all((int)i + 1));
        n = (size_t)(lanes_pack(key + n, last, here) - key);
    }
    for (; i < pixels; i++) {
        key[n] = from[i];
        end[n++] = (uint32_t)i + 1;
    }
    return n;
}

static void make_keys(uint32_t *restrict key, const uint8_t *restrict rgb, size_t pixels)
{
    for (size_t i = 0; i < pixels; i++)
        key[i] = key_of(rgb + 3 * i);
}

/* Implements kmeans_vector's `runs`. Uses p's arrays for intermediate results. */
static size_t make_runs(struct points *p, uint32_t *run, const uint8_t *rgb, size_t pixels)
{
    make_keys(run, rgb, pixels);
    uint32_t *restrict to = run;
    const uint32_t *restrict key = p->colour, *restrict end = p->prefix;
    size_t n = list_runs(run, pixels, p->colour, p->prefix);
    to[0] = key[0] | (end[0] - 1) << KEY_BITS;
    for (size_t i = 1; i < n; i++)
        to[i] = key[i] | (end[i] - end[i - 1] - 1) << KEY_BITS;
    return n;
}

/* Writes each distinct key to p->colour and the pixels up to its end to p->prefix. */
static size_t list_distinct(struct points *p, const uint32_t *run, size_t runs)
{
    size_t n = 0, i = 0;
    uint32_t pixels = 0;
    for (; i + LANES < runs; i += LANES) {
        lanes here = lanes_load(run + i), next = lanes_load_any(run + i + 1);
        lanes key = here & (KEYS - 1), length = (here >> KEY_BITS) + 1;
        uint32_t last = lanes_differ(key, next & (KEYS - 1));
        lanes sum = lanes_sums(length) + pixels;
        pixels = sum[LANES - 1];
        lanes_pack(p->prefix + n, last, sum);
        n = (size_t)(lanes_pack(p->colour + n, last, key) - p->colour);
    }
    for (; i < runs; i++) {
        pixels += (run[i] >> KEY_BITS) + 1;
        if (i + 1 < runs && run[i] % KEYS == run[i + 1] % KEYS)
            continue;
        p->colour[n] = run[i] % KEYS;
        p->prefix[n++] = pixels;
    }
    return n;
}

static size_t distinct_points(struct points *p, const uint32_t *run, size_t runs)
{
    size_t n = list_distinct(p, run, runs);
    uint32_t *restrict colour = p->colour, *restrict weight = p->weight;
    const uint32_t *restrict prefix = p->prefix;
    uint64_t square = 0;
    weight[0] = prefix[0];
    for (size_t i = 1; i < n; i++)
        weight[i] = prefix[i] - prefix[i - 1];
    for (size_t i = 0; i < n; i++) {
        uint32_t c = key_colour(colour[i]), r = c & 255, g = c >> 8 & 255, b = c >> 16 & 255;
        square += (uint64_t)weight[i] * (r * r + g * g + b * b);
        colour[i] = c;
    }
    p->square = square;
    return n;
}

static inline uint32_t lower(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t higher(uint32_t a, uint32_t b) { return a > b ? a : b; }

struct bounds {
    uint32_t low[3], high[3];
};

static void bounds_to(const struct boxes *to, size_t at, const struct bounds *b)
{
    to->low_rb[at] = b->low[0] | b->low[2] << 16;
    to->low_g[at] = b->low[1];
    to->high_rb[at] = b->high[0] | b->high[2] << 16;
    to->high_g[at] = b->high[1];
}

static void box_group(struct points *p, size_t group)
{
    const uint32_t *colour = p->colour + group * GROUP, *weight = p->weight + group * GROUP;
    lanes low = lanes_load(colour), high = low, square = lanes_all(0),
          sum[4] = {square, square, square, square};
    for (size_t v = 0; v < VECTORS; v++) {
        lanes word = lanes_load(colour + v * LANES), w = lanes_load(weight + v * LANES);
        lanes rb = word & 0x00ff00ff, g = word >> 8 & 255;
        low = bytes_min(low, word);
        high = bytes_max(high, word);
        square = wide_add(square, wide_products(lanes_dots(lanes_all(0), rb, rb, g, g), w));
        for (int c = 0; c < 4; c++)
            sum[c] = wide_add(sum[c], wide_products(word >> 8 * c & 255, w));
    }
    uint32_t least = bytes_least(low), most = bytes_most(high);
    p->group.low_rb[group] = least & 0x00ff00ff;
    p->group.low_g[group] = least >> 8 & 255;
    p->group.high_rb[group] = most & 0x00ff00ff;
    p->group.high_g[group] = most >> 8 & 255;
    p->group_square[group] = wide_sum(square);
    for (int c = 0; c < 4; c++)
        p->group_sum[group][c] = wide_sum(sum[c]);
}

static void box_block(struct points *p, size_t block)
{
    struct bounds box = {{255, 255, 255}, {0, 0, 0}};
    const struct boxes *from = &p->group;
    uint64_t s[4] = {0, 0, 0, 0};
    for (size_t i = block * POINTS_BLOCK; i < (block + 1) * POINTS_BLOCK; i++) {
        box.low[0] = lower(box.low[0], from->low_rb[i] & 0xffff);
        box.low[1] = lower(box.low[1], from->low_g[i]);
        box.low[2] = lower(box.low[2], from->low_rb[i] >> 16);
        box.high[0] = higher(box.high[0], from->high_rb[i] & 0xffff);
        box.high[1] = higher(box.high[1], from->high_g[i]);
        box.high[2] = higher(box.high[2], from->high_rb[i] >> 16);
        for (int c = 0; c < 4; c++)
            s[c] += p->group_sum[i][c];
    }
    bounds_to(&p->block, block, &box);
    memcpy(p->block_sum[block], s, sizeof s);
}

/* Implements points_box. */
static void box_points(struct points *p)
{
    p->each = GROUP;
    p->blocks = (p->n + BLOCK - 1) / BLOCK;
    p->groups = p->blocks * POINTS_BLOCK;
    for (size_t g = 0; g < p->groups; g++)
        box_group(p, g);
    for (size_t b = 0; b < p->blocks; b++)
        box_block(p, b);
}

/*
 * ---- The loops of struct nearest ----
 *
 * A candidate changes nothing in a box in two cases. Either it is at least as far from the box as
 * the box's farthest point is from its nearest candidate (on a tie the lower candidate stays). Or
 * another candidate is nearer to the entire box. The test first covers blocks, a vector of
 * candidates at a time. Then it covers the groups of a block with the remaining candidates, a
 * vector of groups at a time.
 */

/* New candidates of a batch, and all of them: candidate 0 is included if no key is written yet. */
enum { BATCH = 16, BATCH_ALL = BATCH + 1, BATCH_ROOM = 2 * BATCH };

/* `count` candidates, padded with copies of the first for vectors that are loaded and ignored. */
struct batch {
    _Alignas(64) uint32_t rb[BATCH_ROOM];
    _Alignas(64) uint32_t g[BATCH_ROOM];
    /* times 2^(NEAREST_INDEX / 2), with the high half of green set to 1 before */
    uint32_t scaled_rb[BATCH_ALL], scaled_g[BATCH_ALL];
    int number[BATCH_ALL], count;
};

/* The high half of green in the points' pairs, which a difference must subtract. */
#define GREEN_HIGH (UINT32_C(1) << 16)

static inline void batch_number(struct batch *b, int at, int number)
{
    b->scaled_rb[at] = b->rb[at] << NEAREST_INDEX / 2;
    b->scaled_g[at] = (b->g[at] | GREEN_HIGH) << NEAREST_INDEX / 2;
    b->number[at] = number;
}

static inline void batch_put(struct batch *b, int at, uint32_t colour)
{
    b->rb[at] = colour & 0x00ff00ff;
    b->g[at] = colour >> 8 & 255;
}

/* Fills a batch with colour[count], from number `first`, and `origin` (or NULL) as number 0. */
static void batch_fill(struct batch *b, const uint32_t *colour, int first, int count,
                       const uint32_t *origin)
{
    b->count = count;
    for (int i = 0; i < count; i++) {
        batch_put(b, i, colour[i]);
        batch_number(b, i, first + i);
    }
    if (origin) {
        batch_put(b, count, *origin);
        batch_number(b, count, 0);
        b->count++;
    }
    for (int i = b->count; i < BATCH_ROOM; i++) {
        b->rb[i] = b->rb[0];
        b->g[i] = b->g[0];
    }
}

/* Inlined, so that the constants `fresh` and `last` specialize the code. */
#define FOR_FRESH static inline __attribute__((always_inline))

/* A box and a vector of candidates, or a vector of boxes and a candidate. */
struct corners {
    lanes low_rb, low_g, high_rb, high_g;
};

/* Returns the squared distance from the candidate to the box's nearest point. */
static inline lanes box_nearest(struct corners b, lanes rb, lanes g)
{
    lanes out_rb = pairs_below(b.low_rb, rb) | pairs_below(rb, b.high_rb);
    lanes out_g = pairs_below(b.low_g, g) | pairs_below(g, b.high_g);
    return lanes_dots(lanes_all(LANES_NORMAL), out_rb, out_rb, out_g, out_g);
}

/*
 * Returns the squared distance to the box's farthest point, plus one. At equal distance the lower
 * candidate wins, and the candidate compared with this may be the lower one.
 */
static inline lanes box_beyond(struct corners b, lanes rb, lanes g)
{
    rb = pairs_max(pairs_sub(b.high_rb, rb), pairs_sub(rb, b.low_rb));
    g = pairs_max(pairs_sub(b.high_g, g), pairs_sub(g, b.low_g));
    return lanes_dots(lanes_all(LANES_NORMAL + 1), rb, rb, g, g);
}

/*
 * Returns the candidates that may be nearer to a point of the box than its nearest so far, as bits.
 * `reach`: no point is farther from its nearest. `rival`: also exclude candidates if another one is
 * nearer to the entire box. All candidates must then be added together.
 */
static inline uint32_t batch_near(const struct batch *b, const struct boxes *box, size_t at,
                                  uint32_t reach, bool rival)
{
    struct corners c = {lanes_all((int)box->low_rb[at]), lanes_all((int)box->low_g[at]),
                        lanes_all((int)box->high_rb[at]), lanes_all((int)box->high_g[at])};
    lanes nearest[BATCH_ROOM / LANES], limit = lanes_all((int)reach + LANES_NORMAL);
    for (size_t v = 0; v * LANES < (size_t)b->count; v++) {
        lanes rb = lanes_load(b->rb + v * LANES), g = lanes_load(b->g + v * LANES);
        nearest[v] = box_nearest(c, rb, g);
        if (rival)
            limit = normal_min(limit, box_beyond(c, rb, g));
    }
    if (rival)
        limit = lanes_all((int)normal_least(limit));
    uint32_t near = 0;
    for (size_t v = 0; v * LANES < (size_t)b->count; v++)
        near |= mask_bits(mask_less(nearest[v], limit)) << (v * LANES);
    return near & ((UINT32_C(1) << b->count) - 1);
}

_Static_assert(NEAREST_INDEX % 2 == 0 && 255 << NEAREST_INDEX / 2 <= INT16_MAX,
               "differences that a half holds");

static inline lanes distance_of(lanes key) { return key >> NEAREST_INDEX; }

/* Returns the squared distances from the points to candidate c. */
static inline lanes distances(struct colours p, const struct batch *b, int c)
{
    lanes rb = pairs_sub(p.rb, lanes_all((int)b->rb[c]));
    lanes g = pairs_sub(p.g, lanes_all((int)(b->g[c] | GREEN_HIGH)));
    return lanes_dots(lanes_all(0), rb, rb, g, g);
}

/* Returns colours_at times 2^(NEAREST_INDEX / 2). */
static inline struct colours colours_scaled(const uint32_t *colour)
{
    lanes word = lanes_load(colour), mask = lanes_all(0x00ff00ff << NEAREST_INDEX / 2);
    return (struct colours){word << NEAREST_INDEX / 2 & mask,
                            word >> (8 - NEAREST_INDEX / 2) & mask};
}

/*
 * Assigns a group's points to the candidates in `near` (at least one) that are nearer. With all
 * coordinates times 2^(NEAREST_INDEX / 2), squared distances are already at their position in the
 * key. So one minimum finds distance and candidate. `fresh` and `last` are constants; sums are not
 * updated for the last batch.
 */
FOR_FRESH void group_add(struct nearest *n, size_t group, const struct batch *b, uint32_t near,
                         bool fresh, bool last)
{
    size_t at = group * GROUP;
    struct colours c[VECTORS];
    lanes best[VECTORS], reach = lanes_all(LANES_NORMAL), mass = lanes_all(0);
    for (size_t v = 0; v < VECTORS; v++) {
        c[v] = colours_scaled(n->p->colour + at + v * LANES);
        best[v] =
            fresh ? lanes_all(NEAREST_NEVER) : lanes_load(n->key + at + v * LANES) + LANES_NORMAL;
    }
    do {
        int i = __builtin_ctz(near);
        lanes rb = lanes_all((int)b->scaled_rb[i]), g = lanes_all((int)b->scaled_g[i]),
              number = lanes_all(b->number[i] + LANES_NORMAL);
        for (size_t v = 0; v < VECTORS; v++) {
            lanes gap_rb = pairs_sub(c[v].rb, rb), gap_g = pairs_sub(c[v].g, g);
            best[v] = normal_min(best[v], lanes_dots(number, gap_rb, gap_rb, gap_g, gap_g));
        }
    } while (near &= near - 1);
    for (size_t v = 0; v < VECTORS; v++) {
        if (!last)
            reach = normal_max(reach, best[v]);
        best[v] -= LANES_NORMAL;
        lanes_store(n->key + at + v * LANES, best[v]);
        if (last)
            continue;
        mass = wide_add(
            mass, wide_products(distance_of(best[v]), lanes_load(n->p->weight + at + v * LANES)));
    }
    if (last)
        return;
    n->reach[group] = nearest_distance(normal_most(reach) - LANES_NORMAL);
    n->mass[group] = wide_sum(mass);
}

static inline uint32_t block_reach(const struct nearest *n, size_t group)
{
    lanes reach = lanes_load(n->reach + group) + LANES_NORMAL;
    for (int i = LANES; i < POINTS_BLOCK; i += LANES)
        reach = normal_max(reach, lanes_load(n->reach + group + i) + LANES_NORMAL);
    return normal_most(reach) - LANES_NORMAL;
}

/*
 * The groups of a stretch that a batch may change, listed by the number of candidates that may do
 * so. List 0 has the groups with NEAR_LISTS or more. Lists help because a branch predictor can
 * predict neither the groups nor their numbers. A visit is the group's index in the stretch *
 * NEAR_ONE + a bit for each candidate.
 */
enum {
    NEAR_LISTS = 5,
    NEAR_BLOCKS = 16,
    NEAR_GROUPS = NEAR_BLOCKS * POINTS_BLOCK,
    NEAR_ONE = 1 << BATCH_ALL
};

struct visits {
    size_t first; /* first group */
    uint32_t visit[NEAR_LISTS][NEAR_GROUPS + LANES];
    uint32_t count[NEAR_LISTS];
};

static inline void list_groups(struct visits *visits, int list, uint32_t in, lanes visit)
{
    uint32_t *to = lanes_pack(visits->visit[list] + visits->count[list], in, visit);
    visits->count[list] = (uint32_t)(to - visits->visit[list]);
}

/* Tests LANES groups as batch_near does, with the candidates that are left for their block. */
FOR_FRESH void groups_near(const struct nearest *n, size_t group, const struct batch *b,
                           uint32_t left, bool rival, bool fresh, struct visits *visits)
{
    const struct boxes *box = &n->p->group;
    struct corners c = {lanes_load(box->low_rb + group), lanes_load(box->low_g + group),
                        lanes_load(box->high_rb + group), lanes_load(box->high_g + group)};
    lanes nearest[BATCH_ALL],
        limit = fresh ? lanes_all(NEAREST_NEVER) : lanes_load(n->reach + group) + LANES_NORMAL,
        near = lanes_all(0);
    for (uint32_t bits = left; bits; bits &= bits - 1) {
        int i = __builtin_ctz(bits);
        lanes rb = lanes_all((int)b->rb[i]), g = lanes_all((int)b->g[i]);
        nearest[i] = box_nearest(c, rb, g);
        if (rival)
            limit = normal_min(limit, box_beyond(c, rb, g));
    }
    for (uint32_t bits = left; bits; bits &= bits - 1) {
        int i = __builtin_ctz(bits);
        near += lanes_where(mask_less(nearest[i], limit), lanes_all(NEAR_ONE + (1 << i)));
    }
    lanes many = near >> BATCH_ALL,
          number = lanes_count() + lanes_all((int)(group - visits->first));
    lanes visit = (near & (NEAR_ONE - 1)) | number << BATCH_ALL;
    for (int list = 1; list < NEAR_LISTS; list++)
        list_groups(visits, list, lanes_differ(many, lanes_all(list)) ^ LANES_EVERY, visit);
    list_groups(visits, 0, mask_bits(mask_not_less(many, lanes_all(NEAR_LISTS))), visit);
}

/* Lists the visits in a stretch of blocks. */
FOR_FRESH void list_visits_near(const struct nearest *n, size_t block, const struct batch *b,
                                bool rival, bool fresh, struct visits *visits)
{
    size_t end = block + NEAR_BLOCKS < n->p->blocks ? block + NEAR_BLOCKS : n->p->blocks;
    for (int list = 0; list < NEAR_LISTS; list++)
        visits->count[list] = 0;
    visits->first = block * POINTS_BLOCK;
    for (; block < end; block++) {
        size_t group = block * POINTS_BLOCK;
        uint32_t near = batch_near(b, &n->p->block, block,
                                   fresh ? NEAREST_NEVER : block_reach(n, group), rival);
        if (!near)
            continue;
        bool some = rival && (near & (near - 1) & ((near & (near - 1)) - 1));
        for (size_t last = group + POINTS_BLOCK; group < last; group += LANES)
            groups_near(n, group, b, near, some, fresh, visits);
    }
}

FOR_FRESH void add_visits(struct nearest *n, const struct visits *visits, const struct batch *b,
                          bool fresh, bool last)
{
    for (int list = 0; list < NEAR_LISTS; list++)
        for (uint32_t i = 0; i < visits->count[list]; i++) {
            uint32_t visit = visits->visit[list][i];
            group_add(n, visits->first + visit / NEAR_ONE, b, visit % NEAR_ONE, fresh, last);
        }
}

/* Adds a batch. `fresh`: no key is written yet. */
FOR_FRESH void add_batch(struct nearest *n, const struct batch *b, bool fresh, bool last)
{
    struct visits visits;
    for (size_t block = 0; block < n->p->blocks; block += NEAR_BLOCKS) {
        list_visits_near(n, block, b, true, fresh, &visits);
        add_visits(n, &visits, b, fresh, last);
    }
}

/*
 * Implements seed_nearest_add for candidates after the first, except for the sums over groups. If
 * there are none, candidate 0 gets its keys.
 */
static void add_candidates(struct nearest *n, const uint32_t *colour, int first, int count,
                           bool last)
{
    struct batch b;
    int at = 0;
    if (n->alone) {
        at = count < BATCH ? count : BATCH;
        batch_fill(&b, colour, first, at, &n->origin);
        add_batch(n, &b, true, false);
    }
    for (; at < count; at += BATCH) {
        batch_fill(&b, colour + at, first + at, count - at < BATCH ? count - at : BATCH, NULL);
        if (last && count - at <= BATCH)
            add_batch(n, &b, false, true);
        else
            add_batch(n, &b, false, false);
    }
}

/*
 * Computes the masses for candidate 0 alone. Its keys can wait until other candidates are added,
 * because nearly all points then have another nearest candidate. For a group's points, sum w|x -
 * c|^2 = sum w|x|^2 - 2 c . sum wx + |c|^2 sum w.
 */
static void begin_candidates(struct nearest *n)
{
    const uint64_t(*sum)[4] = (const uint64_t(*)[4])n->p->group_sum;
    uint64_t r = n->origin & 255, g = n->origin >> 8 & 255, b = n->origin >> 16 & 255;
    for (size_t i = 0; i < n->p->groups; i++)
        n->mass[i] = n->p->group_square[i] + (r * r + g * g + b * b) * sum[i][3] -
                     2 * (r * sum[i][0] + g * sum[i][1] + b * sum[i][2]);
}

/* Adds to gain[c] what candidate c would subtract from the group's mass. */
static inline void group_try(const struct nearest *n, size_t group, const struct batch *b,
                             uint32_t near, uint64_t *gain)
{
    size_t at = group * GROUP;
    struct colours c[VECTORS];
    lanes best[VECTORS], weight[VECTORS];
    for (size_t v = 0; v < VECTORS; v++) {
        c[v] = colours_at(n->p->colour + at + v * LANES);
        best[v] = distance_of(lanes_load(n->key + at + v * LANES));
        weight[v] = lanes_load(n->p->weight + at + v * LANES);
    }
    do {
        int i = __builtin_ctz(near);
        lanes mass = lanes_all(0);
        for (size_t v = 0; v < VECTORS; v++) {
            lanes d = lanes_min(best[v], distances(c[v], b, i));
            mass = wide_add(mass, wide_products(best[v] - d, weight[v]));
        }
        gain[i] += wide_sum(mass);
    } while (near &= near - 1);
}

/* Implements seed_nearest_try. */
static void try_candidates(const struct nearest *n, const uint32_t *colour, int count,
                           uint64_t *potential)
{
    struct batch all = {.count = 0};
    struct visits visits;
    uint64_t gain[BATCH] = {0};
    batch_fill(&all, colour, 0, count, NULL);
    for (size_t block = 0; block < n->p->blocks; block += NEAR_BLOCKS) {
        list_visits_near(n, block, &all, false, false, &visits);
        for (int list = 0; list < NEAR_LISTS; list++)
            for (uint32_t i = 0; i < visits.count[list]; i++) {
                uint32_t visit = visits.visit[list][i];
                group_try(n, visits.first + visit / NEAR_ONE, &all, visit % NEAR_ONE, gain);
            }
    }
    for (int c = 0; c < count; c++)
        potential[c] = n->total - gain[c];
}

/* The points after which the nearest candidate changes: a list, because they are unpredictable. */
struct ends {
    uint32_t at[BLOCK + LANES];
    uint32_t count;
};

static inline void list_ends(const struct nearest *n, size_t at, size_t count, struct ends *ends)
{
    uint32_t *to = ends->at;
    for (; count >= LANES; at += LANES, count -= LANES) {
        lanes here = lanes_load(n->key + at), next = lanes_load_any(n->key + at + 1);
        uint32_t bits = lanes_differ(here & (NEAREST_MOST - 1), next & (NEAREST_MOST - 1));
        to = lanes_pack(to, bits, lanes_count() + lanes_all((int)at));
    }
    for (; count; at++, count--)
        if (nearest_index(n->key[at]) != nearest_index(n->key[at + 1]))
            *to++ = (uint32_t)at;
    ends->count = (uint32_t)(to - ends->at);
}

/* Implements seed_nearest_count, by runs of neighbours with the same nearest candidate. */
static void count_candidates(const struct nearest *n, uint32_t *weight, int count)
{
    const uint32_t *prefix = n->p->prefix;
    size_t last = n->p->n - 1;
    uint32_t before = 0;
    struct ends ends = {.count = 0};
    memset(weight, 0, (size_t)count * sizeof *weight);
    for (size_t at = 0; at < last; at += BLOCK) {
        list_ends(n, at, last - at < BLOCK ? last - at : BLOCK, &ends);
        for (uint32_t i = 0; i < ends.count; i++) {
            uint32_t end = ends.at[i];
            weight[nearest_index(n->key[end])] += prefix[end] - before;
            before = prefix[end];
        }
    }
    weight[nearest_index(n->key[last])] += prefix[last] - before;
}

const struct kmeans_vector ISA_NAME(kmeans) = {.runs = make_runs,
                                               .distinct = distinct_points,
                                               .box = box_points,
                                               .begin = begin_candidates,
                                               .add = add_candidates,
                                               .try = try_candidates,
                                               .count = count_candidates,
                                               .step = ISA_NAME(assign_again)};
