#include <math.h>
#include <stdio.h>
#include <string.h>

#include "canvas_cairo.h"
#include "layout.h"
#include "output/palette/swatches.h"
#include "output/text/labels.h"
#include "base/log.h"

static const struct page_colours on_white = {.paper = {0xff, 0xff, 0xff},
                                             .title = {0x1c, 0x1c, 0x1e},
                                             .small = {0x6e, 0x6e, 0x73},
                                             .line = {0xd8, 0xd8, 0xdc}};

/* An area with less contrast to the paper, in hundredths, gets a hairline around it. */
enum { AREA_CONTRAST = 116 };

/* The measures of a page. All lengths derive from its shorter side; `u` is one hundredth of it. */
struct plan {
    struct layout *s;
    struct strips strips;
    double u, margin, x, w;    /* the printed area: x and width */
    double small;              /* font size of all text except the title */
    double line;               /* line height of that text */
    double title, title_high;  /* font size of the title, and the height of its box */
    bool note, axis, swatches; /* which parts are wanted and have room */
    double top, bottom;        /* the space for the strips, with their axis */
};

static double at_least(double a, double b) { return a > b ? a : b; }

static struct layout_text words(const char *text, double x, double y, double w, double size)
{
    struct layout_text t = {
        .x = x, .y = y, .w = w, .size = size, .lines = 1, .align = LAYOUT_START};
    paint_text_utf8(text, true, t.text, sizeof t.text);
    return t;
}

static struct layout_text title_of(const struct plan *p)
{
    struct layout_text t = words(p->s->title, p->x, p->margin, p->w, p->title);
    t.lines = p->s->height > 40 * p->u + 6 * p->title ? 2 : 1;
    return t;
}

/* Writes --subtitle, or "k-means, largest of 8 clusters  ·  1:30 min  ·  every 2nd frame". */
static void note_of(const struct plan *p, char *out, size_t size)
{
    const struct report *r = p->s->report;
    char what[200], titles[300], length[40], selection[200];
    if (r->style.subtitle) {
        layout_one_line(r->style.subtitle, out, size);
        return;
    }
    paint_text_titles(p->strips, titles, sizeof titles);
    p->strips.kind[0]->note(r, what, sizeof what);
    paint_text_selection(&r->selection, selection, sizeof selection);
    int used = snprintf(out, size, "%s%s%s", titles, p->strips.count == 1 ? ", " : "",
                        p->strips.count == 1 ? what : "");
    if (r->film->length.duration_us > 0 && used > 0 && (size_t)used < size) {
        axis_length(r->film->length.duration_us, length, sizeof length);
        used += snprintf(out + used, size - (size_t)used, "  \xc2\xb7  %s", length);
    }
    if (used > 0 && (size_t)used < size)
        snprintf(out + used, size - (size_t)used, "  \xc2\xb7  %s", selection);
}

static double swatch_height(const struct plan *p) { return 3.4 * p->u; }

/* Returns the height of the values below the swatches. */
static double values_height(const struct plan *p)
{
    return p->s->report->style.bare ? 0 : 0.7 * p->u + p->line;
}

/* Sets the space for the strips with the current parts. Returns the height of the strips. */
static double measure(struct plan *p)
{
    p->top = p->margin + p->title_high + (p->note ? 0.5 * p->u + p->line : 0) + 3.2 * p->u;
    p->bottom = p->s->height - p->margin -
                (p->swatches ? swatch_height(p) + values_height(p) + 3.4 * p->u : 0);
    return p->bottom - p->top - (p->axis ? p->line + 2 * p->u : 0);
}

/*
 * Omits the least important parts of a small or flat page until the strips have 42 % of its height.
 */
static void omit_parts(struct plan *p)
{
    double least = 0.42 * p->s->height;
    const struct paper_style *style = &p->s->report->style;
    p->note = style->subtitle ? style->subtitle[0] != 0 : !style->bare;
    p->axis = !style->bare;
    p->swatches = true;
    if (measure(p) < least)
        p->note = false;
    if (measure(p) < least)
        p->swatches = false;
    if (measure(p) < least)
        p->axis = false;
}

static void add_head(struct plan *p)
{
    struct layout_text t = title_of(p);
    int unknown = canvas_unknown(p->s->canvas, &t);
    if (unknown > 0)
        log_msg(LOG_WARNING,
                "no installed font has %d of the title's characters; they are drawn as boxes",
                unknown);
    char note[700];
    layout_words(p->s, &t, p->s->colours.title);
    note_of(p, note, sizeof note);
    enum layout_align beside = canvas_leftward(p->s->canvas, &t) ? LAYOUT_RIGHT : LAYOUT_START;
    t = words(note, p->x, p->margin + p->title_high + 0.5 * p->u, p->w, p->small);
    t.align = beside;
    if (p->note)
        layout_words(p->s, &t, p->s->colours.small);
}

