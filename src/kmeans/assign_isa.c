/*
 * assign_isa.c - the assign step that examines only points whose winner may have changed, written
 * once on top of kmeans_lanes.h. Scores P_j(c) are defined in assign.h.
 *
 * Box test: the filtering of Kanungo et al. (IEEE TPAMI 24(7), 2002; earlier Pelleg and Moore, KDD
 * 1999). Boxes of neighbours in Morton order, of two sizes, replace the cells of a kd-tree. P_w -
 * P_j is linear in the colour, so its maximum over a box is at a corner: 2 max(P_w - P_j) = 2 (P_w
 * - P_j)(centre) + edges . |step_w - step_j|. If it is negative, no point of the box can go to j. w
 * is the winner of the centre. The remaining centroids, including w, are the box's rivals.
 *
 * Margins: the bounds of Hamerly (SDM 2010). A point need not be scored while its centroid and the
 * next best have moved too little. Hamerly keeps a bound for each point, this code one for each
 * group, as a difference of scores rather than distances. slack[0][group] <= P_j - P_winner for
 * every point of the group and every other rival j of its block. Suppose that a step moves P_winner
 * up and P_j down by no more than that in sum. Then the labels do not change, because no two scores
 * of a point are equal. The largest such sum over a block's box is its drift. It is found like the
 * box test, where Hamerly uses the triangle inequality.
 *
 * With two rivals, slack[0] is for the points of the lower one and slack[1] for those of the other,
 * because a moving border threatens only one side. Elkan (ICML 2003) goes further, to a bound for
 * each centroid.
 *
 * So a step tests the boxes of all blocks and subtracts the drift from the least slack of each, a
 * vector of blocks at a time. If a block's slack is used up, the step examines its groups, and then
 * only the points of groups whose own slack is used up. Sums are updated for the labels that
 * change.
 *
 * All bounds are exact or rounded to the safe side. They only decide what is examined, never the
 * result.
 */
#include <string.h>

#include "assign.h"
#include "kmeans_lanes.h"
#include "kmeans_vector.h"

/* A stretch is LANES blocks. */
enum { STRETCH_GROUPS = LANES * POINTS_BLOCK, STRETCH_POINTS = LANES * BLOCK };
enum { SLACK_MOST = 1 << 30, CHANGE_NEW = 16, LISTS = 9 };

_Static_assert(STRETCH_POINTS <= 1 << CHANGE_NEW, "a change holds a point's number");

/* Inlined, so that each shape gets specialized code. */
#define FOR_SHAPE static inline __attribute__((always_inline))

/* Layout of sets of centroids: `words` of 32 bits; `few`: a vector has an entry for each. */
struct shape {
    int words;
    bool few;
};

/* Twice the centres (low + high) and the edges of LANES boxes. */
struct places {
    lanes centre_rb, centre_g, edge_rb, edge_g;
};

static inline struct places places_of(const struct boxes *b, size_t at)
{
    lanes low_rb = lanes_load(b->low_rb + at), low_g = lanes_load(b->low_g + at);
    lanes high_rb = lanes_load(b->high_rb + at), high_g = lanes_load(b->high_g + at);
    return (struct places){low_rb + high_rb, low_g + high_g, high_rb - low_rb, high_g - low_g};
}

/* Returns twice the scores of centroid j at the centres. */
static inline lanes at_centres(const struct assign_table *t, int j, struct places c)
{
    return lanes_dots(lanes_all(t->twice[j]), c.centre_rb, lanes_all((int)t->rb[j]), c.centre_g,
                      lanes_all((int)t->g[j]));
}

/* Returns the minimum of at_centres; stores each result in centre[j] (may be NULL). */
static inline lanes least_at_centres(const struct assign *a, struct places c, lanes *centre)
{
    lanes least = lanes_all(2 * ASSIGN_NEVER);
    for (int j = 0; j < a->k; j++) {
        lanes here = at_centres(&a->now, j, c);
        if (centre)
            centre[j] = here;
        least = normal_min(least, here);
    }
    return least;
}

/* Returns the bits of a score that are the winner. */
static inline lanes index_bits(const struct assign *a) { return lanes_all((1 << a->bits) - 1); }

