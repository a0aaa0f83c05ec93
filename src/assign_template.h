/*
 * assign_template.h - the assign step that looks only where something may have changed, written once
 * over kmeans_lanes.h. The including file defines ISA(name). Scores P_j(c) as in assign.h.
 *
 * Box test. P_w - P_j is linear in the colour, so over a box its maximum is at a corner:
 *     2 max(P_w - P_j) = 2 (P_w - P_j)(centre) + edges . |step_w - step_j|.
 * Negative: no point of the box can go to j. Any w will do; the label of a point inside is a good one.
 *
 * Margins. slack[0][group] <= P_j - P_winner for every point of the group and every other j in the block's
 * `rivals`. A step that moves P_winner up and P_j down by less than that in sum leaves the labels as they are,
 * and the largest such sum over a block's box is found like the box test. So a step costs one box test a
 * block, and work on those groups alone whose slack is used up. Sums follow the labels that change.
 * With two rivals, slack[0] speaks for the points of the lower one and slack[1] for those of the other: a
 * border that moves threatens one side only.
 *
 * Tried and slower (320x180, k 8): testing every group's box in every step; a slack for each winner of three and four
 * rivals; blocks split into quarters; a compact list of the points near a border, a block each; with AVX-512 all eight
 * centroids instead of the rivals. No faster: testing a block's box only where a bound on all movements since the last test
 * lets a centroid in (a third of the tests are left); the minima of two vectors in one; two sets of totals (3 %).
 *
 * All bounds are rounded to the safe side: they decide what is looked at, never what is found there.
 */
#include <string.h>

#include "assign.h"
#include "kmeans_lanes.h"

enum { VECTORS = POINTS_GROUP / LANES, SLACK_MOST = 1 << 30 };

/* How many centroids a set that is not empty has. */
#define SINGLE(set) (((set) & ((set) - 1)) == 0)
#define PAIR(set) (!SINGLE(set) && SINGLE((set) & ((set) - 1)))

struct middle {
    lanes rb, g, extent_rb, extent_g;
};

static inline struct middle middle_of(const struct box *box)
{
    return (struct middle){lanes_all((int)box->centre_rb), lanes_all((int)box->centre_g),
                           lanes_all((int)box->extent_rb), lanes_all((int)box->extent_g)};
}

/* Twice the scores of LANES centroids from `at` on at the centre of the box. */
static inline lanes at_centre(const struct assign_table *t, int at, struct middle m)
{
    return lanes_dot(lanes_dot(lanes_load(t->twice + at), m.rb, lanes_load(t->rb + at)), m.g, lanes_load(t->g + at));
}

/* The centroid that wins the centre of a box: where to begin when there are no labels yet. */
static inline int centre_winner(const struct assign *a, const struct box *box, int chunks)
{
    struct middle m = middle_of(box);
    int winner = 0;
    int32_t least = INT32_MAX;
    for (int c = 0; c < chunks; c++) {
        lanes score = at_centre(&a->now, c * LANES, m);
        int32_t here = lanes_least(score);
        if (here < least) {
            least = here;
            winner = c * LANES + __builtin_ctz(lanes_equal(score, lanes_all(here)));
        }
    }
    return winner;
}

/* The centroids that may win a point of the box, w among them. */
static inline uint64_t box_test(const struct assign *a, const struct box *box, int w, int chunks)
{
    struct middle m = middle_of(box);
    lanes own = lanes_dot(lanes_dot(lanes_all(a->now.twice[w]), m.rb, lanes_all((int)a->now.rb[w])),
                          m.g, lanes_all((int)a->now.g[w]));
    const struct assign_spread *spread = a->spread + w;
    uint64_t set = 0;
    for (int c = 0; c < chunks; c++) {
        int at = c * LANES;
        lanes reach = lanes_dot(lanes_dot(own, m.extent_rb, lanes_load(spread->rb + at)),
                                m.extent_g, lanes_load(spread->g + at));
        uint32_t lost = lanes_negative(lanes_sub(reach, at_centre(&a->now, at, m)));
        set |= (uint64_t)(~lost & LANES_EVERY) << at;
    }
    return set;
}

