#include "align.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "base/version.h"
#include "output/formats/json.h"
#include "output/formats/timecode.h"
#include "output/html/html_template.h"

char *align_film_name(const char *path, struct err *e)
{
    size_t length;
    const char *last = path_last(path, &length);
    char *name = err_calloc(length + 1, 1, e);
    if (!name)
        return NULL;
    memcpy(name, last, length);
    text_make_plain(name);
    return name;
}

/* ---- One sentence, of the page and of a terminal ---- */

static void put_clock(FILE *f, int64_t us, bool tenths)
{
    char text[TEXT_CLOCK];
    text_clock(us, TEXT_HOURS_IF_ANY, tenths, text);
    fputs(text, f);
}

static int64_t from_us(const struct align_segment *s, int film)
{
    return film == 0 ? s->a_from_us : s->b_from_us;
}

static int64_t to_us(const struct align_segment *s, int film)
{
    return film == 0 ? s->a_to_us : s->b_to_us;
}

/* "; only in A: 2 scenes, 1:10.5", or nothing if there is none */
static void put_scenes(const struct align_map *map, FILE *f, enum align_kind kind)
{
    const int film = kind == ALIGN_ONLY_B;
    int64_t us = 0;
    int n = 0;
    for (size_t i = 0; i < map->segments; i++) {
        const struct align_segment *s = &map->segment[i];
        if (s->kind != kind)
            continue;
        us += to_us(s, film) - from_us(s, film);
        n++;
    }
    if (n == 0)
        return;
    fprintf(f, "; only in %s: %d scene%s, ", film ? "B" : "A", n, n == 1 ? "" : "s");
    put_clock(f, us, true);
}

/* Has no character that HTML would escape. */
static void put_sentence(const struct align_map *map, FILE *f)
{
    put_clock(f, map->common_us, false);
    fputs(" in both", f);
    put_scenes(map, f, ALIGN_ONLY_A);
    put_scenes(map, f, ALIGN_ONLY_B);
    if (map->speed_num != map->speed_den)
        fprintf(f, "; B runs at %d/%d of the speed of A%s", map->speed_num, map->speed_den,
                map->same_pitch ? ", at the same pitch" : "");
}

/* ---- CSV ---- */

static void put_us(FILE *f, int64_t us)
{
    fprintf(f, "%" PRId64 ".%03d", us / 1000000, (int)(us % 1000000 / 1000));
}

static bool write_csv(const struct align_result *r, FILE *f)
{
    fputs("a_start,a_end,b_start,b_end,kind\n", f);
    for (size_t i = 0; i < r->map->segments; i++) {
        const struct align_segment *s = &r->map->segment[i];
        const int64_t us[] = {s->a_from_us, s->a_to_us, s->b_from_us, s->b_to_us};
        for (size_t k = 0; k < 4; k++) {
            put_us(f, us[k]);
            fputc(',', f);
        }
        fprintf(f, "%s\n", align_kind_name(s->kind));
    }
    return !ferror(f);
}

/* ---- EDL ---- */

/*
 * Writes an event: the source's time, then the record's, which is B's. CMX 3600 gives an end as the
 * frame after the last one. M2 is the speed of a source in its frames a second.
 */
static void put_event(const struct align_map *map, FILE *f, const struct timecode *t, int number,
                      int source, int64_t from, int64_t to, int64_t record_from, int64_t record_to)
{
    char text[TIMECODE_TEXT];
    timecode_put_event(f, t, number, source == 0 ? "A" : "B",
                       (const int64_t[]){from, to, record_from, record_to});
    if (source == 0 && map->speed_num != map->speed_den) {
        timecode_text(t, from, text);
        fprintf(f, "M2   %-8s %05.1f    %s\n", "A", t->rate * map->speed_num / map->speed_den,
                text);
    }
}

/* Returns true for the rates that timecodes are made for. */
static bool has_timecode(double rate)
{
    static const int usual[] = {24, 25, 30, 48, 50, 60};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (fabs(rate - usual[i]) < 0.1)
            return true;
    return false;
}

/*
 * Writes how B is made: of A, and of itself where A lacks it. A's missing parts are what is skipped
 * in A. Frames are B's, or 25 a second if B has an unusual rate.
 */
