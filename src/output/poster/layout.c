#include "layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "barcode/engine/colour.h"
#include "base/log.h"
#include "output/modes/shot_marks.h"
#include "labels.h"
#include "canvas_cairo.h"
#include "shape.h"

/* WCAG 2.2 defines contrast as (Y1 + 0.05) / (Y2 + 0.05), Y1 being the lighter colour's. */
enum { FLARE = 32767500 }; /* 0.05 in the unit of srgb_luminance */

/* Contrasts in hundredths. Text needs 4.5 to be readable. */
enum { TITLE_CONTRAST = 1600, SMALL_CONTRAST = 500, LINE_CONTRAST = 140 };

int layout_contrast(const uint8_t a[3], const uint8_t b[3])
{
    uint64_t x = (uint64_t)srgb_luminance(a) + FLARE, y = (uint64_t)srgb_luminance(b) + FLARE;
    return (int)((x > y ? x : y) * 100 / (x > y ? y : x));
}

/* Sets `to` to the mixture of paper and black or white that is nearest to the paper and has this
 * contrast to it, or to black or white if none has. */
static void mix_colour(const uint8_t paper[3], int contrast, uint8_t to[3])
{
    enum { STEPS = 32 };
    static const uint8_t black[3] = {0, 0, 0}, white[3] = {255, 255, 255};
    const uint8_t *end =
        layout_contrast(paper, black) >= layout_contrast(paper, white) ? black : white;
    for (int i = 1; i <= STEPS; i++) {
        for (int c = 0; c < 3; c++)
            to[c] = (uint8_t)((paper[c] * (STEPS - i) + end[c] * i + STEPS / 2) / STEPS);
        if (layout_contrast(paper, to) >= contrast)
            return;
    }
}

struct page_colours layout_colours(const uint8_t paper[3])
{
    struct page_colours c;
    memcpy(c.paper, paper, 3);
    mix_colour(paper, TITLE_CONTRAST, c.title);
    mix_colour(paper, SMALL_CONTRAST, c.small);
    mix_colour(paper, LINE_CONTRAST, c.line);
    return c;
}

void layout_free(struct layout **s)
{
    if (!*s)
        return;
    canvas_close(&(*s)->canvas);
    free((*s)->item);
    free(*s);
    *s = NULL;
}

/* Adds an item in this colour. If out of memory, sets `s->failed`. */
static void add_item(struct layout *s, const struct layout_item *item, const uint8_t rgb[3])
{
    if (!err_reserve(&s->item, s->items + 1, &s->room, sizeof *s->item, NULL)) {
        s->failed = true;
        return;
    }
    s->item[s->items] = *item;
    memcpy(s->item[s->items++].rgb, rgb, 3);
}

static void add_area(struct layout *s, double x, double y, double w, double h, const uint8_t rgb[3])
{
    const struct layout_item area = {.kind = LAYOUT_AREA, .x = x, .y = y, .w = w, .h = h};
    add_item(s, &area, rgb);
}

static void add_line(struct layout *s, double x, double y, double w, double h, double thick,
                     const uint8_t rgb[3])
{
    const struct layout_item line = {
        .kind = LAYOUT_LINE, .x = x, .y = y, .w = w, .h = h, .thick = thick};
    add_item(s, &line, rgb);
}

/* Adds text, unless it is empty. */
static void add_words(struct layout *s, const struct layout_text *words, const uint8_t rgb[3])
{
    const struct layout_item item = {.kind = LAYOUT_WORDS, .words = *words};
    if (words->text[0] && words->w > 0)
        add_item(s, &item, rgb);
}

/* Returns v rounded to a whole pixel in a layout for pixels, otherwise to a whole unit. */
static double snap(const struct layout *s, double v)
{
    return s->scale > 0 ? floor(v * s->scale + 0.5) / s->scale : floor(v + 0.5);
}

/* Copies a text of any bytes as one line of UTF-8, with spaces for line breaks. */
static void copy_line(const char *text, char *out, size_t size)
{
    char line[LAYOUT_TEXT];
    /* A title may have line breaks, from the shell or a tag. */
    paint_text_utf8(text, false, line, sizeof line);
    for (char *at = line; (at = strpbrk(at, "\t\n\r")); at++)
        *at = ' ';
    paint_text_utf8(line, true, out, size);
}

