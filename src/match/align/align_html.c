/*
 * align_html.c - a page with the strips of both films on one axis.
 *
 * The axis has A's time, and B's own (at A's speed) where A lacks it. A part shows the part of a
 * strip that has its times: an <svg> whose view box is in seconds of that film.
 */

#include "align.h"
#include "base/text.h"
#include "output/html/html_template.h"

enum { TICKS_MOST = 14 };

/* Labels are this far apart, in thousandths of the axis; on narrow screens further. */
enum { LABEL_ROOM = 60, LABEL_ROOM_NARROW = 210 };

struct page {
    const struct align_result *r;
    FILE *f;
    int64_t total_us; /* of the axis */
};

/* Returns how long a segment is on the axis. */
static int64_t axis_us(const struct align_map *map, const struct align_segment *s)
{
    return s->kind == ALIGN_ONLY_B ? (s->b_to_us - s->b_from_us) * map->speed_num / map->speed_den
                                   : s->a_to_us - s->a_from_us;
}

static int64_t from_us(const struct align_segment *s, int film)
{
    return film == 0 ? s->a_from_us : s->b_from_us;
}

static int64_t to_us(const struct align_segment *s, int film)
{
    return film == 0 ? s->a_to_us : s->b_to_us;
}

static void put_escaped(FILE *f, const char *text)
{
    for (; *text; text++) {
        const char *escaped = text_markup(*text);
        if (escaped)
            fputs(escaped, f);
        else
            fputc(*text, f);
    }
}

static void put_clock(FILE *f, int64_t us, bool tenths)
{
    char text[TEXT_CLOCK];
    text_clock(us, TEXT_HOURS_IF_ANY, tenths, text);
    fputs(text, f);
}

static void put_percent(const struct page *p, int64_t us)
{
    fprintf(p->f, "%.4f%%", p->total_us > 0 ? 100.0 * (double)us / (double)p->total_us : 0);
}

static void put_image(const struct page *p, int film)
{
    const struct align_film *a = &p->r->film[film];
    fprintf(p->f,
            "<image id=\"%s\" width=\"%.3f\" height=\"1\" preserveAspectRatio=\"none\" "
            "href=\"data:image/png;base64,",
            film == 0 ? "a" : "b", (double)a->duration_us / 1e6);
    page_put_base64(p->f, a->png, a->png_bytes);
    fputs("\"/>\n", p->f);
}

static void put_row(const struct page *p, int film)
{
    const struct align_map *map = p->r->map;
    int64_t at = 0;
    fputs("<div class=\"row\">\n", p->f);
    for (size_t i = 0; i < map->segments; i++) {
        const struct align_segment *s = &map->segment[i];
        bool missing = s->kind == (film == 0 ? ALIGN_ONLY_B : ALIGN_ONLY_A);
        int64_t from = from_us(s, film), length = to_us(s, film) - from;
        fprintf(p->f, "<div%s style=\"left:", missing ? " class=\"miss\"" : "");
        put_percent(p, at);
        fputs(";width:", p->f);
        put_percent(p, axis_us(map, s));
        fputs("\">", p->f);
        if (!missing)
            fprintf(p->f,
                    "<svg viewBox=\"%.3f 0 %.3f 1\" preserveAspectRatio=\"none\"><use "
                    "href=\"#%s\"/></svg>",
                    (double)(from - p->r->film[film].start_us) / 1e6, (double)length / 1e6,
                    film == 0 ? "a" : "b");
        fputs("</div>\n", p->f);
        at += axis_us(map, s);
    }
    fprintf(p->f, "<b>%s</b></div>\n", film == 0 ? "A" : "B");
}

/* Returns the time between ticks. */
static int64_t tick_us(int64_t total_us)
{
    static const int seconds[] = {1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200};
    size_t i = 0;
    while (i + 1 < sizeof seconds / sizeof *seconds &&
           total_us / seconds[i] > INT64_C(1000000) * TICKS_MOST)
        i++;
    return INT64_C(1000000) * seconds[i];
}

static void put_ticks(const struct page *p, int film)
{
    const struct align_map *map = p->r->map;
    int64_t step = tick_us(p->total_us), at = 0, label = -p->total_us, narrow = -p->total_us;
    fprintf(p->f, "<div class=\"ticks%s\">", film == 0 ? " over" : "");
    for (size_t i = 0; i < map->segments; i++) {
        const struct align_segment *s = &map->segment[i];
        int64_t from = from_us(s, film), to = to_us(s, film), wide = axis_us(map, s);
        for (int64_t t = (from + step - 1) / step * step; t < to; t += step) {
            int64_t x = at + (t - from) * (wide / 1000) / ((to - from) / 1000 + 1);
            fputs("<i style=\"left:", p->f);
            put_percent(p, x);
            fputs("\"></i>", p->f);
            /* The last label would not fit. */
            if (x - label < p->total_us / 1000 * LABEL_ROOM || x > p->total_us / 100 * 95)
                continue;
            bool both =
                x - narrow >= p->total_us / 1000 * LABEL_ROOM_NARROW && x < p->total_us / 100 * 84;
            fprintf(p->f, "<b%s style=\"left:", both ? "" : " class=\"wide\"");
            put_percent(p, x);
            fputs("\">", p->f);
            put_clock(p->f, t, false);
            fputs("</b>", p->f);
            label = x;
            narrow = both ? x : narrow;
        }
        at += wide;
    }
    fputs("</div>\n", p->f);
}

