/*
 * shrink.h - the exact area mean from a decoded picture to a staged frame.
 *
 * Output pixel i of w covers [i*W/w, (i+1)*W/w) of W input samples; overlap lengths
 * are counted in units of 1/w, so weights and sums are integers for every ratio,
 * enlarging included. Each plane is averaged at its own sampling over the same
 * share of the picture; the three means then go through the colour transform once.
 * Never the nearest or the centre pixel.
 *
 * The order of rounding, which every engine keeps to the bit, for a plane of W x H:
 *   1. The sample is the stored byte, or the stored word shifted right by `shift`; what
 *      is beyond `bits` then still counts (no decoder gives it).
 *   2. S = the exact sum over the pixel's samples of sample * weight across * weight down.
 *      In units of 1/w and 1/h the weights of every pixel add up to T = W * H.
 *   3. mean = min(65535, floor((S * 2^(16 - bits) + floor(T / 2)) / T)): the exact mean
 *      rounded half up, so weights reduced by a common factor give the same.
 *   4. colour_apply (colour.h) on the three means: its one rounding is the second and last.
 *   5. Orientation: the finished pixels are moved. w and h above are those before it, that is
 *      width and height swapped when quarter_turns is odd.
 * S needs 44 bits, S * 2^(16 - bits) 51.
 *
 * Pictures that must become light first (light.h) have their samples changed before step 2, and
 * three components of luma's size then. S of light needs 52 bits.
 */
#ifndef BARCODE_SHRINK_H
#define BARCODE_SHRINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"
#include "barcode/engine/light.h"

#ifdef __cplusplus
extern "C" {
#endif

struct shrink;

/*
 * A workspace for one thread that makes staged frames of width x height (1..16384 each;
 * the displayed orientation, so a film turned by 90 degrees has them already swapped).
 */
struct shrink *shrink_open(int width, int height, struct err *e);

/* From here on pictures for which light_wanted says so go through `light`, which outlives the
 * workspace; NULL: none do. */
void shrink_use_light(struct shrink *s, struct light *light);

/*
 * Shrinks `view` into rgb[height][width][3], orientation applied. Memory is taken only
 * when the view's geometry differs from the last one's. Planes may have any size, however
 * it compares with the output's; the view's own width and height are only checked.
 * Nothing is read outside the rows' samples, first to last. Fails on memory, and on a view
 * that cannot be: a side outside 1..16384, `bits` outside 8..16, a shift that leaves fewer
 * bits than that, a step that is no multiple of the sample's bytes or above 64. The workspace
 * stays good after a failure, and rgb is untouched.
 */
bool shrink_frame(struct shrink *s, const struct frame_view *view, uint8_t *rgb, struct err *e);

/* shrink_frame's conditions on a view, but for memory (ERR_FAILED); nothing is read. For engines
 * with a shrink of their own. */
bool shrink_check_view(const struct frame_view *v, struct err *e);

/* Where pixel (x, y) before orientation goes: start + x * right + y * down, in pixels. */
struct shrink_placing {
    ptrdiff_t start, right, down;
};

/* Point 5 above, for a staged frame that is `width` x `height` before orientation. */
struct shrink_placing shrink_place(struct orientation o, ptrdiff_t width, ptrdiff_t height);

/*
 * The input cells under one output cell: `head` in part, begin..end-1 in full (none when they are
 * equal), `tail` in part. A weight is the length of the part; a weight of 0 comes with an index
 * that is safe to read.
 */
struct shrink_span {
    uint64_t head, head_weight;
    uint64_t begin, end;
    uint64_t tail, tail_weight;
};

/*
 * The rule above along one axis: output cell i covers [i * pixel, (i + 1) * pixel), input cell j [j
 * * sample, (j + 1) * sample). `pixel` is the number of input cells and `sample` that of output
 * cells, or both divided by a common factor. 1 or more each; (i + 1) * pixel stays below 2^64.
 * Pure; any thread.
 */
struct shrink_span shrink_span(uint64_t i, uint64_t pixel, uint64_t sample);

/* Frees the workspace; sets *s to NULL. NULL is fine. */
void shrink_free(struct shrink **s);

#ifdef __cplusplus
}
#endif
#endif