void layout_title(const struct report *r, char out[LAYOUT_TEXT])
{
    char name[LAYOUT_TEXT];
    copy_line(r->poster.title && r->poster.title[0] ? r->poster.title : r->film->title, out,
              LAYOUT_TEXT);
    if (out[strspn(out, " ")])
        return;
    paint_text_utf8(paint_text_file_name(r->film->path), true, name, sizeof name);
    char *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = 0;
    snprintf(out, LAYOUT_TEXT, "%s", name);
}

/* Writes the time of day at a place of the axis of a day of --live, in the process's time zone. */
static void write_clock(const struct report *r, double place, char out[AXIS_LABEL])
{
    double us = place * (double)r->count * (double)r->analysis.selection.interval_us;
    time_t seconds = (time_t)((r->clock_us + llround(us)) / 1000000);
    struct tm tm;
    if (!localtime_r(&seconds, &tm) ||
        strftime(out, AXIS_LABEL, tm.tm_sec == 0 ? "%H:%M" : "%H:%M:%S", &tm) == 0)
        out[0] = 0;
}

bool layout_axis(const struct layout *s, int most, struct axis *axis, struct err *e)
{
    const struct report *r = s->report;
    const uint64_t parts = axis_parts(r);
    int64_t *edge = axis_pixel_edges(r, parts, e);
    axis->ticks = 0;
    if (!edge)
        return false;
    if (most < 1)
        most = 1;
    if (most > AXIS_TICKS_MOST)
        most = AXIS_TICKS_MOST;
    *axis = axis_make(edge, parts, most);
    free(edge);
    for (size_t i = 0; r->clock_us != 0 && i < axis->ticks; i++)
        write_clock(r, axis->tick[i].place, axis->tick[i].label);
    if (r->clock_us != 0 && axis->ticks > 0)
        write_clock(r, 1, axis->end);
    return true;
}

/* The labels of a horizontal axis, which may not overlap. */
struct label_row {
    struct layout *s;
    double y, tick, size;
    double first, last; /* the labels are moved between these */
    double from, to;    /* and need room between these */
};

/* Adds a tick at `at` and its label. Returns where the label begins, and sets `*right` to its end.
 * Returns INFINITY if the label has no room; then there is no tick either. */
static double add_tick(struct label_row *r, double at, const char *label, double *right)
{
    double w, h;
    struct layout_text t = {.y = r->y + r->tick * 1.5,
                            .w = 100 * r->size,
                            .size = r->size,
                            .lines = 1,
                            .align = LAYOUT_LEFT};
    snprintf(t.text, sizeof t.text, "%s", label);
    canvas_measure(r->s->canvas, &t, &w, &h);
    t.x = at - w / 2 + w > r->last ? r->last - w : at - w / 2;
    t.x = t.x < r->first ? r->first : t.x;
    if (t.x < r->from || t.x + w > r->to + 0.5)
        return INFINITY;
    *right = t.x + w;
    t.w = w + r->size;
    add_line(r->s, at, r->y, 0, r->tick, r->size / 14, r->s->colours.small);
    add_words(r->s, &t, r->s->colours.small);
    return t.x;
}

/*
 * Adds a horizontal axis below a strip that reaches from x to x + w. Its ticks are `tick` long and
 * go down from y. The labels are below them, `size` high, and stay within x - spare and x + w +
 * spare. The last one is the time at the end. Returns false if out of memory.
 */
