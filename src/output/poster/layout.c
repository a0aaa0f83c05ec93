#include "layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "canvas_cairo.h"
#include "output/text/labels.h"

struct layout *layout_open(const struct report *r, struct err *e)
{
    struct layout *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->report = r;
    return s;
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

/*
 * Adds an item with only kind and colour set. If out of memory, sets `s->failed` and returns NULL.
 */
static struct layout_item *add_item(struct layout *s, enum layout_kind kind, const uint8_t rgb[3])
{
    if (!err_reserve(&s->item, s->items + 1, &s->room, sizeof *s->item, NULL)) {
        s->failed = true;
        return NULL;
    }
    struct layout_item *i = &s->item[s->items++];
    *i = (struct layout_item){.kind = kind};
    memcpy(i->rgb, rgb, 3);
    return i;
}

static struct layout_item *add_box(struct layout *s, enum layout_kind kind, double x, double y,
                                   double w, double h, const uint8_t rgb[3])
{
    struct layout_item *i = add_item(s, kind, rgb);
    if (!i)
        return NULL;
    i->x = x;
    i->y = y;
    i->w = w;
    i->h = h;
    return i;
}

void layout_area(struct layout *s, double x, double y, double w, double h, const uint8_t rgb[3])
{
    add_box(s, LAYOUT_AREA, x, y, w, h, rgb);
}

void layout_line(struct layout *s, double x, double y, double w, double h, double thick,
                 const uint8_t rgb[3])
{
    struct layout_item *i = add_box(s, LAYOUT_LINE, x, y, w, h, rgb);
    if (i)
        i->thick = thick;
}

void layout_words(struct layout *s, const struct layout_text *words, const uint8_t rgb[3])
{
    struct layout_item *i = words->text[0] && words->w > 0 ? add_item(s, LAYOUT_WORDS, rgb) : NULL;
    if (i)
        i->words = *words;
}

double layout_snap(const struct layout *s, double v)
{
    return s->scale > 0 ? floor(v * s->scale + 0.5) / s->scale : floor(v + 0.5);
}

void layout_one_line(const char *text, char *out, size_t size)
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
    layout_one_line(r->title && r->title[0] ? r->title : r->film->title, out, LAYOUT_TEXT);
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
    double us = place * (double)r->count * (double)r->selection.interval_us;
    time_t seconds = (time_t)((r->clock_us + llround(us)) / 1000000);
    struct tm tm;
    if (!localtime_r(&seconds, &tm) ||
        strftime(out, AXIS_LABEL, tm.tm_sec == 0 ? "%H:%M" : "%H:%M:%S", &tm) == 0)
        out[0] = 0;
}

bool layout_axis(const struct layout *s, int most, struct axis *axis, struct err *e)
{
    const struct report *r = s->report;
    int64_t *edge = axis_edges(r->columns, r->count, film_length_end(&r->film->length));
    axis->ticks = 0;
    if (!edge)
        return err_memory(e, (r->count + 1) * sizeof *edge);
    *axis = axis_make(edge, r->count,
                      most < 1                 ? 1
                      : most > AXIS_TICKS_MOST ? AXIS_TICKS_MOST
                                               : most);
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
    layout_line(r->s, at, r->y, 0, r->tick, r->size / 14, r->s->colours.small);
    layout_words(r->s, &t, r->s->colours.small);
    return t.x;
}

bool layout_axis_below(struct layout *s, double x, double w, double y, double tick, double size,
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