/* "2 scenes (1:10.5)" */
static void put_scenes(const struct page *p, enum align_kind kind)
{
    int64_t us = 0;
    int n = 0;
    for (size_t i = 0; i < p->r->map->segments; i++) {
        const struct align_segment *s = &p->r->map->segment[i];
        n += s->kind == kind;
        us +=
            s->kind == kind ? to_us(s, kind == ALIGN_ONLY_B) - from_us(s, kind == ALIGN_ONLY_B) : 0;
    }
    if (n == 0) {
        fputs("nothing", p->f);
        return;
    }
    fprintf(p->f, "%d scene%s (", n, n == 1 ? "" : "s");
    put_clock(p->f, us, true);
    fputc(')', p->f);
}

static void put_facts(const struct page *p)
{
    const struct align_map *map = p->r->map;
    fputs("<h1><span>A</span> ", p->f);
    put_escaped(p->f, p->r->film[0].name);
    fputs("<br><span>B</span> ", p->f);
    put_escaped(p->f, p->r->film[1].name);
    fputs("</h1>\n<p>", p->f);
    put_clock(p->f, map->common_us, false);
    fputs(" in both. Only in A: ", p->f);
    put_scenes(p, ALIGN_ONLY_A);
    fputs(". Only in B: ", p->f);
    put_scenes(p, ALIGN_ONLY_B);
    fputs(".", p->f);
    if (map->speed_num != map->speed_den)
        fprintf(p->f, " B runs at %d/%d of A&#39;s speed%s.", map->speed_num, map->speed_den,
                map->same_pitch ? ", at the same pitch" : "");
    fputs("</p>\n", p->f);
}

static void put_table(const struct page *p)
{
    const struct align_map *map = p->r->map;
    bool any = false;
    for (size_t i = 0; i < map->segments; i++) {
        const struct align_segment *s = &map->segment[i];
        if (s->kind == ALIGN_BOTH)
            continue;
        if (!any)
            fputs("<table>\n<tr><th>Only in</th><th>A</th><th>B</th><th>Length</th></tr>\n", p->f);
        any = true;
        int film = s->kind == ALIGN_ONLY_B;
        fprintf(p->f, "<tr class=\"%s\"><td>%s</td><td>", film ? "b" : "a", film ? "B" : "A");
        put_clock(p->f, s->a_from_us, true);
        fputs("</td><td>", p->f);
        put_clock(p->f, s->b_from_us, true);
        fputs("</td><td>", p->f);
        put_clock(p->f, to_us(s, film) - from_us(s, film), true);
        fputs("</td></tr>\n", p->f);
    }
    if (any)
        fputs("</table>\n", p->f);
}

static void put_parts(const struct page *p)
{
    const struct align_map *map = p->r->map;
    int64_t at = 0;
    fputs("<script>\nconst parts = [", p->f);
    for (size_t i = 0; i < map->segments; i++) {
        const struct align_segment *s = &map->segment[i];
        int64_t to = at + axis_us(map, s);
        fprintf(p->f, "%s[%.3f,%.3f,%.3f,%.3f,%.3f,%.3f]", i > 0 ? "," : "", (double)at / 1e6,
                (double)to / 1e6, (double)s->a_from_us / 1e6, (double)s->a_to_us / 1e6,
                (double)s->b_from_us / 1e6, (double)s->b_to_us / 1e6);
        at = to;
    }
    fputs("];\n", p->f);
}

static void put_file(const struct page *p, const struct page_file *file)
{
    fwrite(file->data, 1, file->size, p->f);
}

static void put_page(const struct page *p)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src "
          "data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>",
          p->f);
    put_escaped(p->f, p->r->film[0].name);
    fputs(" and ", p->f);
    put_escaped(p->f, p->r->film[1].name);
    fputs("</title>\n<style>\n", p->f);
    put_file(p, &page_common_css);
    put_file(p, &page_align_css);
    fputs("</style>\n</head>\n<body>\n", p->f);
    put_facts(p);
    fputs("<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs>\n",
          p->f);
    put_image(p, 0);
    put_image(p, 1);
    fputs("</defs></svg>\n<div class=\"axis\">\n", p->f);
    put_ticks(p, 0);
    put_row(p, 0);
    put_row(p, 1);
    put_ticks(p, 1);
    fputs("<div class=\"line\" hidden></div>\n</div>\n<div class=\"now\"></div>\n", p->f);
    put_table(p);
    put_parts(p);
    put_file(p, &page_align_js);
    fputs("</script>\n</body>\n</html>\n", p->f);
}

bool align_write_html(const struct align_result *r, FILE *f)
{
    struct page p = {.r = r, .f = f};
    for (size_t i = 0; i < r->map->segments; i++)
        p.total_us += axis_us(r->map, &r->map->segment[i]);
    put_page(&p);
    return !ferror(f);
}
