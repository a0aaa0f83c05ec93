#include "shape.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/engine/colour.h"
#include "base/interrupt.h"
#include "output/modes/render_line.h"
#include "output/modes/time_axis.h"

enum { STEPS = CIRCLE_ARCS - 2, STEP_BITS = 10, FINE_BITS = 12, POINTS = 4 };

/* arctan((i + 1) / N) - arctan(i / N) = arctan(N / (N^2 + i (i + 1))). For such a small z this is z
 * - z^3 / 3, within 2^-50. The sum is in radians with 52 fractional bits. */
void circle_fill(uint32_t arc[CIRCLE_ARCS])
{
    const uint64_t turn = 683565276; /* 1 / (2 pi) with 32 fractional bits */
    uint64_t sum = 0;
    for (uint64_t i = 0; i <= STEPS; i++) {
        arc[i] = (uint32_t)((sum >> 20) * turn >> 32);
        uint64_t z = (UINT64_C(1) << (52 + STEP_BITS)) /
                     ((UINT64_C(1) << (2 * STEP_BITS)) + i * (i + 1)),
                 rough = z >> 26;
        sum += z - (rough * rough * rough >> 26) / 3;
    }
    arc[STEPS + 1] = arc[STEPS];
}

/* Returns arctan(small / large) for 0 <= small <= large. */
static uint32_t arc_of(const uint32_t *arc, uint64_t small, uint64_t large)
{
    uint64_t q = (small << (STEP_BITS + FINE_BITS)) / large, i = q >> FINE_BITS,
             rest = q & ((1 << FINE_BITS) - 1);
    return arc[i] + (uint32_t)((arc[i + 1] - arc[i]) * rest >> FINE_BITS);
}

uint32_t circle_turn(const uint32_t arc[CIRCLE_ARCS], int x, int y)
{
    uint64_t across = (uint64_t)(x < 0 ? -x : x), along = (uint64_t)(y < 0 ? -y : y);
    uint32_t t = across <= along ? arc_of(arc, across, along)
                                 : (UINT32_C(1) << 30) - arc_of(arc, along, across);
    if (y > 0)
        t = (UINT32_C(1) << 31) - t;
    return x < 0 ? 0u - t : t;
}

struct shape {
    enum strip_shape shape;
    int width, height;
    struct strip *strip; /* SHAPE_STRIP */
    uint8_t *whole;      /* else: the complete strip [rows][along][3]; rows is 1 if it is flat */
    int along, rows;
    /* SHAPE_RING: */
    int across;         /* the rows that `whole` stands for */
    int diameter, hole; /* of the ring, and of its hole */
    uint32_t arc[CIRCLE_ARCS];
};

/* Returns the pixel of the strip at a point with the distance r (rounded down) to the centre. */
static const uint8_t *strip_at(const struct shape *c, int x, int y, int64_t r)
{
    size_t column = (size_t)((uint64_t)circle_turn(c->arc, x, y) * (uint64_t)c->along >> 32),
           row = 0;
    if (c->rows > 1) {
        row = (size_t)((4 * (int64_t)c->diameter - r) * c->across /
                       (4 * (int64_t)(c->diameter - c->hole)));
        if (row >= (size_t)c->rows)
            row = (size_t)c->rows - 1;
    }
    return c->whole + (row * (size_t)c->along + column) * 3;
}

static void write_mean(const uint64_t sum[3], uint64_t points, uint8_t out[4])
{
    for (int k = 0; k < 3; k++)
        out[k] = points ? srgb_level((uint16_t)((2 * sum[k] + points) / (2 * points))) : 0;
    out[3] = (uint8_t)((255 * points + 8) / 16);
}

static void circle_row(const struct shape *c, int y, uint8_t *out)
{
    const int64_t outer = 16 * (int64_t)c->diameter * c->diameter,
                  inner = 16 * (int64_t)c->hole * c->hole;
    int64_t r = 0; /* distance of the latest point; that of the next point is similar */
    for (int x = 0; x < c->width; x++, out += 4) {
        uint64_t sum[3] = {0}, points = 0;
        for (int p = 0; p < POINTS * POINTS; p++) {
            int px = 8 * x + 2 * (p % POINTS) + 1 - 4 * c->width,
                py = 8 * y + 2 * (p / POINTS) + 1 - 4 * c->width;
            int64_t square = (int64_t)px * px + (int64_t)py * py;
            if (square < inner || square >= outer)
                continue;
            while (c->rows > 1 && r * r > square)
                r--;
            while (c->rows > 1 && (r + 1) * (r + 1) <= square)
                r++;
            const uint8_t *rgb = strip_at(c, px, py, r);
            for (int k = 0; k < 3; k++)
                sum[k] += srgb_linear[rgb[k]];
            points++;
        }
        write_mean(sum, points, out);
    }
}

int shape_channels(enum strip_shape shape) { return shape == SHAPE_RING ? 4 : 3; }

void shape_size(const struct report *r, int most, int *width, int *height)
{
    int along = r->count < INT32_MAX ? (int)r->count : INT32_MAX, w = r->picture.width,
        h = r->picture.height;
    if (r->picture.shape == SHAPE_RING) {
        if (w <= 0)
            w = h > 0 ? h : SHAPE_RING_USUAL;
        h = w;
    } else if (r->picture.shape == SHAPE_VERTICAL) {
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
    f->whole = malloc(pixels * 3);
    if (!f->whole)
        return err_memory(e, pixels * 3);
    struct strip *s = strip_open(r, kind, f->along, across, e);
    if (!s)
        return false;
    int y = 0;
    for (; y < f->rows && !interrupted(); y++)
        strip_row(s, y, f->whole + (size_t)y * (size_t)f->along * 3);
    strip_free(&s);
    return y == f->rows || interrupt_error(e);
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
    f->diameter = f->width - 2 * (f->width / SHAPE_RING_MARGIN);
    int rim = (int)((int64_t)f->diameter * 355 / 113);
    f->along = r->count < (uint64_t)rim && !axis_by_time(r) ? (int)r->count : rim;
    if (f->along < 1)
        f->along = 1;
    f->across = (3 * f->diameter + 9) / 10;
    f->hole = 2 * f->diameter / 5;
    circle_fill(f->arc);
    return paint_whole(f, r, kind, f->across, e);
}

struct shape *shape_open(const struct report *r, const struct strip_kind *kind, int width,
                         int height, struct err *e)
{
    struct shape *f = err_calloc(1, sizeof *f, e);
    if (!f)
        return NULL;
    *f = (struct shape){.shape = r->picture.shape, .width = width, .height = height};
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
    if (f->shape == SHAPE_RING) {
        circle_row(f, y, out);
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
    free((*f)->whole);
    free(*f);
    *f = NULL;
}