/* Returns the bit of centroid j in its word of a set. */
static inline lanes bit_of(int j) { return lanes_all((int)(UINT32_C(1) << (j % 32))); }

/* Finds the rivals of each block: set[0] (centroids 0..31) and set[1]. Returns their kind. */
FOR_SHAPE lanes box_test(const struct assign *a, struct places c, struct shape shape, lanes set[2])
{
    lanes centre[CLUSTERS_MAX], least = least_at_centres(a, c, centre), kind = lanes_all(0);
    lanes w = least & index_bits(a);
    lanes half_rb = lanes_look_up(a->now.half_rb, w, shape.few),
          half_g = lanes_look_up(a->now.half_g, w, shape.few);
    lanes twice_rb = c.edge_rb + c.edge_rb, twice_g = c.edge_g + c.edge_g;
    for (int word = 0; word < shape.words; word++) {
        set[word] = lanes_all(0);
        for (int j = 32 * word; j < a->k && j < 32 * word + 32; j++) {
            lanes gap_rb = pairs_abs(pairs_sub(half_rb, lanes_all((int)a->now.half_rb[j])));
            lanes gap_g = pairs_abs(pairs_sub(half_g, lanes_all((int)a->now.half_g[j])));
            lanes reach = lanes_dots(least, twice_rb, gap_rb, twice_g, gap_g);
            lanes_mask in = mask_not_less(reach, centre[j]);
            set[word] |= lanes_where(in, bit_of(j));
            kind += lanes_where(in, lanes_all(KIND_ONE + j));
        }
    }
    /* w is included, so the sum of two indices gives the other one. A single rival is both. */
    lanes other = (kind - w) & (CLUSTERS_MAX - 1);
    other = lanes_select(mask_less(kind, lanes_all(2 * KIND_ONE)), w, other);
    lanes ends = lanes_min(w, other) | lanes_max(w, other) << KIND_HIGH;
    return (kind & lanes_all(-KIND_ONE)) | ends;
}

/* Computes how much the lower rival's score can have grown over the other's, and vice versa. */
FOR_SHAPE void pair_drift(const struct assign *a, struct places c, lanes kind, struct shape shape,
                          lanes up[2])
{
    const struct assign_table *m = &a->moved;
    lanes low = kind & (CLUSTERS_MAX - 1);
    lanes high = kind >> KIND_HIGH & (CLUSTERS_MAX - 1);
    lanes rb =
        pairs_sub(lanes_look_up(m->rb, low, shape.few), lanes_look_up(m->rb, high, shape.few));
    lanes g = pairs_sub(lanes_look_up(m->g, low, shape.few), lanes_look_up(m->g, high, shape.few));
    lanes centre =
        lanes_look_up(m->twice, low, shape.few) - lanes_look_up(m->twice, high, shape.few);
    centre = lanes_dots(centre, c.centre_rb, rb, c.centre_g, g);
    lanes reach = lanes_dots(lanes_all(0), c.edge_rb, pairs_abs(rb), c.edge_g, pairs_abs(g));
    up[0] = lanes_right1(reach + centre);
    up[1] = lanes_right1(reach - centre);
}

/* Returns by how much any score in the set can have grown over any other. */
static inline lanes set_drift(const struct assign *a, struct places c, const lanes set[2])
{
    const struct assign_table *m = &a->moved;
    lanes up = lanes_all(INT32_MIN / 2), down = lanes_all(INT32_MAX / 2);
    for (int j = 0; j < a->k; j++) {
        lanes_mask in = mask_test(set[j / 32], bit_of(j));
        lanes rb = pairs_abs(lanes_all((int)m->rb[j])), g = pairs_abs(lanes_all((int)m->g[j]));
        lanes centre = at_centres(m, j, c);
        lanes reach = lanes_dots(lanes_all(0), c.edge_rb, rb, c.edge_g, g);
        up = lanes_select(in, lanes_max(up, centre + reach), up);
        down = lanes_select(in, lanes_min(down, centre - reach), down);
    }
    return lanes_right1(up - down);
}

