#include <math.h>
#include <stdio.h>

#include "test.h"
#include "output/poster/poster.h"
#include "output/poster/canvas_cairo.h"
#include "output/poster/layout.h"
#include "scene.h"
#include "shots/shots.h"
#include "strips.h"
#include "under_tsan.h"

static bool letters(void)
{
    struct err e = ERR_INIT;
    return paint_has_letters(&e);
}

TEST(titles)
{
    char title[LAYOUT_TEXT];
    struct made m;
    made_open(&m, 2);
    layout_title(&m.report, title);
    assert_string_equal(title, "a film.of.mine");
    snprintf(m.film.title, sizeof m.film.title, "Le\nCiel\a \xff");
    layout_title(&m.report, title);
    assert_string_equal(title, "Le Ciel? \xef\xbf\xbd");
    m.report.poster.title = "Mine";
    layout_title(&m.report, title);
    assert_string_equal(title, "Mine");
    m.report.poster.title = NULL;
    snprintf(m.film.title, sizeof m.film.title, "  "); /* as good as none */
    strcpy(m.path, ".mkv");
    layout_title(&m.report, title);
    assert_string_equal(title, ".mkv");
    made_close(&m);
}

/* The rectangle that an item's ink lies in. */
static void box_of(const struct layout *s, const struct layout_item *i, double box[4])
{
    box[0] = i->w < 0 ? i->x + i->w : i->x;
    box[1] = i->h < 0 ? i->y + i->h : i->y;
    box[2] = box[0] + fabs(i->w);
    box[3] = box[1] + fabs(i->h);
    if (i->kind != LAYOUT_WORDS)
        return;
    double w, h;
    canvas_measure(s->canvas, &i->words, &w, &h);
    box[0] = i->words.x;
    box[1] = i->words.y;
    box[2] = i->words.align == LAYOUT_LEFT ? i->words.x + w : i->words.x + i->words.w;
    box[3] = i->words.y + h;
}

static void expect_order(const struct layout *s, const char *what)
{
    for (size_t f = 0; f < s->shapes; f++) {
        const struct layout_shape *g = &s->shape[f];
        if (!(g->x >= 0 && g->y >= 0 && g->w > 0 && g->h > 0 && g->x + g->w <= s->width + 0.01 &&
              g->y + g->h <= s->height + 0.01))
            fail_msg("%s: a strip at %g %g, %g x %g", what, g->x, g->y, g->w, g->h);
        if (s->scale > 0)
            assert_true(fabs(g->x * s->scale - floor(g->x * s->scale + 0.5)) < 1e-6 &&
                        fabs(g->h * s->scale - floor(g->h * s->scale + 0.5)) < 1e-6);
        for (size_t i = 0; i < s->items; i++) {
            double b[4];
            box_of(s, &s->item[i], b);
            if (b[0] < -0.01 || b[1] < -0.01 || b[2] > s->width + 0.01 || b[3] > s->height + 0.01)
                fail_msg("%s: '%s' leaves the page: %g %g %g %g", what, s->item[i].words.text, b[0],
                         b[1], b[2], b[3]);
            bool ring = s->report->picture.shape == SHAPE_RING; /* its corners are free */
            if (s->item[i].kind == LAYOUT_WORDS && !ring && b[0] < g->x + g->w && b[2] > g->x &&
                b[1] < g->y + g->h - 0.01 && b[3] > g->y + 0.01)
                fail_msg("%s: '%s' lies on a strip", what, s->item[i].words.text);
        }
    }
}

/* On pages of every kind nothing leaves the page or covers a strip, and strips lie on whole pixels.
 */
TEST(posters_are_in_order)
{
    if (!letters())
        skip();
    static const char *const pages[] = {"A2",         "A2-portrait", "A6",       "800x600",
                                        "160x160",    "3000x160",    "160x3000", "40x40mm",
                                        "5000x300mm", "300x5000mm",  "Letter"};
    char long_title[300];
    memset(long_title, 'm', sizeof long_title - 1);
    long_title[sizeof long_title - 1] = 0;
    struct made m;
    made_open(&m, 4000);
    m.report.poster.wanted = true;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i += UNDER_TSAN ? 3 : 1)
        for (int shape = 0; shape < STRIP_SHAPES; shape++)
            for (int way = 0; way < 6; way++) {
                struct err e = ERR_INIT;
                char what[80];
                m.report.picture.shape = (enum strip_shape)shape;
                m.report.poster.title =
                    way % 3 == 0 ? NULL
                    : way % 3 == 1
                        ? long_title
                        : "\xd9\x83\xd9\x81\xd8\xb1\xd9\x86\xd8\xa7\xd8\xad\xd9\x88\xd9\x85";
                assert_true(paper_parse(pages[i], &m.report.poster.page));
                struct strips strips =
                    shape == SHAPE_STRIP && way == 2 ? stacked() : alone("average");
                struct layout *s = layout_poster(&m.report, strips, way < 3, &e);
                assert_string_equal(e.text, "");
                snprintf(what, sizeof what, "%s, %s, %d", pages[i],
                         strip_shape_name(m.report.picture.shape), way);
                assert_int_equal(s->shapes, strips.count);
                expect_order(s, what);
                layout_free(&s);
                assert_null(s);
            }
    made_close(&m);
}