/* By how much P_winner - P_j can have grown since the last step, for all winners and j in `set`. */
static inline int32_t drift(const struct assign *a, const struct box *box, uint64_t set, int chunks)
{
    struct middle m = middle_of(box);
    lanes up = lanes_all(INT32_MIN), down = lanes_all(INT32_MAX);
    for (int c = 0; c < chunks; c++) {
        int at = c * LANES;
        uint32_t bits = (uint32_t)(set >> at) & LANES_EVERY;
        lanes centre = at_centre(&a->moved, at, m);
        lanes rb = pairs_gap(lanes_load(a->moved.rb + at), lanes_all(0));
        lanes g = pairs_gap(lanes_load(a->moved.g + at), lanes_all(0));
        lanes reach = lanes_dot(lanes_dot(lanes_all(0), m.extent_rb, rb), m.extent_g, g);
        up = lanes_max(up, lanes_pick(bits, lanes_add(centre, reach), up));
        down = lanes_min(down, lanes_pick(bits, lanes_sub(centre, reach), down));
    }
    return (lanes_most(up) - lanes_least(down) + 1) / 2;
}

/* The two of a pair of rivals: the lower and the higher index. */
struct pair {
    int a, b;
};

static inline struct pair pair_of(uint64_t set)
{
    return (struct pair){__builtin_ctzll(set), 63 - __builtin_clzll(set)};
}

/* The same for two rivals, exactly: by how much P_a - P_b grew (*up_a) and P_b - P_a (*up_b), at most. */
static inline void pair_drift(const struct assign *as, const struct box *box, struct pair p, int32_t *up_a,
                              int32_t *up_b)
{
    const struct assign_table *m = &as->moved;
    __m128i a = _mm_insert_epi32(_mm_cvtsi32_si128((int)m->rb[p.a]), (int)m->g[p.a], 1);
    __m128i b = _mm_insert_epi32(_mm_cvtsi32_si128((int)m->rb[p.b]), (int)m->g[p.b], 1);
    __m128i gap = _mm_sub_epi16(_mm_max_epi16(a, b), _mm_min_epi16(a, b));
    gap = _mm_avg_epu16(gap, _mm_setzero_si128());
    /* centre_rb, centre_g, extent_rb, extent_g */
    __m128i part = _mm_madd_epi16(_mm_loadu_si128((const __m128i *)&box->centre_rb),
                                  _mm_unpacklo_epi64(_mm_sub_epi16(a, b), gap));
    part = _mm_add_epi32(part, _mm_shuffle_epi32(part, 0xb1));
    int32_t centre = _mm_cvtsi128_si32(part) + m->twice[p.a] - m->twice[p.b];
    int32_t reach = _mm_extract_epi32(part, 2) + 1;
    *up_a = (reach + centre) >> 1;
    *up_b = (reach - centre) >> 1;
}

/*
 * The points that change sides in a stretch of blocks: a list, because which they are is as good as random to a
 * branch predictor.
 */
enum { STRETCH = 16, STRETCH_POINTS = STRETCH * POINTS_STEP, CHANGE_NEW = 12 };

struct stretch {
    uint32_t change[STRETCH_POINTS + LANES];    /* point in the stretch | new label << 12 */
    uint32_t changes;
    size_t block;                               /* the first                              */
};

struct colours {
    lanes rb, g;
};

static inline struct colours colours_at(const struct assign *a, size_t at)
{
    lanes colour = lanes_load(a->p->colour + at), mask = lanes_all(0x00ff00ff);
    return (struct colours){lanes_and(colour, mask), lanes_and(lanes_right8(colour), mask)};
}

/* Notes those of LANES points whose label is no longer `is`. */
static inline void note_changes(const struct assign *a, struct stretch *s, size_t at, lanes is)
{
    uint32_t changed = lanes_differ(is, lanes_from_u8(a->label + at));
    lanes point = lanes_add(lanes_count(), lanes_all((int)(at - s->block * POINTS_STEP)));
    lanes_pack(s->change + s->changes, changed, lanes_or(point, lanes_left(is, CHANGE_NEW)));
    s->changes += (uint32_t)__builtin_popcount(changed);
}