/* Computes what the step subtracts from the slacks of blocks with these rivals. */
FOR_SHAPE void drifts(const struct assign *a, struct places c, lanes kind, const lanes set[2],
                      struct shape shape, lanes up[2])
{
    pair_drift(a, c, kind, shape, up);
    lanes_mask many = mask_not_less(kind, lanes_all(3 * KIND_ONE)),
               single = mask_less(kind, lanes_all(2 * KIND_ONE));
    lanes any = mask_bits(many) ? set_drift(a, c, set) : lanes_all(0);
    for (int side = 0; side < 2; side++)
        up[side] = lanes_select(single, lanes_all(0), lanes_select(many, any, up[side]));
}

/* The work in a stretch, as lists, because its branches would be unpredictable. */
struct stretch {
    size_t block; /* first block */
    uint32_t changes, visits[LISTS];
    uint32_t visit[LISTS][STRETCH_GROUPS + LANES]; /* groups, by number of rivals */
    uint32_t change[STRETCH_POINTS + LANES]; /* point in the stretch | new label << CHANGE_NEW */
};

/* Returns the numbers of LANES points in the stretch. */
static inline lanes point_numbers(const struct stretch *s, size_t at)
{
    return lanes_count() + lanes_all((int)(at - s->block * BLOCK));
}

/*
 * Compares the labels of LANES points with `is` and appends the points that differ at `next`.
 * Returns the new end, so that it stays in a register.
 */
static inline uint32_t *append_changes(const uint8_t *label, lanes point, lanes is, uint32_t *next)
{
    uint32_t changed = lanes_differ(is, lanes_from_u8(label));
    return lanes_pack(next, changed, point | is << CHANGE_NEW);
}

static inline int32_t least_slack(lanes slack)
{
    return (int32_t)(normal_least(slack) - LANES_NORMAL);
}

/* Scores a group against the centroids in `set`. */
static inline uint32_t *visit(struct assign *a, const struct stretch *s, size_t group, uint64_t set,
                              uint32_t *next)
{
    size_t at = group * GROUP;
    const uint8_t *label = a->label + at;
    lanes margin = lanes_all(ASSIGN_NEVER), point = point_numbers(s, at), index = index_bits(a);
    struct colours c[VECTORS];
    lanes best[VECTORS], second[VECTORS];
    for (size_t v = 0; v < VECTORS; v++) {
        c[v] = colours_at(a->p->colour + at + v * LANES);
        best[v] = second[v] = lanes_all(ASSIGN_NEVER);
    }
    for (; set; set &= set - 1) {
        int j = __builtin_ctzll(set);
        lanes constant = lanes_all(a->now.constant[j]);
        lanes step_rb = lanes_all((int)a->now.rb[j]), step_g = lanes_all((int)a->now.g[j]);
        for (size_t v = 0; v < VECTORS; v++) {
            lanes score = lanes_dots(constant, c[v].rb, step_rb, c[v].g, step_g);
            second[v] = normal_min(second[v], normal_max(best[v], score));
            best[v] = normal_min(best[v], score);
        }
    }
    for (size_t v = 0; v < VECTORS; v++) {
        margin = normal_min(margin, second[v] - best[v] + LANES_NORMAL);
        next =
            append_changes(label + v * LANES, point + (uint32_t)(v * LANES), best[v] & index, next);
    }
    a->slack[0][group] = a->slack[1][group] = least_slack(margin);
    return next;
}

/*
 * Scores a group with two rivals by one linear function, half of P_low - P_high rounded down (the
 * steps are even), and computes a slack for each side.
 */
static inline uint32_t *visit_pair(struct assign *a, const struct stretch *s, size_t group, int low,
                                   int high, uint32_t *next)
{
    const struct assign_table *t = &a->now;
    lanes constant = lanes_right1(lanes_all(t->constant[low]) - lanes_all(t->constant[high]));
    lanes step_rb = pairs_sub(lanes_all((int)t->half_rb[low]), lanes_all((int)t->half_rb[high]));
    lanes step_g = pairs_sub(lanes_all((int)t->half_g[low]), lanes_all((int)t->half_g[high]));
    lanes side_low = lanes_all(SLACK_MOST / 2 + LANES_NORMAL), side_high = side_low;
    size_t at = group * GROUP;
    const uint32_t *colour = a->p->colour + at;
    const uint8_t *label = a->label + at;
    lanes point = point_numbers(s, at);
    for (size_t v = 0; v < VECTORS; v++) {
        struct colours c = colours_at(colour + v * LANES);
        lanes d = lanes_dots(constant, c.rb, step_rb, c.g, step_g);
        /* ~d = -d - 1. */
        side_low = lanes_side(side_low, ~d);
        side_high = lanes_side(side_high, d);
        lanes is = lanes_pick_negative(d, lanes_all(low), lanes_all(high));
        next = append_changes(label + v * LANES, point + (uint32_t)(v * LANES), is, next);
    }
    a->slack[0][group] = 2 * least_slack(side_low);
    a->slack[1][group] = 2 * least_slack(side_high);
    return next;
}