static bool add_axis_below(struct layout *s, double x, double w, double y, double tick, double size,
                           double spare, struct err *e)
{
    struct axis axis;
    struct layout_text t = {.size = size, .lines = 1, .w = 100 * size, .text = "0:00:00"};
    struct label_row row = {.s = s, .y = y, .tick = tick, .size = size, .first = x - spare};
    double label, high, right = 0, left = INFINITY;
    row.from = row.first;
    row.to = row.last = x + w + spare;
    canvas_measure(s->canvas, &t, &label, &high);
    if (!layout_axis(s, (int)(w / (label * 2.5)), &axis, e))
        return false;
    if (w > 2.5 * label) /* otherwise there is room for the beginning only */
        left = add_tick(&row, x + w, axis.end, &right);
    if (left < row.to)
        row.to = left - 1.2 * size;
    for (size_t i = 0; i < axis.ticks; i++) {
        double at = x + axis.tick[i].place * w;
        if (add_tick(&row, at, axis.tick[i].label, &right) < INFINITY)
            row.from = right + size / 2;
    }
    return true;
}

static const struct page_colours usual = {
    .paper = {0x15, 0x16, 0x1a}, .title = {0xf0, 0xf0, 0xec}, .small = {0x92, 0x96, 0xa0}};

enum { GAP = 4 }; /* rows between strips without labels */

/* Returns the font size of labels for strips of this height. */
static int letters(int height)
{
    int size = height / 24;
    return size < 13 ? 13 : size > 40 ? 40 : size;
}

/* Adds a name and, if both fit, a note after it. */
static void add_label(struct layout *s, double y, double bar, int size, const char *name,
                      const char *note)
{
    double pad = size * 0.6, w, h, whole = s->width - 2 * pad;
    struct layout_text t = {.x = pad, .w = whole, .size = size, .lines = 1, .align = LAYOUT_LEFT};
    if (whole < 2 * size)
        return;
    snprintf(t.text, sizeof t.text, "%s", note);
    canvas_measure(s->canvas, &t, &w, &h);
    double note_width = w + size * 0.8;
    /* so that a long name is shortened but stays recognizable */
    bool both = note_width < whole * 0.7;
    snprintf(t.text, sizeof t.text, "%s", name);
    t.w = both ? whole - note_width : whole;
    canvas_measure(s->canvas, &t, &w, &h);
    t.y = y + (bar - h) / 2;
    add_words(s, &t, s->colours.title);
    if (!both)
        return;
    t.x += w + size * 0.8;
    t.w = note_width;
    snprintf(t.text, sizeof t.text, "%s", note);
    add_words(s, &t, s->colours.small);
}

static void label_all(struct layout *s, const struct report *r, struct strips strips, int bar,
                      int size, int height)
{
    char text[300], selection[200];
    layout_title(r, s->title);
    paint_text_selection(&r->analysis.selection, selection, sizeof selection);
    snprintf(text, sizeof text, "%s, at %dx%d", selection, r->analysis.width, r->analysis.height);
    add_label(s, 0, bar, size, s->title, text);
    for (size_t i = 0; i < strips.count; i++) {
        strips.kind[i]->note(r, text, sizeof text);
        add_label(s, bar + (double)i * (bar + height), bar, size, strips.kind[i]->title, text);
    }
}

struct layout *layout_stack(const struct report *r, struct strips strips, int width, int height,
                            struct err *e)
{
    struct err none = ERR_INIT;
    struct layout *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->report = r;
    s->canvas = canvas_open(r->poster.style.font, &none);
    /* No warning if the build has no cairo, which is documented. */
    if (!s->canvas && none.code != ERR_USAGE)
        log_msg(LOG_WARNING, "the image has no labels: %s", none.text);
    int size = letters(height), bar = s->canvas ? size * 11 / 5 : GAP, head = s->canvas ? bar : 0;
    s->width = width;
    s->scale = 1;
    s->colours =
        r->poster.style.has_background ? layout_colours(r->poster.style.background) : usual;
    for (size_t i = 0; i < strips.count; i++) {
        double y = head + (double)i * (bar + height) + (s->canvas ? bar : 0);
        s->shape[s->shapes++] = (struct layout_shape){strips.kind[i], 0, y, width, height};
    }
    s->height = s->shape[strips.count - 1].y + height + head;
    if (s->canvas)
        label_all(s, r, strips, bar, size, height);
    if ((s->canvas &&
         !add_axis_below(s, 0, width, s->height - bar, size * 0.4, size * 0.85, -size * 0.6, e)) ||
        (s->failed && !err_memory(e, s->items * sizeof *s->item)))
        layout_free(&s);
    return s;
}

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