/* Adds the film's palette at the bottom: areas of equal size with their values below. */
static void add_swatches(struct plan *p)
{
    const struct film_palette *palette = &p->s->report->palette;
    int n = palette->count;
    double gap = 1.2 * p->u, high = swatch_height(p),
           y = p->s->height - p->margin - values_height(p) - high;
    double each = (p->w - (n - 1) * gap) / n;
    struct layout_text widest = words("#dddddd", 0, 0, p->w, p->small * 0.9);
    double w, h;
    canvas_measure(p->s->canvas, &widest, &w, &h);
    for (int i = 0; i < n && p->swatches; i++) {
        const uint8_t *c = palette->colour[i].rgb;
        char hex[SWATCHES_TEXT];
        double x = p->x + i * (each + gap), hair = 0.08 * p->u;
        if (layout_contrast(c, p->s->colours.paper) < AREA_CONTRAST)
            layout_area(p->s, x - hair, y - hair, each + 2 * hair, high + 2 * hair,
                        p->s->colours.line);
        layout_area(p->s, x, y, each, high, c);
        swatches_hex(&palette->colour[i], hex);
        struct layout_text t = words(hex, x, y + high + 0.7 * p->u, each, p->small * 0.9);
        if (w <= each && !p->s->report->style.bare)
            layout_words(p->s, &t, p->s->colours.small);
    }
}

/* Adds the place of a strip. A hairline around it separates a white film from the paper. */
static void add_shape(struct plan *p, size_t i, double x, double y, double right, double foot)
{
    struct layout *s = p->s;
    double hair = 0.06 * p->u;
    x = layout_snap(s, x);
    y = layout_snap(s, y);
    double w = at_least(layout_snap(s, right) - x, 1 / at_least(s->scale, 1)),
           h = at_least(layout_snap(s, foot) - y, 1 / at_least(s->scale, 1));
    s->shape[s->shapes++] = (struct layout_shape){p->strips.kind[i], x, y, w, h};
    layout_area(s, x - hair, y - hair, w + 2 * hair, h + 2 * hair, s->colours.line);
}

/* Places the strips one below the other. Several strips have a label each, and the axis is below
 * the last. */
static bool place_strips(struct plan *p, struct err *e)
{
    size_t n = p->strips.count;
    double gap = n > 1 ? 1.2 * p->u : 0, label = n > 1 ? p->line + 0.4 * p->u : 0,
           axis = p->axis ? p->line + 2 * p->u : 0;
    double each = (p->bottom - axis - p->top - (double)(n - 1) * gap) / (double)n - label;
    bool labels = each > 0.5 * label;
    for (size_t i = 0; i < n; i++) {
        double y =
            p->top +
            (double)i *
                ((labels ? each + label : (p->bottom - axis - p->top) / (double)n - gap) + gap);
        struct layout_text t = words(p->strips.kind[i]->title, p->x, y, p->w, p->small);
        if (n > 1 && labels)
            layout_words(p->s, &t, p->s->colours.small);
        add_shape(p, i, p->x, y + (labels ? label : 0), p->x + p->w,
                  labels ? y + label + each : y + (p->bottom - axis - p->top) / (double)n - gap);
    }
    const struct layout_shape *last = &p->s->shape[n - 1];
    return !p->axis || layout_axis_below(p->s, last->x, last->w, last->y + last->h + 0.35 * p->u,
                                         0.75 * p->u, p->small, 0, e);
}

/* Adds a tick at y on the left of the strip, and its label, `left` from the strip. */
static void add_time(struct plan *p, const char *label, double y, double top, double left)
{
    const struct layout_shape *f = &p->s->shape[0];
    double tick = 0.75 * p->u, w = left - tick - p->u;
    layout_line(p->s, f->x - 0.35 * p->u, y, -tick, 0, p->small / 14, p->s->colours.small);
    struct layout_text t = words(label, f->x - left, top, w, p->small);
    t.align = LAYOUT_RIGHT;
    layout_words(p->s, &t, p->s->colours.small);
}

/* Places the strip with time from top to bottom, and its axis on the left. */
static bool place_vertical(struct plan *p, struct err *e)
{
    struct layout_text t = words("0:00:00", 0, 0, 100 * p->small, p->small);
    struct axis axis;
    double label, high, tick = 0.75 * p->u;
    canvas_measure(p->s->canvas, &t, &label, &high);
    double left = p->axis ? label + tick + 1.1 * p->u : 0;
    add_shape(p, 0, p->x + left, p->top, p->x + p->w, p->bottom);
    const struct layout_shape *f = &p->s->shape[0];
    if (!p->axis)
        return true;
    if (!layout_axis(p->s, (int)(f->h / (high * 3)), &axis, e))
        return false;
    double end = p->bottom - 0.8 * high; /* the top of the last label */
    add_time(p, axis.end, f->y + f->h, end, left);
    for (size_t i = 0; i < axis.ticks; i++) {
        double y = f->y + axis.tick[i].place * f->h, text = y - high / 2;
        text = at_least(text, p->top - 0.2 * high);
        if (text + high <= end)
            add_time(p, axis.tick[i].label, y, text, left);
    }
    return true;
}

