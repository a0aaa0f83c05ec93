#include "poster.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "shape.h"
#include "canvas_cairo.h"
#include "layout.h"
#include "base/interrupt.h"

enum { WIDTH_MAX = INT32_MAX, BAND_PIXELS = 1 << 22 };

/* The minimum width of a stack, so that its labels are readable. The columns of a short film are
 * several pixels wide. */
enum { STACKED_WIDTH = 720 };

/* A strip on a layout, and its place in pixels. */
struct placed {
    struct shape *shape;
    int x, y, w, h;
};

/* A painter of one shape, or of a layout with shapes on it. */
struct painter {
    int width, height, channels;
    struct shape *alone;
    const uint8_t *background; /* below a ring alone; NULL: none */
    struct layout *layout;
    struct placed placed[STRIPS_MOST];
    size_t shapes;
    uint8_t *band;         /* [band_rows][width][3]: the layout from row band_y on */
    uint8_t *row;          /* a row of a shape */
    int band_y, band_rows; /* band_y < 0: the band is empty */
};

static bool check_size(const struct report *r, struct strips strips, struct err *e)
{
    bool along_down = r->picture.shape == SHAPE_VERTICAL;
    int along = along_down ? r->picture.height : r->picture.width;
    int across = along_down ? r->picture.width : r->picture.height;
    /* The strips and their labels must have fewer than INT_MAX rows. */
    if (!r->poster.wanted && (across < 1 || across > INT32_MAX / (int)strips.count - 1000))
        return err_set(e, ERR_FAILED, "the image cannot be %d pixels %s", across,
                       along_down ? "wide" : "high");
    if (along < 0)
        return err_set(e, ERR_FAILED, "the image cannot be %d pixels %s", along,
                       along_down ? "high" : "wide");
    if (r->count == 0)
        return err_set(e, ERR_FAILED, "the film has no columns");
    if (!r->poster.wanted && along == 0 && r->count > WIDTH_MAX)
        return err_set(e, ERR_FAILED,
                       "%" PRIu64 " columns exceed the maximum width of an image; choose a --width",
                       r->count);
    return true;
}

static bool check_pixels(const struct painter *p, const struct report *r, struct err *e)
{
    if ((uint64_t)p->width * (uint64_t)p->height <= PAINT_PIXELS_MOST)
        return true;
    return err_set(e, ERR_FAILED,
                   "an image of %dx%d pixels is too large (at most %" PRIu64
                   " pixels); choose a smaller %s",
                   p->width, p->height, (uint64_t)PAINT_PIXELS_MOST,
                   r->poster.wanted ? "--page or --dpi" : "--width or --height");
}

static bool open_alone(struct painter *p, const struct report *r, const struct strip_kind *kind,
                       struct err *e)
{
    shape_size(r, INT32_MAX, &p->width, &p->height);
    p->channels = shape_channels(r->picture.shape);
    if (!check_pixels(p, r, e))
        return false;
    p->alone = shape_open(r, kind, p->width, p->height, e);
    if (!p->alone)
        return false;
    if (p->channels == 3 || !r->poster.style.has_background)
        return true;
    p->channels = 3;
    p->background = r->poster.style.background;
    p->row = malloc((size_t)p->width * 4);
    if (!p->row)
        return err_memory(e, (size_t)p->width * 4);
    return true;
}

static int in_pixels(const struct layout *layout, double length)
{
    return (int)(length * layout->scale + 0.5);
}

static bool place_all(struct painter *p, const struct report *r, struct err *e)
{
    const struct layout *layout = p->layout;
    int widest = 0;
    for (size_t i = 0; i < layout->shapes; i++) {
        const struct layout_shape *from = &layout->shape[i];
        struct placed *to = &p->placed[p->shapes++];
        *to = (struct placed){.x = in_pixels(layout, from->x),
                              .y = in_pixels(layout, from->y),
                              .w = in_pixels(layout, from->w),
                              .h = in_pixels(layout, from->h)};
        to->shape = shape_open(r, from->kind, to->w, to->h, e);
        if (!to->shape)
            return false;
        widest = to->w > widest ? to->w : widest;
    }
    p->band_rows = BAND_PIXELS / p->width;
    if (p->band_rows > p->height)
        p->band_rows = p->height;
    if (p->band_rows < 1)
        p->band_rows = 1;
    size_t band = (size_t)p->band_rows * (size_t)p->width * 3;
    size_t row = (size_t)(widest > 0 ? widest : 1) * 4;
    p->band_y = -1;
    p->band = malloc(band);
    p->row = malloc(row);
    if (!p->band || !p->row)
        return err_memory(e, band + row);
    return true;
}

