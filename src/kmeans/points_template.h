/*
 * points_template.h - boxes and sums of groups and blocks, in C plain enough for the compiler to vectorise with
 * the flags of the including file.
 */
#include <string.h>

#include "kmeans_lanes.h"
#include "kmeans_vector.h"

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
    struct bounds box = {{255, 255, 255}, {0, 0, 0}};
    uint32_t s[4] = {0, 0, 0, 0};
    for (int i = 0; i < GROUP; i++) {
        uint32_t r = colour[i] & 255, g = colour[i] >> 8 & 255, b = colour[i] >> 16 & 255;
        box.low[0] = lower(box.low[0], r);
        box.low[1] = lower(box.low[1], g);
        box.low[2] = lower(box.low[2], b);
        box.high[0] = higher(box.high[0], r);
        box.high[1] = higher(box.high[1], g);
        box.high[2] = higher(box.high[2], b);
        s[0] += weight[i] * r;
        s[1] += weight[i] * g;
        s[2] += weight[i] * b;
        s[3] += weight[i];
    }
    bounds_to(&p->group, group, &box);
    memcpy(p->group_sum[group], s, sizeof s);
}

static void box_block(struct points *p, size_t block)
{
    struct bounds box = {{255, 255, 255}, {0, 0, 0}};
    const struct boxes *from = &p->group;
    uint32_t s[4] = {0, 0, 0, 0};
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

/* points_box. */
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