/* On a usual page everything is there: title, note, axis, eight swatches and their values; the
 * strip has most of the page. */
TEST(what_is_on_a_poster)
{
    if (!letters())
        skip();
    struct err e = ERR_INIT;
    struct made m;
    made_open(&m, 5400);
    m.report.poster.page = (struct paper){.given = false};
    struct layout *s = layout_poster(&m.report, alone("palette"), false, &e);
    int hex = 0, times = 0;
    for (size_t i = 0; i < s->items; i++) {
        const char *t = s->item[i].words.text;
        hex += s->item[i].kind == LAYOUT_WORDS && t[0] == '#' && strlen(t) == 7;
        times += s->item[i].kind == LAYOUT_WORDS && strchr(t, ':') && strlen(t) == 4;
    }
    assert_int_equal(hex, 8);
    assert_in_range(times, 5, 20);
    assert_string_equal(s->item[0].words.text, "a film.of.mine");
    assert_string_equal(s->item[1].words.text, "All colours, 1:30:00 h");
    assert_true(fabs(s->width - 420 / 25.4 * 72) < 0.01 &&
                fabs(s->height - 297 / 25.4 * 72) < 0.01);
    assert_true(s->shape[0].w * s->shape[0].h > 0.45 * s->width * s->height);
    layout_free(&s);
    m.report.analysis.selection.start_us = INT64_C(600000000);
    m.report.analysis.selection.end_us = INT64_C(690000000);
    s = layout_poster(&m.report, alone("palette"), false, &e);
    assert_string_equal(s->item[1].words.text, "All colours, 1:30 min");
    layout_free(&s);
    made_close(&m);
}

static bool has_text(const struct layout *s, const char *text)
{
    for (size_t i = 0; i < s->items; i++) {
        if (s->item[i].kind == LAYOUT_WORDS && strcmp(s->item[i].words.text, text) == 0)
            return true;
    }
    return false;
}

/* The axis ends with the film's end, at the end of the strip. */
TEST(the_end_of_the_axis)
{
    if (!letters())
        skip();
    struct made m;
    made_open(&m, 5410);
    for (int shape = 0; shape < STRIP_SHAPES; shape++) {
        struct err e = ERR_INIT;
        m.report.picture.shape = (enum strip_shape)shape;
        struct layout *s = layout_poster(&m.report, alone("average"), false, &e);
        assert_true(has_text(s, "0") && has_text(s, "1 h"));
        assert_false(has_text(s, "0:00:00"));
        assert_int_equal(has_text(s, "1:30 h"), shape != SHAPE_RING);
        layout_free(&s);
    }
    made_close(&m);
}

TEST(subtitles_and_bare_posters)
{
    if (!letters())
        skip();
    struct err e = ERR_INIT;
    struct made m;
    made_open(&m, 5400);
    struct layout *plain = layout_poster(&m.report, alone("average"), false, &e);
    assert_true(has_text(plain, "Mean colours, 1:30:00 h"));
    layout_free(&plain);
    m.report.poster.style.subtitle = "technical";
    plain = layout_poster(&m.report, alone("average"), false, &e);
    assert_false(has_text(plain, "Mean colours, 1:30:00 h"));
    layout_free(&plain);
    m.report.poster.style.subtitle = "Directed\nby nobody";
    struct layout *s = layout_poster(&m.report, alone("average"), false, &e);
    assert_true(has_text(s, "Directed by nobody") && has_text(s, "1 h"));
    double high = s->shape[0].h;
    layout_free(&s);
    m.report.poster.style.bare = true;
    s = layout_poster(&m.report, alone("average"), false, &e);
    assert_true(has_text(s, "Directed by nobody") && !has_text(s, "1 h") && s->shape[0].h > high);
    layout_free(&s);
    m.report.poster.style.subtitle = NULL;
    s = layout_poster(&m.report, alone("average"), false, &e);
    size_t texts = 0, areas = 0;
    for (size_t i = 0; i < s->items; i++) {
        texts += s->item[i].kind == LAYOUT_WORDS;
        areas += s->item[i].kind == LAYOUT_AREA;
    }
    assert_int_equal(texts, 1); /* the title */
    assert_in_range(areas, 8, 18);
    layout_free(&s);
    made_close(&m);
}