/* Places the ring in the centre, with its axis around it as on a clock. */
static bool place_circle(struct plan *p, struct err *e)
{
    struct layout_text t = words("0:00:00", 0, 0, 100 * p->small, p->small);
    struct axis axis;
    double label, high, tick = 0.75 * p->u;
    canvas_measure(p->s->canvas, &t, &label, &high);
    double margin_x = p->axis ? label + tick + 1.2 * p->u : 0;
    double margin_y = p->axis ? high + tick + 1.2 * p->u : 0;
    double width = p->w - 2 * margin_x, height = p->bottom - p->top - 2 * margin_y;
    double side = width < height ? width : height;
    side = at_least(layout_snap(p->s, side), 1 / at_least(p->s->scale, 1));
    double x = layout_snap(p->s, p->x + (p->w - side) / 2),
           y = layout_snap(p->s, (p->top + p->bottom - side) / 2);
    p->s->shape[p->s->shapes++] = (struct layout_shape){p->strips.kind[0], x, y, side, side};
    if (!p->axis)
        return true;
    if (!layout_axis(p->s, (int)(side * 3.14 / (label * 2.5)), &axis, e))
        return false;
    for (size_t i = 0; i < axis.ticks; i++) {
        double turn = axis.tick[i].place * 2 * 3.14159265358979, dx = sin(turn), dy = -cos(turn),
               r = side / 2 + 0.4 * p->u;
        double cx = x + side / 2, cy = y + side / 2, w;
        layout_line(p->s, cx + r * dx, cy + r * dy, tick * dx, tick * dy, p->small / 14,
                    p->s->colours.small);
        t = words(axis.tick[i].label, 0, 0, 100 * p->small, p->small);
        canvas_measure(p->s->canvas, &t, &w, &high);
        r += tick + 0.5 * p->u;
        t.x = cx + (r + w / 2) * dx - w / 2;
        t.y = cy + (r + high / 2) * dy - high / 2;
        t.w = w + p->small;
        t.align = LAYOUT_LEFT;
        layout_words(p->s, &t, p->s->colours.small);
    }
    return true;
}

static bool fill_poster(struct plan *p, struct err *e)
{
    struct layout *s = p->s;
    double w;
    layout_title(s->report, s->title);
    p->u = (s->width < s->height ? s->width : s->height) / 100;
    p->margin = 7.5 * p->u;
    p->x = layout_snap(s, p->margin);
    p->w = s->width - 2 * p->x;
    p->small = at_least(1.3 * p->u, s->unit_mm > 0 ? 5.5 : 10);
    p->title = at_least(3.4 * p->u, 1.4 * p->small);
    struct layout_text t = words("0", 0, 0, p->w, p->small);
    canvas_measure(s->canvas, &t, &w, &p->line);
    t = title_of(p);
    canvas_measure(s->canvas, &t, &w, &p->title_high);
    omit_parts(p);
    add_head(p);
    add_swatches(p);
    bool placed = s->report->shape == SHAPE_CIRCLE     ? place_circle(p, e)
                  : s->report->shape == SHAPE_VERTICAL ? place_vertical(p, e)
                                                       : place_strips(p, e);
    return placed && (!s->failed || err_memory(e, s->items * sizeof *s->item));
}

struct layout *layout_poster(const struct report *r, struct strips strips, bool pixels,
                             struct err *e)
{
    int width, height, across, down;
    struct layout *s = layout_open(r, e);
    if (!s)
        return NULL;
    paper_sides(&r->page, r->shape, &width, &height);
    paper_pixels(&r->page, r->shape, r->dpi, &across, &down);
    double points = r->page.pixels ? 1 : 72.0 / 25400, dots = r->page.pixels ? 1 : r->dpi / 72.0;
    s->scale = pixels ? dots : 0;
    s->unit_mm = r->page.pixels ? 0 : 25.4 / 72;
    s->width = pixels ? across / dots : width * points;
    s->height = pixels ? down / dots : height * points;
    bool white = !r->style.has_background || memcmp(r->style.background, on_white.paper, 3) == 0;
    s->colours = white ? on_white : layout_colours(r->style.background);
    struct plan p = {.s = s, .strips = strips};
    if (!(s->canvas = canvas_open(r->style.font, e)) || !fill_poster(&p, e))
        layout_free(&s);
    return s;
}
