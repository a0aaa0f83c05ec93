#include "shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "shape_circle.h"
#include "output/modes/render_line.h"

struct shape {
    enum strip_shape shape;
    int width, height;
    struct strip *strip; /* SHAPE_STRIP */
    uint8_t *whole;      /* else: the complete strip [rows][along][3]; rows is 1 if it is flat */
    int along, rows;
    struct circle *circle;
};

int shape_channels(enum strip_shape shape) { return shape == SHAPE_CIRCLE ? 4 : 3; }

void shape_size(const struct report *r, int most, int *width, int *height)
{
    int along = r->count < INT32_MAX ? (int)r->count : INT32_MAX, w = r->picture_width,
        h = r->picture_height;
    if (r->shape == SHAPE_CIRCLE) {
        w = w > 0 ? w : h > 0 ? h : SHAPE_CIRCLE_USUAL;
        h = w;
    } else if (r->shape == SHAPE_VERTICAL) {
        w = w > 0 ? w : SHAPE_ACROSS_USUAL;
        h = h > 0 ? h : along;
    } else {
        w = w > 0 ? w : along;
        h = h > 0 ? h : SHAPE_ACROSS_USUAL;
    }
    *width = w < most ? w : most;
    *height = h < most ? h : most;
}

/* Paints the complete strip: `along` pixels in time and `across` rows, or one row if it is flat. */
static bool paint_whole(struct shape *f, const struct report *r, const struct strip_kind *kind,
                        int across, struct err *e)
{
    f->rows = kind->flat ? 1 : across;
    uint64_t pixels = (uint64_t)f->along * (uint64_t)f->rows;
    if (pixels > SHAPE_WHOLE_MOST)
        return err_set(e, ERR_FAILED,
                       "a %s of %dx%d pixels is too large; choose a smaller --width or --height",
                       strip_shape_name(f->shape), f->width, f->height);
    if (!(f->whole = malloc(pixels * 3)))
        return err_memory(e, pixels * 3);
    struct strip *s = strip_open(r, kind, f->along, across, e);
    if (!s)
        return false;
    bool go_on = true;
    for (int y = 0; y < f->rows && (go_on = !interrupted()); y++)
        strip_row(s, y, f->whole + (size_t)y * (size_t)f->along * 3);
    strip_free(&s);
    return go_on || interrupt_error(e);
}

static bool open_shape(struct shape *f, const struct report *r, const struct strip_kind *kind,
                       struct err *e)
{
    if (f->shape == SHAPE_STRIP) {
        f->strip = strip_open(r, kind, f->width, f->height, e);
        return f->strip != NULL;
    }
    if (f->shape == SHAPE_VERTICAL) {
        f->along = f->height;
        return paint_whole(f, r, kind, f->width, e);
    }
    int rim = (int)((int64_t)f->width * 355 / 113), across = (3 * f->width + 9) / 10;
    f->along = r->count < (uint64_t)rim ? (int)r->count : rim;
    if (f->along < 1)
        f->along = 1;
    return paint_whole(f, r, kind, across, e) &&
           (f->circle = circle_open(f->whole, f->along, f->rows, across, f->width, e)) != NULL;
}

struct shape *shape_open(const struct report *r, const struct strip_kind *kind, int width,
                         int height, struct err *e)
{
    struct shape *f = err_calloc(1, sizeof *f, e);
    if (!f)
        return NULL;
    *f = (struct shape){.shape = r->shape, .width = width, .height = height};
    if (!open_shape(f, r, kind, e))
        shape_free(&f);
    return f;
}

void shape_row(struct shape *f, int y, uint8_t *out)
{
    if (f->strip) {
        strip_row(f->strip, y, out);
        return;
    }
    if (f->circle) {
        circle_row(f->circle, y, out);
        return;
    }
    for (int x = 0; x < f->width; x++)
        memcpy(out + (size_t)x * 3,
               f->whole + ((size_t)(f->rows == 1 ? 0 : x) * (size_t)f->along + (size_t)y) * 3, 3);
}

void shape_free(struct shape **f)
{
    if (!*f)
        return;
    strip_free(&(*f)->strip);
    circle_free(&(*f)->circle);
    free((*f)->whole);
    free(*f);
    *f = NULL;
}
