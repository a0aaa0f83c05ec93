#include "band_order.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/engine/colour.h"
#include "base/interrupt.h"
#include "render_line.h"

void strip_order(enum palette_order order, const struct cluster *cluster, int clusters,
                 uint8_t *indices)
{
    uint32_t light[CLUSTERS_MAX];
    for (int j = 0; j < clusters; j++) {
        int at = j;
        light[j] = srgb_luminance(cluster[j].rgb);
        for (; order == ORDER_LIGHTNESS && at > 0 && light[indices[at - 1]] < light[j]; at--)
            indices[at] = indices[at - 1];
        indices[at] = (uint8_t)j;
    }
}

enum {
    SPREAD_OF_ALL = 819, /* S times the number of clusters, FEW or more */
    FEW = 8,
    SWEEPS_MOST = 16,
    CHECK_EVERY = 4096 /* columns between two checks for an interrupt */
};

/* The candidates of a column. */
enum { BY_LIGHT, FOLLOWS, CANDIDATES };

/* What is known about the clusters of a column, by index. */
struct palette {
    const struct cluster *cluster;
    int count;
    int32_t spread; /* S */
    int32_t height[CLUSTERS_MAX], light[CLUSTERS_MAX];
    struct oklab lab[CLUSTERS_MAX];
    uint8_t by_light[CLUSTERS_MAX];
};

/* The bands of the previous column, from top to bottom, as the clusters of this one meet them. */
struct field {
    int count;
    int32_t edge[CLUSTERS_MAX + 1];
    int32_t distance[CLUSTERS_MAX][CLUSTERS_MAX]; /* [cluster][band] */
    int32_t above[CLUSTERS_MAX][CLUSTERS_MAX];    /* sum of the distances at the heights above */
};

struct follow {
    uint16_t root[OKLAB_ROOTS];
    struct palette palette[2];
    struct palette *last, *now; /* the columns; last->cluster is NULL at the first column */
    struct field field;
    uint8_t order[CANDIDATES][CLUSTERS_MAX]; /* of the last column */
    int64_t sum[CANDIDATES];                 /* up to the last column */
};

static void describe(const struct follow *s, const struct column *c, struct palette *p)
{
    uint64_t weight[CLUSTERS_MAX];
    p->cluster = c->cluster;
    p->count = c->clusters;
    p->spread = SPREAD_OF_ALL / (p->count > FEW ? p->count : FEW);
    pool_weigh(c, 1, weight);
    for (int j = 0; j < p->count; j++) {
        const uint8_t *rgb = c->cluster[j].rgb;
        p->height[j] = (int32_t)weight[j];
        p->light[j] = s->root[srgb_luminance(rgb) / 10000] / 16;
        p->lab[j] = oklab_of(srgb_linear, s->root, rgb);
    }
    strip_order(ORDER_LIGHTNESS, c->cluster, p->count, p->by_light);
}

static int32_t distance(const struct oklab *a, const struct oklab *b)
{
    return abs(a->l - b->l) + 2 * abs(a->a - b->a) + 2 * abs(a->b - b->b);
}

/* Sets the field to the last column in the order of a candidate. */
static void make_field(struct follow *s, const uint8_t *order)
{
    const struct palette *last = s->last, *now = s->now;
    struct field *f = &s->field;
    f->count = last->count;
    for (int i = 0; i < f->count; i++)
        f->edge[i + 1] = f->edge[i] + last->height[order[i]];
    for (int j = 0; j < now->count; j++) {
        int32_t sum = 0;
        for (int i = 0; i < f->count; i++) {
            f->distance[j][i] = distance(&now->lab[j], &last->lab[order[i]]);
            f->above[j][i] = sum;
            sum += f->distance[j][i] * last->height[order[i]];
        }
    }
}