/* Scores a group against the centroids in `set`. */
static inline void visit(struct assign *a, struct stretch *s, size_t group, uint64_t set)
{
    size_t at = group * POINTS_GROUP;
    lanes margin = lanes_all(INT32_MAX), low = lanes_all((1 << a->bits) - 1);
    struct colours c[VECTORS];
    lanes best[VECTORS], second[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        c[v] = colours_at(a, at + (size_t)(v * LANES));
        best[v] = second[v] = lanes_all(ASSIGN_NEVER);
    }
    for (; set; set &= set - 1) {
        int j = __builtin_ctzll(set);
        lanes constant = lanes_all(a->now.constant[j]);
        lanes step_rb = lanes_all((int)a->now.rb[j]), step_g = lanes_all((int)a->now.g[j]);
        for (int v = 0; v < VECTORS; v++) {
            lanes score = lanes_dot(lanes_dot(constant, c[v].rb, step_rb), c[v].g, step_g);
            second[v] = lanes_min(second[v], lanes_max(best[v], score));
            best[v] = lanes_min(best[v], score);
        }
    }
    for (int v = 0; v < VECTORS; v++) {
        margin = lanes_min(margin, lanes_sub(second[v], best[v]));
        note_changes(a, s, at + (size_t)(v * LANES), lanes_and(best[v], low));
    }
    a->slack[0][group] = a->slack[1][group] = lanes_least(margin);
}

/* What decides between two rivals: P_a - P_b = constant + c . step. */
struct border {
    lanes constant, rb, g, a, b;
};

static inline struct border border_of(const struct assign *a, struct pair p)
{
    const struct assign_table *t = &a->now;
    return (struct border){
        lanes_all(t->constant[p.a] - t->constant[p.b]),
        pairs_sub(lanes_all((int)t->rb[p.a]), lanes_all((int)t->rb[p.b])),
        pairs_sub(lanes_all((int)t->g[p.a]), lanes_all((int)t->g[p.b])),
        lanes_all(p.a), lanes_all(p.b)};
}

/* The same for two rivals whose steps differ by an int16: one linear function, and a slack for each side. */
static inline void visit_pair(struct assign *a, struct stretch *s, size_t group, const struct border *border)
{
    size_t at = group * POINTS_GROUP;
    lanes side_a = lanes_all(SLACK_MOST), side_b = side_a;
    for (int v = 0; v < VECTORS; v++, at += LANES) {
        struct colours c = colours_at(a, at);
        lanes d = lanes_dot(lanes_dot(border->constant, c.rb, border->rb), c.g, border->g);
        /* Unsigned, the other side's are huge. ~d = -d - 1. */
        side_a = lanes_min_unsigned(side_a, lanes_not(d));
        side_b = lanes_min_unsigned(side_b, d);
        note_changes(a, s, at, lanes_pick_negative(d, border->a, border->b));
    }
    a->slack[0][group] = lanes_least(side_a);
    a->slack[1][group] = lanes_least(side_b);
}

static inline bool int16_pair(const struct assign_table *t, struct pair p)
{
    int r = (int16_t)t->rb[p.a] - (int16_t)t->rb[p.b], g = (int16_t)t->g[p.a] - (int16_t)t->g[p.b];
    int b = (int16_t)(t->rb[p.a] >> 16) - (int16_t)(t->rb[p.b] >> 16);
    return r == (int16_t)r && g == (int16_t)g && b == (int16_t)b;
}

/* Visits the groups of a block whose bit is 1. */
static inline void visit_all(struct assign *a, struct stretch *s, size_t block, uint32_t groups, uint64_t set)
{
    size_t first = block * POINTS_BLOCK;
    if (PAIR(set) && int16_pair(&a->now, pair_of(set))) {
        struct border border = border_of(a, pair_of(set));
        for (; groups; groups &= groups - 1)
            visit_pair(a, s, first + (size_t)__builtin_ctz(groups), &border);
    } else {
        for (; groups; groups &= groups - 1)
            visit(a, s, first + (size_t)__builtin_ctz(groups), set);
    }
}

/* Lets the labels and the sums follow the changes. */
static void apply(struct assign *a, const struct stretch *s)
{
    const uint32_t *colour = a->p->colour + s->block * POINTS_STEP, *weight = a->p->weight + s->block * POINTS_STEP;
    uint8_t *label = a->label + s->block * POINTS_STEP;
    for (uint32_t i = 0; i < s->changes; i++) {
        uint32_t at = s->change[i] % STRETCH_POINTS, to = s->change[i] >> CHANGE_NEW;
        __m128i *old = (__m128i *)a->total[label[at]], *new = (__m128i *)a->total[to];
        __m128i part = _mm_cvtepu8_epi32(_mm_cvtsi32_si128((int)colour[at]));
        part = _mm_mullo_epi32(part, _mm_set1_epi32((int)weight[at]));
        label[at] = (uint8_t)to;
        _mm_store_si128(old, _mm_sub_epi32(_mm_load_si128(old), part));
        _mm_store_si128(new, _mm_add_epi32(_mm_load_si128(new), part));
    }
}

