/*
 * shrink_light.h - the area mean of pictures whose samples become light first (light.h), for
 * shrink.c.
 */
#ifndef BARCODE_SRC_SHRINK_LIGHT_H
#define BARCODE_SRC_SHRINK_LIGHT_H

#include "barcode/engine/light.h"
#include "shrink_sum.h"

struct shrink_light;

/* A workspace for one thread; the caller's. NULL: memory. */
struct shrink_light *shrink_light_open(struct err *e);

/*
 * shrink_frame by `t` with these instructions; x and y fit the luma plane. The view was checked
 * (shrink_check_view). False: memory, with rgb untouched.
 */
bool shrink_light_frame(struct shrink_light *s, enum isa isa, const struct light_table *t,
                        const struct frame_view *view, const struct axis *x, const struct axis *y,
                        uint8_t *rgb, struct err *e);

/* Sets *s to NULL. NULL is fine. */
void shrink_light_free(struct shrink_light **s);

#endif
