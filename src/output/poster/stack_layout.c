#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "canvas_cairo.h"
#include "output/text/labels.h"
#include "layout.h"

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
    layout_words(s, &t, s->colours.title);
    if (!both)
        return;
    t.x += w + size * 0.8;
    t.w = note_width;
    snprintf(t.text, sizeof t.text, "%s", note);
    layout_words(s, &t, s->colours.small);
}

static void label_all(struct layout *s, const struct report *r, struct strips strips, int bar,
                      int size, int height)
{
    char text[300], selection[200];
    layout_title(r, s->title);
    paint_text_selection(&r->selection, selection, sizeof selection);
    snprintf(text, sizeof text, "%s, at %dx%d", selection, r->width, r->height);
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
    struct layout *s = layout_open(r, e);
    if (!s)
        return NULL;
    s->canvas = canvas_open(r->style.font, &none);
    /* No warning if the build has no cairo, which is documented. */
    if (!s->canvas && none.code != ERR_USAGE)
        log_msg(LOG_WARNING, "the image has no labels: %s", none.text);
    int size = letters(height), bar = s->canvas ? size * 11 / 5 : GAP, head = s->canvas ? bar : 0;
    s->width = width;
    s->scale = 1;
    s->colours = r->style.has_background ? layout_colours(r->style.background) : usual;
    for (size_t i = 0; i < strips.count; i++) {
        double y = head + (double)i * (bar + height) + (s->canvas ? bar : 0);
        s->shape[s->shapes++] = (struct layout_shape){strips.kind[i], 0, y, width, height};
    }
    s->height = s->shape[strips.count - 1].y + height + head;
    if (s->canvas)
        label_all(s, r, strips, bar, size, height);
    if ((s->canvas && !layout_axis_below(s, 0, width, s->height - bar, size * 0.4, size * 0.85,
                                         -size * 0.6, e)) ||
        (s->failed && !err_memory(e, s->items * sizeof *s->item)))
        layout_free(&s);
    return s;
}