/* Gives a whole group to w, to be put right by a visit. */
static inline void claim(struct assign *a, size_t group, int w)
{
    __m128i *total = (__m128i *)a->total[w];
    __m128i part = _mm_load_si128((const __m128i *)a->p->sum[group]);
    _mm_store_si128(total, _mm_add_epi32(_mm_load_si128(total), part));
    memset(a->label + group * POINTS_GROUP, w, POINTS_GROUP);
}

/* One bit for each group that the block has. */
static inline uint32_t groups_of(const struct assign *a, size_t block)
{
    size_t left = a->p->groups - block * POINTS_BLOCK;
    return left < POINTS_BLOCK ? (UINT32_C(1) << left) - 1 : (UINT32_C(1) << POINTS_BLOCK) - 1;
}

static inline void block_first(struct assign *a, struct stretch *s, size_t block, int chunks)
{
    int w = centre_winner(a, a->p->block + block, chunks);
    uint64_t set = box_test(a, a->p->block + block, w, chunks);
    uint32_t groups = groups_of(a, block);
    size_t group = block * POINTS_BLOCK;
    a->rivals[block] = set;
    for (uint32_t left = groups; left; left >>= 1, group++)
        claim(a, group, SINGLE(set) ? w : centre_winner(a, a->p->group + group, chunks));
    if (!SINGLE(set))
        visit_all(a, s, block, groups, set);
}

/* Takes the drift off the slacks of the block's groups; returns the groups where one is used up. */
static inline uint32_t use_up(struct assign *a, size_t block, int32_t up_a, int32_t up_b)
{
    uint32_t used_up = 0;
    size_t group = block * POINTS_BLOCK;
    for (int i = 0; i < POINTS_BLOCK; i += LANES) {
        int32_t *side_a = a->slack[0] + group + i, *side_b = a->slack[1] + group + i;
        /* A side that the border leaves gains: not without end. */
        lanes slack_a = lanes_min(lanes_sub(lanes_load(side_a), lanes_all(up_a)), lanes_all(SLACK_MOST));
        lanes slack_b = lanes_min(lanes_sub(lanes_load(side_b), lanes_all(up_b)), lanes_all(SLACK_MOST));
        lanes_store(side_a, slack_a);
        lanes_store(side_b, slack_b);
        used_up |= lanes_negative(lanes_or(slack_a, slack_b)) << i;
    }
    return used_up & groups_of(a, block);
}

static inline void block_next(struct assign *a, struct stretch *s, size_t block, int chunks)
{
    const struct box *box = a->p->block + block;
    uint64_t known = a->rivals[block];
    uint64_t set = box_test(a, box, a->label[block * POINTS_STEP], chunks);
    a->rivals[block] = set;
    if (a->far || (set & ~known)) {
        visit_all(a, s, block, groups_of(a, block), set);
    } else if (!SINGLE(known)) {
        int32_t up_a, up_b;
        if (PAIR(known))
            pair_drift(a, box, pair_of(known), &up_a, &up_b);
        else
            up_a = up_b = drift(a, box, known, chunks);
        visit_all(a, s, block, use_up(a, block, up_a, up_b), set);
    }
}

static inline void step(struct assign *a, bool first, int chunks)
{
    struct stretch s;
    for (s.block = 0; s.block < a->p->blocks; s.block += STRETCH) {
        size_t end = s.block + STRETCH < a->p->blocks ? s.block + STRETCH : a->p->blocks;
        s.changes = 0;
        for (size_t block = s.block; block < end; block++) {
            if (first)
                block_first(a, &s, block, chunks);
            else
                block_next(a, &s, block, chunks);
        }
        apply(a, &s);
    }
}

static void fill_spread(struct assign *a, int chunks)
{
    for (int w = 0; w < a->k; w++) {
        lanes rb = lanes_all((int)a->now.rb[w]), g = lanes_all((int)a->now.g[w]);
        for (int at = 0; at < chunks * LANES; at += LANES) {
            lanes_store(a->spread[w].rb + at, pairs_gap(rb, lanes_load(a->now.rb + at)));
            lanes_store(a->spread[w].g + at, pairs_gap(g, lanes_load(a->now.g + at)));
        }
    }
}

void ISA(assign_step)(struct assign *a, bool first)
{
    int chunks = (a->k + LANES - 1) / LANES;
    assign_load(a, first);
    fill_spread(a, chunks);
    if (first)
        memset(a->total, 0, sizeof a->total);
    if (chunks == 1)
        step(a, first, 1);
    else
        step(a, first, chunks);
}
