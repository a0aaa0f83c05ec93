#include <pthread.h>
#include <stdio.h>

#include "test.h"
#include "output/poster/poster.h"
#include "output/poster/canvas_cairo.h"
#include "scene.h"
#include "strips.h"

static struct canvas *canvas;

FIXTURE(begin)
{
    struct err e = ERR_INIT;
    canvas = canvas_open(NULL, &e);
    if (!canvas)
        fprintf(stderr, "SKIPPED: %s\n", e.text);
    return 0;
}

FIXTURE(end)
{
    canvas_close(&canvas);
    assert_null(canvas);
    return 0;
}

static struct layout_text of(const char *text, double w, double size, int lines)
{
    struct layout_text t = {.x = 5, .y = 7, .w = w, .size = size, .lines = lines};
    snprintf(t.text, sizeof t.text, "%s", text);
    return t;
}

/* However long a text is, and in whatever box, it stays in it. */
TEST(nothing_leaves_its_box)
{
    if (!canvas)
        skip();
    static const char *const texts[] = {
        "Nomadland", "A film of many words that go on and on, and on",
        "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerk", "i", " x "};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int lines = 1; lines < 3; lines++)
            for (double w = 30; w < 900; w *= 1.7) {
                double tw, th, one;
                struct layout_text t = of(texts[i], w, 10, lines), line = of("x", 900, 10, 1);
                canvas_measure(canvas, &line, &tw, &one);
                canvas_measure(canvas, &t, &tw, &th);
                assert_true(tw > 0 && tw <= w + 0.01 && th >= one * 0.99 &&
                            th <= one * lines * 1.01);
            }
}

/* What is measured does not depend on the size of the letters but for their size. */
TEST(letters_scale)
{
    if (!canvas)
        skip();
    double w, h, w10, h10;
    struct layout_text t = of("Barcode 1:30", 90000, 10, 1);
    canvas_measure(canvas, &t, &w10, &h10);
    for (double size = 1; size < 600; size *= 3) {
        t.size = size;
        canvas_measure(canvas, &t, &w, &h);
        assert_true(w > w10 * size / 10 * 0.99 - 0.01 && w < w10 * size / 10 * 1.01 + 0.01);
    }
}

TEST(directions_and_unknown_letters)
{
    if (!canvas)
        skip();
    struct layout_text latin = of("Barcode", 500, 10, 1),
                       arabic = of("\xd9\x83\xd9\x81\xd8\xb1 (2018)", 500, 10, 1),
                       nobody = of("a\xf4\x80\x80\x81\x62", 500, 10, 1);
    bool leftward;
    assert_int_equal(canvas_unknown(canvas, &latin, &leftward), 0);
    assert_false(leftward);
    assert_int_equal(canvas_unknown(canvas, &nobody, &leftward), 1); /* for private use */
    canvas_unknown(canvas, &arabic, &leftward);
    assert_true(leftward);
}

/* Lines are where outlines are: those of a text that is broken, shortened, or runs leftward. */
TEST(lines)
{
    if (!canvas)
        skip();
    struct canvas_line line[2];
    double w, h;
    struct layout_text t = of("one two", 500, 10, 2);
    canvas_measure(canvas, &t, &w, &h);
    assert_int_equal(canvas_lines(canvas, &t, line, 2), 1);
    assert_string_equal(line[0].text, "one two");
    assert_true(line[0].x > 4.99 && line[0].x < 5.01 && !line[0].leftward);
    assert_true(line[0].y > 7 + 0.6 * h && line[0].y < 7 + h);
    t.w = 0.7 * w;
    assert_int_equal(canvas_lines(canvas, &t, line, 1), 1);
    assert_int_equal(canvas_lines(canvas, &t, line, 2), 2);
    assert_string_equal(line[0].text, "one ");
    assert_string_equal(line[1].text, "two");
    assert_true(line[1].y > line[0].y + 0.9 * h);
    t.lines = 1;
    assert_int_equal(canvas_lines(canvas, &t, line, 2), 1);
    assert_non_null(strstr(line[0].text, "\xe2\x80\xa6"));
    assert_memory_equal(line[0].text, "on", 2);
    assert_null(strstr(line[0].text, "two"));
    t = of("\xd9\x83\xd9\x81\xd8\xb1", 500, 10, 1);
    assert_int_equal(canvas_lines(canvas, &t, line, 2), 1);
    assert_true(line[0].leftward && line[0].x > 504.9 && line[0].x < 505.1);
    assert_string_equal(line[0].text, t.text);
    t = of("x", 500, 10, 1);
    t.align = LAYOUT_RIGHT;
    canvas_measure(canvas, &t, &w, &h);
    canvas_lines(canvas, &t, line, 1);
    assert_true(line[0].x > 505 - w - 0.1 && line[0].x < 505 - w + 0.1);
}