/* Text is readable on every ground; white has its own colours. */
TEST(colours_on_grounds)
{
    uint8_t rgb[3];
    for (int i = 0; i < 4096; i++) {
        for (int c = 0; c < 3; c++)
            rgb[c] = (uint8_t)((i >> (4 * c) & 15) * 17);
        struct page_colours on = layout_colours(rgb);
        assert_memory_equal(on.paper, rgb, 3);
        int title = layout_contrast(on.title, rgb), small = layout_contrast(on.small, rgb),
            line = layout_contrast(on.line, rgb);
        if (title < 450 || small < 450 || small > title || line < 140 || line > small)
            fail_msg("%02x%02x%02x: contrasts %d %d %d", rgb[0], rgb[1], rgb[2], title, small,
                     line);
    }
    assert_int_equal(layout_contrast((uint8_t[]){0, 0, 0}, (uint8_t[]){255, 255, 255}), 2100);
    if (!letters())
        skip();
    struct err e = ERR_INIT;
    struct made m;
    made_open(&m, 60);
    struct layout *plain = layout_poster(&m.report, alone("average"), false, &e);
    m.report.poster.style =
        (struct paper_style){.has_background = true, .background = {255, 255, 255}};
    struct layout *white = layout_poster(&m.report, alone("average"), false, &e);
    m.report.poster.style.background[0] = 0;
    struct layout *cyan = layout_poster(&m.report, alone("average"), false, &e);
    assert_memory_equal(&plain->colours, &white->colours, sizeof plain->colours);
    assert_memory_equal(cyan->colours.paper, m.report.poster.style.background, 3);
    layout_free(&plain);
    layout_free(&white);
    layout_free(&cyan);
    made_close(&m);
}

/* Counts the lines that lie outside of a strip, at these coordinates of its first. */
static int lines_at(const struct layout *s, double x, double y)
{
    int found = 0;
    for (size_t i = 0; i < s->items; i++) {
        const struct layout_item *item = &s->item[i];
        const double dx = item->x - s->shape[0].x - x, dy = item->y - s->shape[0].y - y;
        found += item->kind == LAYOUT_LINE && fabs(dx) < 0.01 && fabs(dy) < 0.01;
    }
    return found;
}

/* Three shots: a cut at a quarter of the film, a dissolve at a half. */
TEST(marks_of_shots)
{
    if (!letters())
        skip();
    struct err e = ERR_INIT;
    struct shot shot[] = {
        {.frame = 0, .frames = 600, .end_us = 600000000},
        {.frame = 600, .frames = 600, .start_us = 600000000, .end_us = 1200000000},
        {1200, 1200, 1200000000, 2400000000, SHOT_DISSOLVE, 20, {0}}};
    const struct shots shots = {shot, 3};
    struct made m;
    made_open(&m, 2400);
    for (int shape = 0; shape < STRIP_SHAPES; shape++) {
        m.report.picture.shape = (enum strip_shape)shape;
        m.report.poster.style.bare = false;
        m.report.media.shots = NULL;
        struct layout *plain = layout_poster(&m.report, alone("average"), false, &e);
        m.report.media.shots = &shots;
        struct layout *s = layout_poster(&m.report, alone("average"), false, &e);
        const struct layout_shape *f = &s->shape[0];
        const double gap = 0.0035 * (s->width < s->height ? s->width : s->height),
                     hole = f->w * 23 / 25 / 5 - gap;
        assert_int_equal(s->items, plain->items + 2);
        assert_memory_equal(f, &plain->shape[0], sizeof *f);
        if (shape == SHAPE_STRIP)
            assert_true(lines_at(s, f->w / 4, -gap) == 1 && lines_at(s, f->w / 2, -gap) == 1);
        else if (shape == SHAPE_VERTICAL)
            assert_true(lines_at(s, f->w + gap, f->h / 4) == 1 &&
                        lines_at(s, f->w + gap, f->h / 2) == 1);
        else
            assert_true(lines_at(s, f->w / 2 + hole, f->h / 2) == 1 &&
                        lines_at(s, f->w / 2, f->h / 2 + hole) == 1);
        assert_true(s->item[s->items - 1].thick > s->item[s->items - 2].thick);
        expect_order(s, "marks");
        layout_free(&s);
        layout_free(&plain);
        m.report.poster.style.bare = true; /* neither axis nor marks */
        s = layout_poster(&m.report, alone("average"), false, &e);
        for (size_t i = 0; i < s->items; i++)
            assert_int_not_equal(s->item[i].kind, LAYOUT_LINE);
        layout_free(&s);
    }
    m.report.picture.shape = SHAPE_STRIP;
    m.report.poster.style.bare = false;
    struct layout *s = layout_poster(&m.report, stacked(), false, &e);
    expect_order(s, "marks above several strips");
    layout_free(&s);
    made_close(&m);
}

TEST(stacks_are_in_order)
{
    struct made m;
    made_open(&m, 60);
    for (int width = 1; width < 2000; width = width * 2 + 1)
        for (int height = 1; height < 1000; height = height * 3 + 1) {
            struct err e = ERR_INIT;
            struct layout *s = layout_stack(&m.report, stacked(), width, height, &e);
            assert_string_equal(e.text, "");
            for (size_t i = 0; i < s->shapes; i++) {
                assert_true(s->shape[i].w == width && s->shape[i].h == height);
                assert_true(i == 0 || s->shape[i].y >= s->shape[i - 1].y + height);
            }
            if (s->canvas)
                expect_order(s, "stack");
            layout_free(&s);
        }
    made_close(&m);
}