/* Writes "k-means, largest of 8 clusters  ·  1:30 min  ·  every 2nd frame". */
static void technical_note(const struct plan *p, char *out, size_t size)
{
    const struct report *r = p->s->report;
    char what[200], titles[300], length[40], selection[200];
    paint_text_titles(p->strips, titles, sizeof titles);
    p->strips.kind[0]->note(r, what, sizeof what);
    paint_text_selection(&r->analysis.selection, selection, sizeof selection);
    int used = snprintf(out, size, "%s%s%s", titles, p->strips.count == 1 ? ", " : "",
                        p->strips.count == 1 ? what : "");
    if (r->film->length.duration_us > 0 && used > 0 && (size_t)used < size) {
        axis_length(r->film->length.duration_us, length, sizeof length);
        used += snprintf(out + used, size - (size_t)used, "  \xc2\xb7  %s", length);
    }
    if (used > 0 && (size_t)used < size)
        snprintf(out + used, size - (size_t)used, "  \xc2\xb7  %s", selection);
}

/* Returns the length of the part that is shown; 0 if it is unknown. */
static int64_t shown_us(const struct report *r)
{
    const struct selection *s = &r->analysis.selection;
    const int64_t film_us = r->film->length.duration_us,
                  end_us = s->end_us < film_us ? s->end_us : film_us;
    return end_us > s->start_us ? end_us - s->start_us : 0;
}

/* Writes --subtitle, or "Main colours, 1:30 min"; several strips have labels of their own. */
static void note_of(const struct plan *p, char *out, size_t size)
{
    const struct report *r = p->s->report;
    const char *subtitle = r->poster.style.subtitle,
               *caption = p->strips.count == 1 ? p->strips.kind[0]->caption : "";
    const int64_t us = shown_us(r);
    char length[40] = "";
    if (subtitle && strcmp(subtitle, "technical") == 0) {
        technical_note(p, out, size);
    } else if (subtitle) {
        copy_line(subtitle, out, size);
    } else {
        if (us > 0)
            axis_length(us, length, sizeof length);
        snprintf(out, size, "%s%s%s", caption, *caption && us > 0 ? ", " : "", length);
    }
}

static double swatch_height(const struct plan *p) { return 3.4 * p->u; }

/* Returns the height of the values below the swatches. */
static double values_height(const struct plan *p)
{
    return p->s->report->poster.style.bare ? 0 : 0.7 * p->u + p->line;
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
    const struct paper_style *style = &p->s->report->poster.style;
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
    bool leftward;
    int unknown = canvas_unknown(p->s->canvas, &t, &leftward);
    if (unknown > 0)
        log_msg(LOG_WARNING,
                "no installed font has %d of the title's characters; they are drawn as boxes",
                unknown);
    char note[700];
    add_words(p->s, &t, p->s->colours.title);
    note_of(p, note, sizeof note);
    t = words(note, p->x, p->margin + p->title_high + 0.5 * p->u, p->w, p->small);
    t.align = leftward ? LAYOUT_RIGHT : LAYOUT_START;
    if (p->note)
        add_words(p->s, &t, p->s->colours.small);
}

/* Adds the film's palette at the bottom: areas of equal size with their values below. */
static void add_swatches(struct plan *p)
{
    const struct film_palette *palette = &p->s->report->media.palette;
    int n = palette->count;
    double gap = 1.2 * p->u, high = swatch_height(p),
           y = p->s->height - p->margin - values_height(p) - high;
    double each = (p->w - (n - 1) * gap) / n;
    struct layout_text widest = words("#dddddd", 0, 0, p->w, p->small * 0.9);
    double w, h;
    canvas_measure(p->s->canvas, &widest, &w, &h);
    for (int i = 0; i < n && p->swatches; i++) {
        const uint8_t *c = palette->colour[i].rgb;
        char hex[PAINT_HEX];
        double x = p->x + i * (each + gap), hair = 0.08 * p->u;
        if (layout_contrast(c, p->s->colours.paper) < AREA_CONTRAST)
            add_area(p->s, x - hair, y - hair, each + 2 * hair, high + 2 * hair,
                     p->s->colours.line);
        add_area(p->s, x, y, each, high, c);
        paint_text_hex(palette->colour[i].rgb, hex);
        struct layout_text t = words(hex, x, y + high + 0.7 * p->u, each, p->small * 0.9);
        if (w <= each && !p->s->report->poster.style.bare)
            add_words(p->s, &t, p->s->colours.small);
    }
}

