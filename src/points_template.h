/*
 * points_template.h - boxes and sums of groups, in C plain enough for the compiler to vectorise with
 * the flags of the including file, which defines ISA(name).
 */
#include "points_boxes.h"

static void box_derive(struct box *b)
{
    b->centre_rb = b->low_rb + b->high_rb;
    b->centre_g = b->low_g + b->high_g;
    b->extent_rb = 2 * (b->high_rb - b->low_rb);
    b->extent_g = 2 * (b->high_g - b->low_g);
}

static inline uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t most(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void box_group(struct box *box, uint32_t sum[4], const uint32_t *colour, const uint32_t *weight)
{
    uint32_t low[3] = {255, 255, 255}, high[3] = {0, 0, 0}, s[4] = {0, 0, 0, 0};
    for (int i = 0; i < POINTS_GROUP; i++) {
        uint32_t r = colour[i] & 255, g = colour[i] >> 8 & 255, b = colour[i] >> 16 & 255;
        low[0] = least(low[0], r);
        low[1] = least(low[1], g);
        low[2] = least(low[2], b);
        high[0] = most(high[0], r);
        high[1] = most(high[1], g);
        high[2] = most(high[2], b);
        s[0] += weight[i] * r;
        s[1] += weight[i] * g;
        s[2] += weight[i] * b;
        s[3] += weight[i];
    }
    box->low_rb = low[0] | low[2] << 16;
    box->low_g = low[1];
    box->high_rb = high[0] | high[2] << 16;
    box->high_g = high[1];
    box_derive(box);
    for (int c = 0; c < 4; c++)
        sum[c] = s[c];
}

static void box_block(struct box *box, const struct box *group, size_t groups)
{
    uint32_t low[3] = {255, 255, 255}, high[3] = {0, 0, 0};
    for (size_t i = 0; i < groups; i++) {
        low[0] = least(low[0], group[i].low_rb & 0xffff);
        low[1] = least(low[1], group[i].low_g);
        low[2] = least(low[2], group[i].low_rb >> 16);
        high[0] = most(high[0], group[i].high_rb & 0xffff);
        high[1] = most(high[1], group[i].high_g);
        high[2] = most(high[2], group[i].high_rb >> 16);
    }
    box->low_rb = low[0] | low[2] << 16;
    box->low_g = low[1];
    box->high_rb = high[0] | high[2] << 16;
    box->high_g = high[1];
    box_derive(box);
}

void ISA(points_box)(struct points *p)
{
    for (size_t g = 0; g < p->groups; g++)
        box_group(p->group + g, p->sum[g], p->colour + g * POINTS_GROUP, p->weight + g * POINTS_GROUP);
    for (size_t b = 0; b < p->blocks; b++) {
        size_t first = b * POINTS_BLOCK, left = p->groups - first;
        box_block(p->block + b, p->group + first, left < POINTS_BLOCK ? left : POINTS_BLOCK);
    }
}
