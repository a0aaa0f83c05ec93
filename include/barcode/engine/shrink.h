/*
 * shrink.h - downscales a decoded frame to an analysis frame by exact area means.
 *
 * Output pixel i of w covers [i*W/w, (i+1)*W/w) of W input samples. Overlaps are counted in units
 * of 1/w, so that weights and sums are integers for every ratio, including enlargement. Each plane
 * is averaged at its own resolution over the same part of the frame. Then the three means go
 * through the colour transform once.
 *
 * The order of rounding, which every engine reproduces exactly, for a plane of W x H:
 *
 *   1. The sample is the stored byte, or the stored word shifted right by `shift`. Bits above
 *      `bits` still count (no decoder sets them).
 *   2. S = the exact sum over the pixel's samples of sample * weight across * weight down. In units
 *      of 1/w and 1/h the weights of every pixel sum to T = W * H.
 *   3. mean = min(65535, floor((S * 2^(16 - bits) + floor(T / 2)) / T)): the exact mean, rounded
 *      half up. Dividing the weights by a common factor gives the same mean.
 *   4. colour_apply (colour.h) on the three means; its rounding is the second and last one.
 *   5. Orientation moves the finished pixels. The w and h above are the sizes before orientation:
 *      width and height are swapped if quarter_turns is odd.
 *
 * S needs 44 bits, S * 2^(16 - bits) needs 51.
 *
 * Frames that need linear light (light.h) are converted before step 2, to three components of
 * luma's size. S of light needs 52 bits.
 *
 * A frame with a transparent sample (frame_view.alpha) is downscaled by engine_put instead. a is
 * alpha's 8 most significant bits at a sample (x, y) of plane 0. Its chroma is the sample at
 * (floor(x * cw / w), floor(y * ch / h)), as in light.h.
 *
 *   2. S = the sum of sample * weight * a, T = the sum of weight * a, for each pixel.
 *   3. to 5. as above, or light_mean of light. So an opaque pixel is as in an opaque frame.
 *   6. A pixel's coverage is c = ceil(T / (W * H)), 0..255. The n pixels of the frame are shared
 *      out in proportion: in rows from the top left, pixel i gets R(i + 1) - R(i) of them. R(i) is
 *      n * (c[0] + ... + c[i - 1]) / (c[0] + ... + c[n - 1]), rounded half up. It keeps its own
 *      place; its others are, in the same order, those of pixels that get none.
 *
 * So means and clusters are those of what is visible. If nothing is, there is no analysis frame.
 */
#ifndef BARCODE_SHRINK_H
#define BARCODE_SHRINK_H

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"
#include "barcode/engine/light.h"

SHARED_BEGIN

struct shrink;

/*
 * Creates a workspace for one thread that makes analysis frames of width x height (1..16384 each),
 * as displayed: swapped already for a film rotated by 90 degrees.
 */
struct shrink *shrink_open(int width, int height, struct err *e);
void shrink_free(struct shrink **s);

/* Converts frames for which light_wanted is true with `light`, which is borrowed; NULL: none. */
void shrink_use_light(struct shrink *s, struct light *light);

/*
 * Downscales `view` into rgb[height][width][3], with the orientation applied. Allocates only if the
 * view's geometry differs from the previous one. Planes may have any size relative to the output;
 * the view's own width and height are only checked, and alpha is ignored. Reads nothing outside the
 * samples of each row. Fails if out of memory or if the view is invalid:
 *
 * - a side is outside 1..16384, or `bits` outside 8..16
 * - the shift leaves fewer than `bits` bits
 * - a step is above 64 or no multiple of the sample size
 * - alpha has another size than plane 0
 *
 * After a failure the workspace remains usable and rgb is unchanged.
 */
bool shrink_frame(struct shrink *s, const struct frame_view *view, uint8_t *rgb, struct err *e);

/* Downscales as shrink_frame does, in a workspace of its own: for few frames. */
bool shrink_rgb(const uint8_t *from, int from_width, int from_height, uint8_t *to, int width,
                int height, struct err *e);

/* Checks a view as shrink_frame does (ERR_FAILED), without reading it. */
bool shrink_check_view(const struct frame_view *v, struct err *e);

/* Position of pixel (x, y) before orientation: start + x * right + y * down, in pixels. */
struct shrink_placing {
    ptrdiff_t start, right, down;
};

/* Returns step 5 above for an analysis frame that is `width` x `height` before orientation. */
struct shrink_placing shrink_place(struct orientation o, ptrdiff_t width, ptrdiff_t height);

/*
 * The input cells under one output cell: `head` partly, begin..end-1 completely (none if they are
 * equal), `tail` partly. A weight is the length of the covered part. A weight of 0 has an index
 * that is safe to read.
 */
struct shrink_span {
    uint64_t head, head_weight;
    uint64_t begin, end;
    uint64_t tail, tail_weight;
};

/*
 * Returns the span of output cell i along one axis: output cell i covers [i * pixel, (i + 1) *
 * pixel), input cell j [j * sample, (j + 1) * sample). `pixel` is the number of input cells and
 * `sample` that of output cells, or both divided by a common factor. Both are 1 or more, and (i +
 * 1) * pixel is below 2^64. Pure; any thread.
 */
struct shrink_span shrink_span(uint64_t i, uint64_t pixel, uint64_t sample);

SHARED_END
#endif