/* Returns the sum of D between cluster j and the last column over the heights 0 to `y`. */
static int64_t change_to(const struct field *f, int j, int32_t y)
{
    int i = 0, last = f->count - 1; /* the first band that ends at y or below, else the last */
    while (i < last) {
        int middle = (i + last) / 2;
        if (f->edge[middle + 1] < y)
            i = middle + 1;
        else
            last = middle;
    }
    int32_t end = y < f->edge[i + 1] ? y : f->edge[i + 1];
    return f->above[j][i] + (int64_t)f->distance[j][i] * (end - f->edge[i]);
}

/* Returns the change of a band of cluster j from height `y` down. */
static int64_t change_at(const struct follow *s, int j, int32_t y)
{
    return change_to(&s->field, j, y + s->now->height[j]) - change_to(&s->field, j, y);
}

static int64_t disorder(const struct palette *p, int above, int below)
{
    int32_t rise = p->light[below] - p->light[above];
    return rise > 0 ? (int64_t)p->height[above] * p->height[below] * rise >> 17 : 0;
}

static bool may_lie_above(const struct palette *p, int above, int below)
{
    return p->light[below] - p->light[above] <= p->spread;
}

static int64_t value_of(const struct follow *s, const uint8_t *order)
{
    int64_t sum = 0;
    int32_t y = 0;
    for (int i = 0; i < s->now->count; i++) {
        sum += change_at(s, order[i], y);
        y += s->now->height[order[i]];
        for (int k = i + 1; k < s->now->count; k++)
            sum += disorder(s->now, order[i], order[k]);
    }
    return sum;
}

/* Writes the order that the descent begins with. */
static void begin_order(const struct follow *s, uint8_t *order)
{
    const struct palette *p = s->now;
    int band[CLUSTERS_MAX], count = 0;
    bool used[CLUSTERS_MAX] = {false};
    for (int j = 0; j < p->count; j++) {
        band[j] = 0;
        for (int i = 1; i < s->field.count; i++)
            if (s->field.distance[j][i] < s->field.distance[j][band[j]])
                band[j] = i;
    }
    for (int lightest = 0; count < p->count; count++) {
        while (used[p->by_light[lightest]])
            lightest++;
        int next = p->by_light[lightest];
        for (int i = lightest + 1; i < p->count; i++) {
            int j = p->by_light[i];
            if (!used[j] && may_lie_above(p, j, p->by_light[lightest]) && band[j] < band[next])
                next = j;
        }
        used[next] = true;
        order[count] = (uint8_t)next;
    }
}

/* Returns how the sum changes if `above`, whose band begins at height y, and `below` under it swap
 * places. */
static int64_t swap_gain(const struct follow *s, int above, int below, int32_t y)
{
    const int32_t *height = s->now->height;
    return change_at(s, below, y) + change_at(s, above, y + height[below]) -
           change_at(s, above, y) - change_at(s, below, y + height[above]) +
           disorder(s->now, below, above) - disorder(s->now, above, below);
}

/* Returns the best place of the cluster that is at order[at], from height `top` down. */
static int best_place(const struct follow *s, const uint8_t *order, int at, int32_t top)
{
    const struct palette *p = s->now;
    int j = order[at], best = at;
    int64_t least = 0, sum = 0;
    int32_t y = top;
    for (int i = at - 1; i >= 0 && may_lie_above(p, j, order[i]); i--) {
        y -= p->height[order[i]];
        sum += swap_gain(s, order[i], j, y);
        if (sum < least) {
            least = sum;
            best = i;
        }
    }
    sum = 0;
    y = top;
    for (int i = at + 1; i < p->count && may_lie_above(p, order[i], j); i++) {
        sum += swap_gain(s, j, order[i], y);
        y += p->height[order[i]];
        if (sum < least) {
            least = sum;
            best = i;
        }
    }
    return best;
}

static bool move_cluster(const struct follow *s, uint8_t *order, uint8_t j)
{
    int at = 0;
    int32_t top = 0;
    while (order[at] != j)
        top += s->now->height[order[at++]];
    int to = best_place(s, order, at, top);
    if (to < at)
        memmove(order + to + 1, order + to, (size_t)(at - to));
    else
        memmove(order + at, order + at + 1, (size_t)(to - at));
    order[to] = j;
    return to != at;
}