/*
 * Updates the labels and the sums for the changes. Neighbours change between the same two
 * centroids: with one set of totals, every addition would wait for the previous one.
 */
static void apply_changes(struct assign *a, const struct stretch *s)
{
    size_t first = s->block * BLOCK;
    const uint32_t *colour = a->p->colour + first, *weight = a->p->weight + first;
    uint8_t *label = a->label + first;
    for (uint32_t i = 0; i < s->changes; i++) {
        uint32_t at = s->change[i] % (1 << CHANGE_NEW), to = s->change[i] >> CHANGE_NEW;
        sums_move(a->total[i % 2][label[at]], a->total[i % 2][to], colour[at], weight[at]);
        label[at] = (uint8_t)to;
    }
}

static inline void add_total(struct assign *a, int set, uint32_t winner, const uint64_t sum[4])
{
    for (int c = 0; c < 4; c++)
        a->total[set][winner][c] += sum[c];
}

/* Assigns a block, or each of its groups, to the winner of its centre. A visit corrects this. */
static inline void assign_block(struct assign *a, size_t block)
{
    _Alignas(64) uint32_t winner[LANES];
    int kind = a->kind[block];
    if (kind < 2 * KIND_ONE) {
        add_total(a, 0, KIND_LOWER(kind), a->p->block_sum[block]);
        memset(a->label + block * BLOCK, KIND_LOWER(kind), BLOCK);
        return;
    }
    for (size_t group = block * POINTS_BLOCK; group < (block + 1) * POINTS_BLOCK; group += LANES) {
        struct places centres = places_of(&a->p->group, group);
        lanes_store(winner, least_at_centres(a, centres, NULL) & index_bits(a));
        for (int i = 0; i < LANES; i++) {
            add_total(a, i % 2, winner[i], a->p->group_sum[group + (size_t)i]);
            memset(a->label + (group + (size_t)i) * GROUP, (int)winner[i], GROUP);
        }
    }
}

/*
 * Subtracts the drift from the least slack of the blocks. Returns one bit for each block whose
 * slack is used up. `due` accumulates what is not yet subtracted from the slacks of a block's
 * groups. It never exceeds what scores can change, so no sum overflows.
 */
static inline uint32_t use_up(struct assign *a, size_t block, const lanes up[2])
{
    lanes both = lanes_all(0);
    for (int side = 0; side < 2; side++) {
        int32_t *least = a->least[side] + block, *due = a->due[side] + block;
        lanes left = lanes_load(least) - up[side];
        lanes_store(least, left);
        lanes_store(due, lanes_load(due) + up[side]);
        both |= left;
    }
    return lanes_negative(both);
}

/* Returns the blocks of a stretch to examine, one bit a block, and updates their state. */
FOR_SHAPE uint32_t test_blocks(struct assign *a, size_t block, bool first, struct shape shape)
{
    struct places c = places_of(&a->p->block, block);
    lanes set[2], known[2], all = lanes_all(-1), none = lanes_all(0), up[2] = {none, none},
                            fresh = none;
    lanes kind = box_test(a, c, shape, set);
    if (first) {
        fresh = lanes_where(mask_not_less(kind, lanes_all(2 * KIND_ONE)), all);
    } else if (a->far) {
        fresh = all;
    } else {
        for (int word = 0; word < shape.words; word++) {
            known[word] = lanes_load(a->rivals[word] + block);
            fresh |= set[word] & ~known[word];
        }
        drifts(a, c, lanes_load(a->kind + block), known, shape, up);
    }
    for (int word = 0; word < shape.words; word++)
        lanes_store(a->rivals[word] + block, set[word]);
    lanes_store(a->kind + block, kind);
    uint32_t used_up = use_up(a, block, up), whole = lanes_differ(fresh, none);
    for (uint32_t left = whole; left; left &= left - 1)
        a->due[0][block + (size_t)__builtin_ctz(left)] = SLACK_MOST + 1;
    return used_up | whole;
}

