#include <math.h>

#include "test.h"
#include "barcode/engine/colour.h"
#include "output/poster/poster.h"
#include "output/poster/shape.h"
#include "scene.h"
#include "strips.h"

static const double pi = 3.14159265358979323846;

static uint8_t *pixels_of(const struct report *r, struct strips s, int *w, int *h)
{
    struct err e = ERR_INIT;
    struct painter *p = painter_open(r, s, &e);
    assert_string_equal(e.text, "");
    *w = painter_width(p);
    *h = painter_height(p);
    size_t line = (size_t)*w * (size_t)painter_channels(p);
    uint8_t *all = malloc(line * (size_t)*h);
    for (int y = *h - 1; y >= 0; y--)
        assert_true(painter_row(p, y, all + (size_t)y * line, NULL));
    painter_free(&p);
    return all;
}

TEST(sizes)
{
    static const struct {
        enum strip_shape shape;
        int w, h, most, width, height;
    } table[] = {{SHAPE_STRIP, 0, 6, INT32_MAX, 50, 6},
                 {SHAPE_STRIP, 9, 0, INT32_MAX, 9, 800},
                 {SHAPE_STRIP, 0, 6, 20, 20, 6},
                 {SHAPE_VERTICAL, 6, 0, INT32_MAX, 6, 50},
                 {SHAPE_VERTICAL, 0, 9, INT32_MAX, 800, 9},
                 {SHAPE_RING, 0, 0, INT32_MAX, 1080, 1080},
                 {SHAPE_RING, 0, 33, INT32_MAX, 33, 33},
                 {SHAPE_RING, 40, 40, 30, 30, 30}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct report r = {.count = 50,
                           .picture.shape = table[i].shape,
                           .picture.width = table[i].w,
                           .picture.height = table[i].h};
        int w, h;
        shape_size(&r, table[i].most, &w, &h);
        assert_int_equal(w, table[i].width);
        assert_int_equal(h, table[i].height);
    }
}

TEST(vertical_is_the_strip_turned)
{
    struct made m;
    made_open(&m, 23);
    for (size_t k = 0; k < strips_all().count; k++)
        for (int along = 0; along < 40; along += 13) {
            int w, h, vw, vh;
            m.report.picture.shape = SHAPE_STRIP;
            m.report.picture.width = along;
            m.report.picture.height = 9;
            uint8_t *strip = pixels_of(&m.report, alone(strip_table[k]->name), &w, &h);
            m.report.picture.shape = SHAPE_VERTICAL;
            m.report.picture.width = 9;
            m.report.picture.height = along;
            uint8_t *turned = pixels_of(&m.report, alone(strip_table[k]->name), &vw, &vh);
            assert_int_equal(vw, h);
            assert_int_equal(vh, w);
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++)
                    assert_memory_equal(strip + (y * w + x) * 3, turned + (x * vw + y) * 3, 3);
            free(strip);
            free(turned);
        }
    made_close(&m);
}

TEST(angles)
{
    uint32_t arc[CIRCLE_ARCS];
    circle_fill(arc);
    assert_int_equal(circle_turn(arc, 0, -7), 0);
    assert_true(llabs((int64_t)circle_turn(arc, 7, 0) - (INT64_C(1) << 30)) < 4);
    assert_true(llabs((int64_t)circle_turn(arc, 0, 7) - (INT64_C(1) << 31)) < 4);
    assert_true(llabs((int64_t)circle_turn(arc, -7, 0) - 3 * (INT64_C(1) << 30)) < 4);
    srand(8);
    for (int i = 0; i < 200000; i++) {
        int x = rand() % 131072 - 65536, y = rand() % 131072 - 65536;
        if (x == 0 && y == 0)
            continue;
        double turn = atan2(x, -y) / (2 * pi),
               off = fabs(circle_turn(arc, x, y) / 4294967296.0 - (turn < 0 ? turn + 1 : turn));
        assert_true((off > 0.5 ? 1 - off : off) < 1.0 / (1 << 21));
    }
}

/* The definition with the library's arctangent and square root; points within a hair of two columns
 * or rows may be either's. */
TEST(the_ring_is_the_definition)
{
    struct made m;
    made_open(&m, 40);
    m.report.picture.shape = SHAPE_RING;
    for (int side = 1; side < 90; side += 11) {
        for (size_t k = 0; k < 3; k++) {
            struct strips s = alone((const char *[]){"kmeans", "palette", "squeeze"}[k]);
            int w, h, d = side - side / 25 * 2, hole = 2 * d / 5, rim = (int)(d * 355.0 / 113),
                      along = rim < 40 ? rim : 40, across = (3 * d + 9) / 10, wrong = 0;
            m.report.picture.shape = SHAPE_STRIP;
            m.report.picture.width = along;
            m.report.picture.height = across;
            uint8_t *strip = pixels_of(&m.report, s, &w, &h);
            m.report.picture.shape = SHAPE_RING;
            m.report.picture.width = m.report.picture.height = side;
            uint8_t *ring = pixels_of(&m.report, s, &w, &h);
            assert_int_equal(w, side);
            assert_int_equal(h, side);
            for (int i = 0; i < side * side; i++) {
                double sum[3] = {0};
                int n = 0;
                for (int p = 0; p < 16; p++) {
                    double x = 8 * (i % side) + 2 * (p % 4) + 1 - 4 * side,
                           y = 8 * (i / side) + 2 * (p / 4) + 1 - 4 * side, r = sqrt(x * x + y * y);
                    if (r < 4 * hole || r >= 4 * d)
                        continue;
                    double turn = atan2(x, -y) / (2 * pi);
                    int column = (int)((turn < 0 ? turn + 1 : turn) * along),
                        row = (int)((4 * d - floor(r)) * across / (4 * (d - hole)));
                    row = row < across ? row : across - 1;
                    for (int c = 0; c < 3; c++)
                        sum[c] += srgb_linear[strip[(row * along + column) * 3 + c]];
                    n++;
                }
                assert_int_equal(ring[i * 4 + 3], (int)(255.0 * n / 16 + 0.5));
                for (int c = 0; c < 3; c++)
                    wrong +=
                        n > 0 ? abs(ring[i * 4 + c] - srgb_level((uint16_t)(sum[c] / n + 0.5))) > 0
                              : ring[i * 4 + c] != 0;
            }
            if (wrong * 200 > side * side * 3)
                fail_msg("%d of %d values differ at %d pixels", wrong, side * side * 3, side);
            free(strip);
            free(ring);
        }
    }
    made_close(&m);
}

TEST(too_large)
{
    struct made m;
    struct err e = ERR_INIT;
    made_open(&m, 5);
    m.report.picture.shape = SHAPE_VERTICAL;
    m.report.picture.width = 20000;
    m.report.picture.height = 20000;
    assert_null(painter_open(&m.report, alone("palette"), &e));
    assert_non_null(strstr(e.text, "too large"));
    made_close(&m);
}
