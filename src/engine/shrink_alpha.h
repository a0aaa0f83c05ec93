/*
 * shrink_alpha.h - the coverage-weighted area mean of frames with transparent samples (shrink.h),
 * for engine.c. Plain C for every engine, because such frames are rare and come from software
 * decoders.
 */
#ifndef BARCODE_SRC_SHRINK_ALPHA_H
#define BARCODE_SRC_SHRINK_ALPHA_H

#include "barcode/engine/light.h"
#include "shrink_sum.h"

struct shrink_alpha;

/* Creates a workspace for one thread. `light` is as for shrink_use_light. */
struct shrink_alpha *shrink_alpha_open(int width, int height, struct light *light, struct err *e);
void shrink_alpha_free(struct shrink_alpha **s);

/* Returns true if no sample is transparent, even partly. The view passed shrink_check_view. */
bool shrink_alpha_is_opaque(const struct frame_view *view);

/*
 * Downscales a view with alpha, with the orientation applied. Sets *rgb to the analysis frame
 * [height][width][3], owned by the workspace until the next call, or to NULL if no sample is
 * visible. Returns false if the view is invalid or if out of memory.
 */
bool shrink_alpha_frame(struct shrink_alpha *s, const struct frame_view *view, const uint8_t **rgb,
                        struct err *e);

/* Fills the pixels without a share (shrink.h). cover[n] is not 0 everywhere; n is 1..2^28. */
void shrink_alpha_fill(const uint8_t *cover, uint8_t *rgb, size_t n);

#endif