/* Writes the order that follows the field. */
static void follow_field(const struct follow *s, uint8_t *order)
{
    bool moved = true;
    begin_order(s, order);
    for (int sweep = 0; moved && sweep < SWEEPS_MOST; sweep++) {
        moved = false;
        for (int j = 0; j < s->now->count; j++)
            moved |= move_cluster(s, order, (uint8_t)j);
    }
}

/* Makes the candidates of a column. Bit c of the result is the candidate of the last column that
 * candidate c comes from. */
static uint8_t advance(struct follow *s)
{
    uint8_t order[CLUSTERS_MAX], found[CLUSTERS_MAX];
    int from[CANDIDATES] = {0};
    int64_t sum[CANDIDATES];
    bool equal = memcmp(s->order[BY_LIGHT], s->order[FOLLOWS], (size_t)s->last->count) == 0;
    for (int c = 0; c < (equal ? 1 : CANDIDATES); c++) {
        make_field(s, s->order[c]);
        follow_field(s, order);
        int64_t value[] = {s->sum[c] + value_of(s, s->now->by_light),
                           s->sum[c] + value_of(s, order)};
        for (int to = 0; to < CANDIDATES; to++) {
            if (c > 0 && value[to] >= sum[to])
                continue;
            sum[to] = value[to];
            from[to] = c;
            if (to == FOLLOWS)
                memcpy(found, order, (size_t)s->now->count);
        }
    }
    memcpy(s->sum, sum, sizeof sum);
    memcpy(s->order[BY_LIGHT], s->now->by_light, (size_t)s->now->count);
    memcpy(s->order[FOLLOWS], found, (size_t)s->now->count);
    return (uint8_t)(from[BY_LIGHT] | from[FOLLOWS] << 1);
}

/* As advance. The first column has one candidate twice, and a copy of a column those of its frame.
 */
static uint8_t advance_to(struct follow *s, const struct column *c)
{
    enum { EACH_FROM_ITSELF = FOLLOWS << 1 };
    if (c->cluster == s->last->cluster)
        return EACH_FROM_ITSELF;
    describe(s, c, s->now);
    uint8_t origin = EACH_FROM_ITSELF;
    if (s->last->cluster)
        origin = advance(s);
    else
        for (int k = 0; k < CANDIDATES; k++)
            memcpy(s->order[k], s->now->by_light, sizeof s->order[k]);
    struct palette *unused = s->last;
    s->last = s->now;
    s->now = unused;
    return origin;
}

bool band_follow(band_column *column_at, const void *user, uint64_t columns, uint8_t *order,
                 size_t stride, struct err *e)
{
    struct follow *s = err_calloc(1, sizeof *s, e);
    uint8_t *origin = s ? err_calloc(columns, 1, e) : NULL;
    bool ok = origin != NULL;
    if (ok) {
        oklab_roots(s->root);
        s->last = &s->palette[0];
        s->now = &s->palette[1];
    }
    for (uint64_t i = 0; ok && i < columns; i++) {
        const struct column *c = column_at(user, i);
        ok = i % CHECK_EVERY != 0 || !interrupted() || interrupt_error(e);
        if (!ok || !c)
            continue;
        origin[i] = advance_to(s, c);
        memcpy(order + i * stride, s->order[FOLLOWS], c->clusters);
    }
    int choice = ok && s->sum[FOLLOWS] < s->sum[BY_LIGHT] ? FOLLOWS : BY_LIGHT;
    for (uint64_t i = columns; ok && i-- > 0;) {
        const struct column *c = column_at(user, i);
        if (!c)
            continue;
        if (choice == BY_LIGHT)
            strip_order(ORDER_LIGHTNESS, c->cluster, c->clusters, order + i * stride);
        choice = origin[i] >> choice & 1;
    }
    free(origin);
    free(s);
    return ok;
}
