/*
 * points_template.h - makes points from sorted keys, and boxes and sums of groups and blocks. The
 * code uses kmeans_lanes.h, or C that the compiler can vectorize with the flags of the including
 * file.
 */
#include <string.h>

#include "kmeans_lanes.h"
#include "kmeans_vector.h"

/* Moves the lowest three bits of each byte to their positions in a key's lowest nine. */
static inline lanes keys_of_three(lanes rgb)
{
    static const uint8_t spread[16] = {0, 1, 8, 9, 64, 65, 72, 73};
    lanes bits = bytes_look_up(spread, lanes_and(rgb, lanes_all(0x00070707)));
    return lanes_dot(lanes_all(0), bytes_dot(bits, lanes_all(0x00010204)), lanes_all(0x00010001));
}

static void make_keys(uint32_t *key, const uint8_t *rgb, size_t pixels)
{
    size_t i = 0;
    for (; i + LANES_RGB <= pixels; i += LANES) {
        lanes c = lanes_from_rgb(rgb + 3 * i);
        lanes middle = keys_of_three(lanes_right(c, 3)),
              high = keys_of_three(lanes_and(lanes_right(c, 6), lanes_all(0x00030303)));
        lanes_store(key + i, lanes_or(keys_of_three(c),
                                      lanes_or(lanes_left(middle, 9), lanes_left(high, 18))));
    }
    for (; i < pixels; i++)
        key[i] = key_of(rgb + 3 * i);
}

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
        lanes_pack(key + n, last, here);
        lanes_pack(end + n, last, lanes_add(lanes_count(), lanes_all((int)i + 1)));
        n += (size_t)__builtin_popcount(last);
    }
    for (; i < pixels; i++) {
        key[n] = from[i];
        end[n++] = (uint32_t)i + 1;
    }
    return n;
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

/*
 * For each distinct key of the sorted runs, writes the key to p->colour and the number of pixels up
 * to its end to p->prefix. Returns the number of keys.
 */
static size_t list_distinct(struct points *p, const uint32_t *run, size_t runs)
{
    size_t n = 0, i = 0;
    uint32_t pixels = 0;
    for (; i + LANES < runs; i += LANES) {
        lanes mask = lanes_all(KEYS - 1), here = lanes_load(run + i);
        lanes key = lanes_and(here, mask),
              length = lanes_add(lanes_right(here, KEY_BITS), lanes_all(1));
        uint32_t last = lanes_differ(key, lanes_and(lanes_load_any(run + i + 1), mask));
        lanes sum = lanes_add(lanes_sums(length), lanes_all((int)pixels));
        pixels = lanes_last(sum);
        lanes_pack(p->colour + n, last, key);
        lanes_pack(p->prefix + n, last, sum);
        n += (size_t)__builtin_popcount(last);
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
    for (int v = 0; v < VECTORS; v++) {
        lanes word = lanes_load(colour + v * LANES), w = lanes_load(weight + v * LANES),
              byte = lanes_all(255);
        lanes rb = lanes_and(word, lanes_all(0x00ff00ff)),
              g = lanes_and(lanes_right(word, 8), byte);
        low = bytes_min(low, word);
        high = bytes_max(high, word);
        square =
            wide_add(square, wide_products(lanes_dot(lanes_dot(lanes_all(0), rb, rb), g, g), w));
        sum[0] = lanes_add(sum[0], lanes_mul(lanes_and(rb, byte), w));
        sum[1] = lanes_add(sum[1], lanes_mul(g, w));
        sum[2] = lanes_add(sum[2], lanes_mul(lanes_right(rb, 16), w));
        sum[3] = lanes_add(sum[3], w);
    }
    uint32_t least = bytes_least(low), most = bytes_most(high);
    p->group.low_rb[group] = least & 0x00ff00ff;
    p->group.low_g[group] = least >> 8 & 255;
    p->group.high_rb[group] = most & 0x00ff00ff;
    p->group.high_g[group] = most >> 8 & 255;
    p->group_square[group] = wide_sum(square);
    lanes_store_sums(p->group_sum[group], sum);
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