/* Lists the groups of the block whose slack is used up. */
static inline void list_visits(struct assign *a, struct stretch *s, size_t block)
{
    int rivals = a->kind[block] / KIND_ONE, list = rivals < LISTS ? rivals : LISTS - 1;
    for (size_t group = block * POINTS_BLOCK; group < (block + 1) * POINTS_BLOCK; group += LANES) {
        lanes both = lanes_all(0);
        for (int side = 0; side < 2; side++) {
            int32_t *slack = a->slack[side] + group;
            lanes left = lanes_load(slack) - lanes_all(a->due[side][block]);
            /* A side that the border moves away from gains slack. The cap keeps it bounded. */
            lanes_store(slack, lanes_min(left, lanes_all(SLACK_MOST)));
            both |= left;
        }
        uint32_t *to = s->visit[list] + s->visits[list];
        to = lanes_pack(to, lanes_negative(both), lanes_count() + lanes_all((int)group));
        s->visits[list] = (uint32_t)(to - s->visit[list]);
    }
}

static inline void finish_block(struct assign *a, size_t block)
{
    for (int side = 0; side < 2; side++) {
        const int32_t *slack = a->slack[side] + block * POINTS_BLOCK;
        lanes least = lanes_load(slack) + LANES_NORMAL;
        for (int i = LANES; i < POINTS_BLOCK; i += LANES)
            least = normal_min(least, lanes_load(slack + i) + LANES_NORMAL);
        a->least[side][block] = least_slack(least);
        a->due[side][block] = 0;
    }
}

/* Visits the groups to examine in these blocks of the stretch. */
FOR_SHAPE void visit_blocks(struct assign *a, struct stretch *s, uint32_t blocks,
                            struct shape shape)
{
    uint32_t *next = s->change;
    for (int list = 0; list < LISTS; list++)
        s->visits[list] = 0;
    for (uint32_t left = blocks; left; left &= left - 1)
        list_visits(a, s, s->block + (size_t)__builtin_ctz(left));
    for (int list = 1; list < LISTS; list++) {
        for (uint32_t i = 0; i < s->visits[list]; i++) {
            size_t group = s->visit[list][i], block = group / POINTS_BLOCK;
            uint64_t set = a->rivals[0][block];
            if (shape.words == 2)
                set |= (uint64_t)a->rivals[1][block] << 32;
            if (list == 2)
                next = visit_pair(a, s, group, KIND_LOWER(a->kind[block]),
                                  KIND_HIGHER(a->kind[block]), next);
            else
                next = visit(a, s, group, set, next);
        }
    }
    s->changes = (uint32_t)(next - s->change);
    for (uint32_t left = blocks; left; left &= left - 1)
        finish_block(a, s->block + (size_t)__builtin_ctz(left));
}

FOR_SHAPE void step(struct assign *a, bool first, struct shape shape)
{
    struct stretch s;
    for (s.block = 0; s.block < a->p->blocks; s.block += LANES) {
        size_t count = a->p->blocks - s.block < LANES ? a->p->blocks - s.block : LANES;
        uint32_t blocks =
            test_blocks(a, s.block, first, shape) & (uint32_t)((UINT64_C(1) << count) - 1);
        for (size_t i = 0; first && i < count; i++)
            assign_block(a, s.block + i);
        visit_blocks(a, &s, blocks, shape);
        apply_changes(a, &s);
    }
}

void ISA_NAME(assign_again)(struct assign *a, bool first)
{
    if (first)
        memset(a->total, 0, sizeof a->total);
    if (a->k <= LANES)
        step(a, first, (struct shape){1, true});
    else if (a->k <= 32)
        step(a, first, (struct shape){1, false});
    else
        step(a, first, (struct shape){2, false});
}
