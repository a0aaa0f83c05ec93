/*
 * points.h - a frame's distinct colours with their weights: what the k-means works on.
 *
 * Points stand in ascending Morton key (bit 3i+2 = bit i of R, 3i+1 of G, 3i of B), so
 * that neighbours in the list are neighbours in colour space: 16 or 32 of them make a group,
 * 16 groups a block, each with the box that it fills. One thread an object.
 */
#ifndef BARCODE_POINTS_H
#define BARCODE_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/base/isa.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A group is two vectors: 16 points with AVX2, 32 with AVX-512. Groups of one vector or of four are
 * a tenth slower; with AVX2 and k 32 those of four are a quarter slower.
 */
enum {
    POINTS_GROUP_LEAST = 16,
    POINTS_BLOCK = 16, /* groups a block */
    POINTS_STEP = 512  /* a multiple of the points that a block has */
};

/*
 * The smallest boxes that hold some points each, a vector's worth side by side. A pair is two
 * 16-bit halves of a word, red low and blue high (..._rb) or green low and zero high (..._g): one
 * multiply-add instruction eats a pair.
 */
struct boxes {
    uint32_t *low_rb, *low_g, *high_rb, *high_g;
};

/*
 * `n` points. The arrays run on to `padded`, a multiple of POINTS_STEP, with copies of the last
 * point of weight 0, which change no sum and no box.
 */
struct points {
    size_t n, padded;
    uint64_t pixels;  /* sum of the weights, at most 2^28 */
    uint64_t square;  /* sum of weight * (r^2 + g^2 + b^2) */
    uint32_t *colour; /* r | g << 8 | b << 16 | 1 << 24 */
    uint32_t *weight;
    uint32_t *prefix; /* inclusive sums of the weights, [n] */
    /* From points_box. */
    size_t each, groups, blocks; /* points a group; 16 groups for each of the blocks that n needs */
    struct boxes group, block;   /* [groups], [blocks] and room to load and ignore a vector more */
    uint32_t (*group_sum)[4], (*block_sum)[4]; /* weight * (r, g, b, 1); pixels <= 2^24 only */
    uint64_t *group_square;                    /* weight * (r^2 + g^2 + b^2) */
};

struct points_maker;

/* The red, green and blue of a point's colour word. */
static inline int colour_red(uint32_t colour) { return (int)(colour & 255); }
static inline int colour_green(uint32_t colour) { return (int)(colour >> 8 & 255); }
static inline int colour_blue(uint32_t colour) { return (int)(colour >> 16 & 255); }

/* The colour word with these channels (0..255). */
static inline uint32_t colour_word(uint32_t r, uint32_t g, uint32_t b)
{
    return r | g << 8 | b << 16 | UINT32_C(1) << 24;
}

/* Room for `capacity` points (1..2^24), zeroed struct in; false when memory runs out (nothing to
 * free then). */
bool points_open(struct points *p, size_t capacity, struct err *e);
void points_close(struct points *p);

/* Fills the padding and the sums of p from colour[0..n) and weight[0..n), n >= 1 and within the
 * capacity. */
void points_seal(struct points *p, size_t n);

/* Fills what the vector versions of that instruction set look at (not ISA_C; pixels <= 2^24). */
void points_box(struct points *p, enum isa isa);

/* Scratch memory to make points from frames of at most `pixels` (1..2^28) pixels with a supported
 * instruction set. */
struct points_maker *points_maker_open(size_t pixels, enum isa isa, struct err *e);
void points_maker_close(struct points_maker **m);

/* How many points a frame of `pixels` pixels may give. */
size_t points_most(size_t pixels);

/* The points of rgb[pixels][3]; p has room for points_most(pixels). Raster order does not matter.
 */
void points_make(struct points_maker *m, struct points *p, const uint8_t *rgb, size_t pixels);

#ifdef __cplusplus
}
#endif
#endif
