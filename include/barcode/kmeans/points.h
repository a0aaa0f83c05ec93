/*
 * points.h - a frame's distinct colours with their weights: the input of the k-means.
 *
 * Points are sorted by ascending Morton key (bit 3i+2 = bit i of R, 3i+1 of G, 3i of B), so that
 * neighbours in the list are neighbours in colour space. 16 or 32 points form a group and 16 groups
 * a block, each with its bounding box. One thread an object.
 */
#ifndef BARCODE_POINTS_H
#define BARCODE_POINTS_H

#include "barcode/base/err.h"
#include "barcode/base/isa.h"

SHARED_BEGIN

/* A group is 16 points; with AVX-512, 32. */
enum {
    POINTS_GROUP_LEAST = 16,
    POINTS_BLOCK = 16, /* groups a block */
    POINTS_STEP = 512  /* a multiple of the number of points in a block */
};

/*
 * Bounding boxes of groups or blocks, one vector's worth side by side. Each word holds a pair of
 * 16-bit values, as one multiply-add instruction needs: red low and blue high (..._rb), or green
 * low and zero high (..._g).
 */
struct boxes {
    uint32_t *low_rb, *low_g, *high_rb, *high_g;
};

/*
 * `n` points. The arrays are padded to `padded`, a multiple of POINTS_STEP, with copies of the last
 * point of weight 0. The padding changes no sum and no box.
 */
struct points {
    size_t n, padded;
    uint64_t pixels;  /* sum of the weights, at most 2^28 */
    uint64_t square;  /* sum of weight * (r^2 + g^2 + b^2) */
    uint32_t *colour; /* r | g << 8 | b << 16 | 1 << 24 */
    uint32_t *weight;
    uint32_t *prefix; /* inclusive sums of the weights, [n] */
    /* Filled by points_box. */
    /* each: points in a group; blocks: as many as n needs; groups: 16 times that */
    size_t each, groups, blocks;
    /* [groups], [blocks]; allocated so that one more vector can be loaded and ignored */
    struct boxes group, block;
    uint64_t (*group_sum)[4], (*block_sum)[4]; /* weight * (r, g, b, 1) */
    uint64_t *group_square;                    /* weight * (r^2 + g^2 + b^2) */
};

struct points_maker;

/* Return the red, green and blue of a point's colour word. */
static inline int colour_red(uint32_t colour) { return (int)(colour & 255); }
static inline int colour_green(uint32_t colour) { return (int)(colour >> 8 & 255); }
static inline int colour_blue(uint32_t colour) { return (int)(colour >> 16 & 255); }

static inline uint32_t colour_word(uint32_t r, uint32_t g, uint32_t b)
{
    return r | g << 8 | b << 16 | UINT32_C(1) << 24;
}

/*
 * A Morton key has KEY_BITS bits. In the sort, the bits above hold the number of equal neighbours
 * with this key, less one: at most KEY_RUN neighbours.
 */
enum { KEY_BITS = 24, KEYS = 1 << KEY_BITS, KEY_RUN = 256 };

/* Moves bit i of a channel to bit 3i. */
SHARED_INLINE uint32_t key_spread(uint32_t v)
{
    v = (v | v << 8) & 0x00f00f;
    v = (v | v << 4) & 0x0c30c3;
    return (v | v << 2) & 0x249249;
}

/* Moves bit 3i to bit i; drops the other bits. */
SHARED_INLINE uint32_t key_compact(uint32_t v)
{
    v &= 0x249249;
    v = (v | v >> 2) & 0x0c30c3;
    v = (v | v >> 4) & 0x00f00f;
    return (v | v >> 8) & 0x0000ff;
}

SHARED_INLINE uint32_t key_of(const uint8_t rgb[3])
{
    return key_spread(rgb[0]) << 2 | key_spread(rgb[1]) << 1 | key_spread(rgb[2]);
}
static inline uint32_t key_colour(uint32_t key)
{
    return colour_word(key_compact(key >> 2), key_compact(key >> 1), key_compact(key));
}

/* Allocates room for `capacity` points (1..2^24) in a zeroed struct. */
bool points_open(struct points *p, size_t capacity, struct err *e);
void points_close(struct points *p);

/* Fills the padding and the sums of p from colour[n] and weight[n], n from 1 to the capacity. */
void points_seal(struct points *p, size_t n);

/* Fills the groups and blocks, whose size depends on `isa`. */
void points_box(struct points *p, enum isa isa);

/* Allocates scratch memory for frames of up to `pixels` (1..2^28) and a supported `isa`. */
struct points_maker *points_maker_open(size_t pixels, enum isa isa, struct err *e);
void points_maker_close(struct points_maker **m);

/* Returns the largest number of points that a frame of `pixels` pixels can have. */
size_t points_most(size_t pixels);

/* Fills p with the points of rgb[pixels][3]. p needs a capacity of points_most(pixels). */
void points_make(struct points_maker *m, struct points *p, const uint8_t *rgb, size_t pixels);

SHARED_END
#endif
