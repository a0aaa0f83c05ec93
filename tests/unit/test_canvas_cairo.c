#include <stdio.h>

#include "test.h"
#include "barcode/output/paint.h"
#include "output/poster/canvas_cairo.h"
#include "scene.h"
#include "strips.h"

static struct ink *ink;

static int begin(void **state)
{
    (void)state;
    struct err e = ERR_INIT;
    ink = ink_open(&e);
    if (!ink)
        fprintf(stderr, "SKIPPED: %s\n", e.text);
    return 0;
}

static int end(void **state)
{
    (void)state;
    ink_close(&ink);
    assert_null(ink);
    return 0;
}

static struct sheet_text of(const char *text, double w, double size, int lines)
{
    struct sheet_text t = {.x = 5, .y = 7, .w = w, .size = size, .lines = lines};
    snprintf(t.text, sizeof t.text, "%s", text);
    return t;
}

/* However long a text is, and in whatever box, it stays in it. */
TEST(nothing_leaves_its_box)
{
    if (!ink)
        skip();
    static const char *const texts[] = {"Nomadland", "A film of many words that go on and on, and on", "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerk", "i", " x "};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int lines = 1; lines < 3; lines++)
            for (double w = 30; w < 900; w *= 1.7) {
                double tw, th, one;
                struct sheet_text t = of(texts[i], w, 10, lines), line = of("x", 900, 10, 1);
                ink_measure(ink, &line, &tw, &one);
                ink_measure(ink, &t, &tw, &th);
                assert_true(tw > 0 && tw <= w + 0.01 && th >= one * 0.99 && th <= one * lines * 1.01);
            }
}

/* What is measured does not depend on the size of the letters but for their size. */
TEST(letters_scale)
{
    if (!ink)
        skip();
    double w, h, w10, h10;
    struct sheet_text t = of("Barcode 1:30", 90000, 10, 1);
    ink_measure(ink, &t, &w10, &h10);
    for (double size = 1; size < 600; size *= 3) {
        t.size = size;
        ink_measure(ink, &t, &w, &h);
        assert_true(w > w10 * size / 10 * 0.99 - 0.01 && w < w10 * size / 10 * 1.01 + 0.01);
    }
}

TEST(directions_and_unknown_letters)
{
    if (!ink)
        skip();
    struct sheet_text latin = of("Barcode", 500, 10, 1), arabic = of("\xd9\x83\xd9\x81\xd8\xb1 (2018)", 500, 10, 1), nobody = of("a\xf4\x80\x80\x81\x62", 500, 10, 1);
    assert_false(ink_leftward(ink, &latin));
    assert_true(ink_leftward(ink, &arabic));
    assert_int_equal(ink_unknown(ink, &latin), 0);
    assert_int_equal(ink_unknown(ink, &nobody), 1);       /* for private use */
}

/* Outlines are the same each time, within the box, and all of them are there however far on the right. */
TEST(outlines)
{
    if (!ink)
        skip();
    struct err e = ERR_INIT;
    struct sheet_text near = of("xx xx", 5000, 100, 1), far = near;
    far.x = 4000;
    char *a = ink_outlines(ink, &near, &e), *b = ink_outlines(ink, &near, &e), *c = ink_outlines(ink, &far, &e);
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

/* A sheet is the same in whatever bands it is drawn; strips' pixels are those of the strip alone. */
TEST(bands)
{
    if (!ink)
        skip();
    struct err e = ERR_INIT;
    struct made m;
    made_open(&m, 90);
    m.report.poster = true;
    m.report.page = (struct paper){.given = true, .pixels = true, .width = 400, .height = 300};
    struct sheet *s = sheet_poster(&m.report, alone("kmeans"), true, &e);
    assert_string_equal(e.text, "");
    uint8_t *whole = malloc(400 * 300 * 3), *band = malloc(400 * 300 * 3);
    assert_true(ink_pixels(s->ink, s, 0, 300, 400, whole, &e));
    for (int rows = 1; rows < 300; rows = rows * 3 + 1)
        for (int y = 0; y < 300; y += rows) {
            int n = 300 - y < rows ? 300 - y : rows;
            assert_true(ink_pixels(s->ink, s, y, n, 400, band, &e));
            assert_memory_equal(band, whole + y * 400 * 3, (size_t)n * 400 * 3);
        }
    free(whole);
    free(band);
    sheet_free(&s);
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
    if (!ink)
        skip();
    struct made m;
    made_open(&m, 90);
    struct err e = ERR_INIT;
    struct sheet *s = sheet_poster(&m.report, alone("palette"), false, &e);
    struct ink_about about = {"t", "s", "k", "c"};
    size_t room = 1 << 30;
    assert_true(ink_pdf(s->ink, s, &about, count, &room, &e));
    size_t whole = (1 << 30) - room;
    for (size_t most = 0; most < whole; most += 1 + whole / 17) {
        room = most;
        assert_false(ink_pdf(s->ink, s, &about, count, &room, &e));
        assert_string_equal(e.text, "full");
        err_clear(&e);
    }
    sheet_free(&s);
    made_close(&m);
}

TEST_MAIN(begin, end)