/* Adds the place of a strip. A hairline around it separates a white film from the paper. */
static void add_shape(struct plan *p, size_t i, double x, double y, double right, double foot)
{
    struct layout *s = p->s;
    double hair = 0.06 * p->u;
    x = snap(s, x);
    y = snap(s, y);
    double w = at_least(snap(s, right) - x, 1 / at_least(s->scale, 1)),
           h = at_least(snap(s, foot) - y, 1 / at_least(s->scale, 1));
    s->shape[s->shapes++] = (struct layout_shape){p->strips.kind[i], x, y, w, h};
    add_area(s, x - hair, y - hair, w + 2 * hair, h + 2 * hair, s->colours.line);
}

static bool has_marks(const struct plan *p) { return p->s->report->media.shots && p->axis; }

/*
 * Places the strips one below the other. Several strips have a label each, and the axis is below
 * the last. The first label leaves room for the marks of shots.
 */
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
        const double above = i == 0 && has_marks(p) ? 1.4 * p->u : 0;
        struct layout_text t = words(p->strips.kind[i]->title, p->x, y - above, p->w, p->small);
        if (n > 1 && labels)
            add_words(p->s, &t, p->s->colours.small);
        add_shape(p, i, p->x, y + (labels ? label : 0), p->x + p->w,
                  labels ? y + label + each : y + (p->bottom - axis - p->top) / (double)n - gap);
    }
    const struct layout_shape *last = &p->s->shape[n - 1];
    return !p->axis || add_axis_below(p->s, last->x, last->w, last->y + last->h + 0.35 * p->u,
                                      0.75 * p->u, p->small, 0, e);
}

/* Adds a tick at y on the left of the strip, and its label, `left` from the strip. */
static void add_time(struct plan *p, const char *label, double y, double top, double left)
{
    const struct layout_shape *f = &p->s->shape[0];
    double tick = 0.75 * p->u, w = left - tick - p->u;
    add_line(p->s, f->x - 0.35 * p->u, y, -tick, 0, p->small / 14, p->s->colours.small);
    struct layout_text t = words(label, f->x - left, top, w, p->small);
    t.align = LAYOUT_RIGHT;
    add_words(p->s, &t, p->s->colours.small);
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
    /* The axis is in the margin that shape.h leaves around the ring. */
    double ring = width < height ? width : height,
           side = ring * SHAPE_RING_MARGIN / (SHAPE_RING_MARGIN - 2);
    side = at_least(snap(p->s, side), 1 / at_least(p->s->scale, 1));
    double x = snap(p->s, p->x + (p->w - side) / 2),
           y = snap(p->s, (p->top + p->bottom - side) / 2);
    p->s->shape[p->s->shapes++] = (struct layout_shape){p->strips.kind[0], x, y, side, side};
    if (!p->axis)
        return true;
    if (!layout_axis(p->s, (int)(ring * 3.14 / (label * 2.5)), &axis, e))
        return false;
    for (size_t i = 0; i < axis.ticks; i++) {
        double turn = axis.tick[i].place * 2 * 3.14159265358979, dx = sin(turn), dy = -cos(turn),
               r = ring / 2 + 0.4 * p->u;
        double cx = x + side / 2, cy = y + side / 2, w;
        add_line(p->s, cx + r * dx, cy + r * dy, tick * dx, tick * dy, p->small / 14,
                 p->s->colours.small);
        t = words(axis.tick[i].label, 0, 0, 100 * p->small, p->small);
        canvas_measure(p->s->canvas, &t, &w, &high);
        r += tick + 0.5 * p->u;
        t.x = cx + (r + w / 2) * dx - w / 2;
        t.y = cy + (r + high / 2) * dy - high / 2;
        t.w = w + p->small;
        t.align = LAYOUT_LEFT;
        add_words(p->s, &t, p->s->colours.small);
    }
    return true;
}

