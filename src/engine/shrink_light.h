/*
 * shrink_light.h - the area mean of frames that are converted to light first (light.h), for
 * shrink.c.
 */
#ifndef BARCODE_SRC_SHRINK_LIGHT_H
#define BARCODE_SRC_SHRINK_LIGHT_H

#include "barcode/engine/light.h"
#include "shrink_sum.h"

struct shrink_light;

/* Creates a workspace for one thread; the caller's. Returns NULL if out of memory. */
struct shrink_light *shrink_light_open(struct err *e);

/*
 * Does shrink_frame's work for a view that passed light_wanted and shrink_check_view. x and y fit
 * the luma plane. Returns false if out of memory, with rgb unchanged.
 */
bool shrink_light_frame(struct shrink_light *s, struct light *l, const struct frame_view *view,
                        const struct axis *x, const struct axis *y, uint8_t *rgb, struct err *e);

/* Frees the workspace and sets *s to NULL. Does nothing if *s is NULL. */
void shrink_light_free(struct shrink_light **s);

#endif