TEST(fonts)
{
    if (!canvas)
        skip();
    struct err e = ERR_INIT;
    char used[CANVAS_FAMILY], real[CANVAS_FAMILY];
    assert_false(canvas_has_font("No Such Font", used));
    assert_string_not_equal(used, "");
    assert_true(canvas_has_font(used, real)); /* what is drawn instead is installed */
    assert_true(canvas_has_font("serif", real) && canvas_has_font("Sans-Serif", real));
    assert_false(canvas_has_font("No Such Font,serif", real));
    struct canvas *other = canvas_open("No Such Font", &e);
    assert_memory_equal(canvas_families(other), "No Such Font,", 13);
    assert_string_equal(canvas_families(other) + 13, canvas_families(canvas));
    canvas_close(&other);
}

/* Outlines are the same each time, within the box, and all of them are there however far on the
 * right. */
TEST(outlines)
{
    if (!canvas)
        skip();
    struct err e = ERR_INIT;
    struct layout_text near = of("xx xx", 5000, 100, 1), far = near;
    far.x = 4000;
    char *a = canvas_outlines(canvas, &near, &e), *b = canvas_outlines(canvas, &near, &e),
         *c = canvas_outlines(canvas, &far, &e);
    assert_non_null(a);
    assert_string_equal(a, b);
    size_t closed_a = 0, closed_c = 0;
    for (const char *p = a; *p; p++)
        closed_a += *p == 'Z';
    for (const char *p = c; *p; p++)
        closed_c += *p == 'Z';
    assert_true(closed_a >= 4);
    assert_int_equal(closed_a, closed_c);
    free(a);
    free(b);
    free(c);
}

/*
 * A layout looks the same however it is split into bands; strips have the pixels of the strip
 * alone.
 */
TEST(bands)
{
    if (!canvas)
        skip();
    struct err e = ERR_INIT;
    struct made m;
    made_open(&m, 90);
    m.report.poster.wanted = true;
    m.report.poster.page =
        (struct paper){.given = true, .pixels = true, .width = 400, .height = 300};
    struct layout *s = layout_poster(&m.report, alone("kmeans"), true, &e);
    assert_string_equal(e.text, "");
    uint8_t *whole = malloc(400 * 300 * 3), *band = malloc(400 * 300 * 3);
    assert_true(canvas_pixels(s->canvas, s, 0, 300, 400, whole, &e));
    for (int rows = 1; rows < 300; rows = rows * 3 + 1)
        for (int y = 0; y < 300; y += rows) {
            int n = 300 - y < rows ? 300 - y : rows;
            assert_true(canvas_pixels(s->canvas, s, y, n, 400, band, &e));
            assert_memory_equal(band, whole + y * 400 * 3, (size_t)n * 400 * 3);
        }
    free(whole);
    free(band);
    layout_free(&s);
    made_close(&m);
}

static bool count(void *user, const void *bytes, size_t size, struct err *e)
{
    (void)bytes;
    size_t *left = user;
    if (size > *left)
        return err_set(e, ERR_FAILED, "full");
    *left -= size;
    return true;
}

/* A sink that is full ends the drawing, wherever that is, with its own sentence. */
TEST(a_full_disk)
{
    if (!canvas)
        skip();
    struct made m;
    made_open(&m, 90);
    struct err e = ERR_INIT;
    struct layout *s = layout_poster(&m.report, alone("palette"), false, &e);
    struct canvas_about about = {"t", "s", "k", "c"};
    size_t room = 1 << 30;
    assert_true(canvas_pdf(s->canvas, s, &about, count, &room, &e));
    size_t whole = (1 << 30) - room;
    for (size_t most = 0; most < whole; most += 1 + whole / 17) {
        room = most;
        assert_false(canvas_pdf(s->canvas, s, &about, count, &room, &e));
        assert_string_equal(e.text, "full");
        err_clear(&e);
    }
    layout_free(&s);
    made_close(&m);
}

static void *open_canvas(void *unused)
{
    (void)unused;
    struct err e = ERR_INIT;
    struct canvas *own = canvas_open(NULL, &e);
    canvas_close(&own);
    return NULL;
}

/* Film workers draw at once (make tsan). */
TEST(threads_open_canvases)
{
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, open_canvas, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

TEST_FIXTURE(begin, end)