/* Where a mark begins and where it points. */
struct mark_line {
    double x, y, dx, dy;
};

/* Marks are above a strip, on the right of a vertical one, and in the hole of a ring. */
static struct mark_line mark_at(const struct plan *p, double place)
{
    const struct layout_shape *f = &p->s->shape[0];
    const double gap = 0.35 * p->u, turn = place * 2 * 3.14159265358979;
    const double hole = 0.2 * f->w * (SHAPE_RING_MARGIN - 2) / SHAPE_RING_MARGIN - gap;
    switch (p->s->report->picture.shape) {
    case SHAPE_RING:
        return (struct mark_line){f->x + f->w / 2 + hole * sin(turn),
                                  f->y + f->h / 2 - hole * cos(turn), -sin(turn), cos(turn)};
    case SHAPE_VERTICAL: return (struct mark_line){f->x + f->w + gap, f->y + place * f->h, 1, 0};
    default: return (struct mark_line){f->x + place * f->w, f->y - gap, 0, -1};
    }
}

/* Adds a tick where each shot but the first begins. That of a fade or dissolve is wider and
 * fainter. */
static bool add_marks(struct plan *p, struct err *e)
{
    const struct shots *shots = p->s->report->media.shots;
    const double tick = 0.75 * p->u, thin = p->small / 14;
    struct shot_mark *mark = shot_marks(p->s->report, e);
    uint8_t faint[3];
    if (!mark)
        return false;
    for (int c = 0; c < 3; c++)
        faint[c] = (uint8_t)((p->s->colours.small[c] + p->s->colours.paper[c]) / 2);
    for (size_t i = 1; i < shots->count; i++) {
        const bool cut = shots->shot[i].begins_by == SHOT_CUT;
        const struct mark_line m = mark_at(p, mark[i].at);
        add_line(p->s, m.x, m.y, tick * m.dx, tick * m.dy, cut ? thin : 4 * thin,
                 cut ? p->s->colours.small : faint);
    }
    free(mark);
    return true;
}

static bool fill_poster(struct plan *p, struct err *e)
{
    struct layout *s = p->s;
    double w;
    layout_title(s->report, s->title);
    p->u = (s->width < s->height ? s->width : s->height) / 100;
    p->margin = 7.5 * p->u;
    p->x = snap(s, p->margin);
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
    bool placed;
    switch (s->report->picture.shape) {
    case SHAPE_RING: placed = place_circle(p, e); break;
    case SHAPE_VERTICAL: placed = place_vertical(p, e); break;
    default: placed = place_strips(p, e); break;
    }
    placed = placed && (!has_marks(p) || add_marks(p, e));
    if (placed && s->failed)
        return err_memory(e, s->items * sizeof *s->item);
    return placed;
}

struct layout *layout_poster(const struct report *r, struct strips strips, bool pixels,
                             struct err *e)
{
    int width, height, across, down;
    struct layout *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->report = r;
    paper_sides(&r->poster.page, r->picture.shape, &width, &height);
    paper_pixels(&r->poster.page, r->picture.shape, r->poster.dpi, &across, &down);
    double points = r->poster.page.pixels ? 1 : 72.0 / 25400,
           dots = r->poster.page.pixels ? 1 : r->poster.dpi / 72.0;
    s->scale = pixels ? dots : 0;
    s->unit_mm = r->poster.page.pixels ? 0 : 25.4 / 72;
    s->width = pixels ? across / dots : width * points;
    s->height = pixels ? down / dots : height * points;
    bool white = !r->poster.style.has_background ||
                 memcmp(r->poster.style.background, on_white.paper, 3) == 0;
    s->colours = white ? on_white : layout_colours(r->poster.style.background);
    struct plan p = {.s = s, .strips = strips};
    s->canvas = canvas_open(r->poster.style.font, e);
    if (!s->canvas || !fill_poster(&p, e))
        layout_free(&s);
    return s;
}
