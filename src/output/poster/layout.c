#include "layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "canvas_cairo.h"
#include "output/text/labels.h"

struct sheet *sheet_open(const struct report *r, struct err *e)
{
    struct sheet *s = calloc(1, sizeof *s);
    if (!s) {
        err_memory(e, sizeof *s);
        return NULL;
    }
    s->report = r;
    return s;
}

void sheet_free(struct sheet **s)
{
    if (!*s)
        return;
    canvas_close(&(*s)->canvas);
    free((*s)->item);
    free(*s);
    *s = NULL;
}

/* A new item, zeroed but for its kind and colour; NULL when there is no memory, which the sheet remembers. */
static struct sheet_item *add(struct sheet *s, enum sheet_kind kind, const uint8_t rgb[3])
{
    if (s->items == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        struct sheet_item *item = realloc(s->item, room * sizeof *item);
        if (!item) {
            s->failed = true;
            return NULL;
        }
        s->item = item;
        s->room = room;
    }
    struct sheet_item *i = &s->item[s->items++];
    *i = (struct sheet_item){.kind = kind};
    memcpy(i->rgb, rgb, 3);
    return i;
}

static struct sheet_item *add_box(struct sheet *s, enum sheet_kind kind, double x, double y, double w, double h, const uint8_t rgb[3])
{
    struct sheet_item *i = add(s, kind, rgb);
    if (!i)
        return NULL;
    i->x = x;
    i->y = y;
    i->w = w;
    i->h = h;
    return i;
}

void sheet_area(struct sheet *s, double x, double y, double w, double h, const uint8_t rgb[3])
{
    add_box(s, SHEET_AREA, x, y, w, h, rgb);
}

void sheet_line(struct sheet *s, double x, double y, double w, double h, double thick, const uint8_t rgb[3])
{
    struct sheet_item *i = add_box(s, SHEET_LINE, x, y, w, h, rgb);
    if (i)
        i->thick = thick;
}

void sheet_words(struct sheet *s, const struct sheet_text *words, const uint8_t rgb[3])
{
    struct sheet_item *i = words->text[0] && words->w > 0 ? add(s, SHEET_WORDS, rgb) : NULL;
    if (i)
        i->words = *words;
}

double sheet_snap(const struct sheet *s, double v)
{
    return s->scale > 0 ? floor(v * s->scale + 0.5) / s->scale : floor(v + 0.5);
}

void sheet_title(const struct report *r, char out[SHEET_TEXT])
{
    char name[SHEET_TEXT];
    const char *own = r->title && r->title[0] ? r->title : r->film->title;
    /* A title of two lines, as a shell or a tag may have it, is two words and no fault. */
    paint_text_utf8(own, false, name, sizeof name);
    for (char *at = name; (at = strpbrk(at, "\t\n\r")); at++)
        *at = ' ';
    paint_text_utf8(name, true, out, SHEET_TEXT);
    if (out[strspn(out, " ")])
        return;
    paint_text_utf8(paint_text_file_name(r->film->path), true, name, sizeof name);
    char *dot = strrchr(name, '.');
    if (dot && dot > name)
        *dot = 0;
    snprintf(out, SHEET_TEXT, "%s", name);
}

bool sheet_axis(const struct sheet *s, int most, struct axis *axis, struct err *e)
{
    const struct report *r = s->report;
    int64_t *edge = axis_edges(r->columns, r->count, r->film->duration_us);
    axis->ticks = 0;
    if (!edge)
        return err_memory(e, (r->count + 1) * sizeof *edge);
    *axis = axis_make(edge, r->count, most < 1 ? 1 : most > AXIS_TICKS_MOST ? AXIS_TICKS_MOST : most);
    free(edge);
    return true;
}

bool sheet_axis_below(struct sheet *s, double x, double w, double y, double tick, double size,
                      double spare, const uint8_t colour[3], struct err *e)
{
    struct axis axis;
    struct sheet_text t = {.y = y + tick * 1.5, .size = size, .lines = 1, .align = SHEET_LEFT, .text = "0:00:00"};
    double label, high, free_from = -1e9;
    t.w = 100 * size;
    canvas_measure(s->canvas, &t, &label, &high);
    if (!sheet_axis(s, (int)(w / (label * 2.5)), &axis, e))
        return false;
    for (size_t i = 0; i < axis.ticks; i++) {
        double at = x + axis.tick[i].place * w, left;
        snprintf(t.text, sizeof t.text, "%s", axis.tick[i].label);
        t.w = 100 * size;
        canvas_measure(s->canvas, &t, &label, &high);
        left = at - label / 2;
        if (left + label > x + w + spare)
            left = x + w + spare - label;
        if (left < x - spare)
            left = x - spare;
        if (left < free_from || left + label > x + w + spare + 0.5)
            continue;                                   /* a page narrower than its labels */
        sheet_line(s, at, y, 0, tick, size / 14, colour);
        t.x = left;
        t.w = label + size;
        sheet_words(s, &t, colour);
        free_from = left + label + size / 2;
    }
    return true;
}