static bool open_layout(struct painter *p, const struct report *r, struct strips strips,
                        struct err *e)
{
    p->channels = 3;
    if (r->poster.wanted) {
        paper_pixels(&r->poster.page, r->picture.shape, r->poster.dpi, &p->width, &p->height);
        if (!check_pixels(p, r, e))
            return false;
        p->layout = layout_poster(r, strips, true, e);
    } else {
        p->width = r->picture.width > 0 ? r->picture.width : (int)r->count;
        if (r->picture.width == 0 && p->width < STACKED_WIDTH)
            p->width *= (STACKED_WIDTH + p->width - 1) / p->width;
        p->height = r->picture.height * (int)strips.count;
        if (!check_pixels(p, r, e))
            return false;
        p->layout = layout_stack(r, strips, p->width, r->picture.height, e);
        p->height = p->layout ? (int)p->layout->height : 0;
    }
    return p->layout && check_pixels(p, r, e) && place_all(p, r, e);
}

struct painter *painter_open(const struct report *r, struct strips strips, struct err *e)
{
    if (!check_size(r, strips, e))
        return NULL;
    struct painter *p = err_calloc(1, sizeof *p, e);
    if (!p)
        return NULL;
    bool ok = r->poster.wanted || strips.count > 1 ? open_layout(p, r, strips, e)
                                                   : open_alone(p, r, strips.kind[0], e);
    if (!ok)
        painter_free(&p);
    return p;
}

int painter_width(const struct painter *p) { return p->width; }

int painter_height(const struct painter *p) { return p->height; }

int painter_channels(const struct painter *p) { return p->channels; }

static void fill_pixels(uint8_t *rgb, size_t pixels, const uint8_t colour[3])
{
    for (size_t i = 0; i < pixels; i++)
        memcpy(rgb + i * 3, colour, 3);
}

/* Returns the layout's row without its strips. */
static const uint8_t *layout_row(struct painter *p, int y, struct err *e)
{
    int first = y / p->band_rows * p->band_rows, left = p->height - first;
    int rows = left < p->band_rows ? left : p->band_rows;
    size_t line = (size_t)p->width * 3;
    struct canvas *canvas = p->layout->canvas;
    if (first != p->band_y) {
        p->band_y = -1;
        if (canvas && !canvas_pixels(canvas, p->layout, first, rows, p->width, p->band, e))
            return NULL;
        if (!canvas)
            fill_pixels(p->band, (size_t)rows * (size_t)p->width, p->layout->colours.paper);
        p->band_y = first;
    }
    return p->band + (size_t)(y - first) * line;
}

/* Blends a row with alpha over `to`. */
static void blend_over(const uint8_t *from, int width, uint8_t *to)
{
    for (int x = 0; x < width; x++, from += 4, to += 3)
        for (int k = 0; k < 3; k++)
            to[k] = (uint8_t)((from[k] * from[3] + to[k] * (255 - from[3]) + 127) / 255);
}

bool painter_row(struct painter *p, int y, uint8_t *out, struct err *e)
{
    if (interrupted())
        return interrupt_error(e);
    if (p->alone && p->background) {
        shape_row(p->alone, y, p->row);
        fill_pixels(out, (size_t)p->width, p->background);
        blend_over(p->row, p->width, out);
        return true;
    }
    if (p->alone) {
        shape_row(p->alone, y, out);
        return true;
    }
    const uint8_t *under = layout_row(p, y, e);
    if (!under)
        return false;
    memcpy(out, under, (size_t)p->width * 3);
    for (size_t i = 0; i < p->shapes; i++) {
        const struct placed *strip = &p->placed[i];
        if (y < strip->y || y >= strip->y + strip->h)
            continue;
        shape_row(strip->shape, y - strip->y, p->row);
        if (shape_channels(p->layout->report->picture.shape) == 4)
            blend_over(p->row, strip->w, out + (size_t)strip->x * 3);
        else
            memcpy(out + (size_t)strip->x * 3, p->row, (size_t)strip->w * 3);
    }
    return true;
}

void painter_free(struct painter **p)
{
    if (!*p)
        return;
    for (size_t i = 0; i < (*p)->shapes; i++)
        shape_free(&(*p)->placed[i].shape);
    shape_free(&(*p)->alone);
    layout_free(&(*p)->layout);
    free((*p)->band);
    free((*p)->row);
    free(*p);
    *p = NULL;
}