static bool write_edl(const struct align_result *r, FILE *f)
{
    const double rate = r->film[1].rate;
    const struct timecode t = timecode_of(has_timecode(rate) ? rate : 25, false);
    int number = 0;
    fprintf(f, "TITLE: %.60s\nFCM: NON-DROP FRAME\n\n", r->film[1].name);
    for (size_t i = 0; i < r->map->segments; i++) {
        const struct align_segment *s = &r->map->segment[i];
        bool a = s->kind == ALIGN_BOTH;
        int64_t from = timecode_frame(&t, s->b_from_us), to = timecode_frame(&t, s->b_to_us);
        int64_t begin = a ? timecode_frame(&t, s->a_from_us) : from;
        int64_t end = a ? timecode_frame(&t, s->a_to_us) : to;
        if (s->kind == ALIGN_ONLY_A || to <= from)
            continue;
        /* Without a change of speed, source and record are equally long. */
        if (a && r->map->speed_num == r->map->speed_den)
            end = begin + to - from;
        put_event(r->map, f, &t, ++number, a ? 0 : 1, begin, end, from, to);
        fprintf(f, "* FROM CLIP NAME: %s\n\n", r->film[a ? 0 : 1].name);
    }
    return !ferror(f);
}

/* ---- JSON ---- */

/* As of the other JSON: increased when a reader would misread the new output. */
enum { ALIGN_FORMAT = 1 };

static json_t *seconds_value(int64_t us) { return json_real((double)us / 1e6); }

static json_t *film_object(const struct align_film *film, int64_t sound_us)
{
    return json_pack("{ss so}", "name", film->name, "sound", seconds_value(sound_us));
}

static json_t *segment_object(const struct align_segment *s)
{
    return json_pack("{so so so so ss}", "a_start", seconds_value(s->a_from_us), "a_end",
                     seconds_value(s->a_to_us), "b_start", seconds_value(s->b_from_us), "b_end",
                     seconds_value(s->b_to_us), "kind", align_kind_name(s->kind));
}

static bool write_json(const struct align_result *r, FILE *f)
{
    const struct align_map *map = r->map;
    json_t *list = json_array();
    bool ok = list;
    for (size_t i = 0; i < map->segments && ok; i++)
        ok = json_array_append_new(list, segment_object(&map->segment[i])) == 0;
    json_t *all = json_pack("{si ss so so s{si si sb} sf so so}", "align", ALIGN_FORMAT, "version",
                            BARCODE_VERSION, "a", film_object(&r->film[0], map->a_us), "b",
                            film_object(&r->film[1], map->b_us), "speed", "num", map->speed_num,
                            "den", map->speed_den, "same_pitch", map->same_pitch, "score",
                            (double)map->score / ALIGN_SCORE_MOST, "common",
                            seconds_value(map->common_us), "segments", list);
    ok = ok && all;
    if (!ok)
        errno = ENOMEM;
    ok = ok && json_dumpf(all, f, JSON_INDENT(1) | JSON_REAL_PRECISION(15)) == 0;
    ok = ok && fputc('\n', f) != EOF;
    json_decref(all);
    return ok;
}

/*
 * ---- HTML: the strips of both films on one axis ----
 *
 * The axis has A's time, and B's own (at A's speed) where A lacks it. A part shows the part of a
 * strip that has its times: an <svg> whose view box is in seconds of that film.
 */

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

static void put_facts(const struct page *p)
{
    fputs("<h1><span>A</span> ", p->f);
    put_escaped(p->f, p->r->film[0].name);
    fputs("<br><span>B</span> ", p->f);
    put_escaped(p->f, p->r->film[1].name);
    fputs("</h1>\n<p>", p->f);
    put_sentence(p->r->map, p->f);
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

static bool write_html(const struct align_result *r, FILE *f)
{
    struct page p = {.r = r, .f = f};
    for (size_t i = 0; i < r->map->segments; i++)
        p.total_us += axis_us(r->map, &r->map->segment[i]);
    put_page(&p);
    return !ferror(f);
}

/* ---- Formats ---- */

static const struct align_format formats[] = {
    {"csv", false, false, write_csv},
    {"html", true, false, write_html},
    {"edl", false, true, write_edl},
    {"json", false, false, write_json},
};

const struct align_format *align_format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (atomic_file_is_stdout(path))
        return &formats[0];
    for (size_t i = 0; dot && i < sizeof formats / sizeof *formats; i++)
        if (strcasecmp(dot + 1, formats[i].ending) == 0)
            return &formats[i];
    return NULL;
}

bool align_output_save(const struct align_format *format, const struct align_result *r,
                       const char *path, struct err *e)
{
    struct atomic_file *file = atomic_file_open(path, false, e);
    if (!file)
        return false;
    errno = 0;
    if (atomic_file_is_stdout(path) && isatty(STDOUT_FILENO)) {
        put_sentence(r->map, atomic_file_stream(file));
        fputc('\n', atomic_file_stream(file));
    }
    if (!format->write(r, atomic_file_stream(file))) {
        err_set(e, file_write_code(errno), "cannot write '%s': %s", atomic_file_shown(path),
                strerror(errno ? errno : EIO));
        atomic_file_discard(&file);
        return false;
    }
    return atomic_file_commit(&file, e);
}
