/* A slit: its pixels against a rotation in floating point, in every engine's columns, and painted.
 */

#include <math.h>
#include <string.h>

#include "test.h"
#include "barcode/engine/engine.h"
#include "output/modes/render_line.h"
#include "strips.h"

static struct slit_line *opened(int x, int angle, int width, int height)
{
    struct err e = ERR_INIT;
    struct slit slit = {x, angle};
    struct slit_line *line = slit_line_open(&slit, width, height, &e);
    if (!line)
        fail_msg("%s", e.text);
    return line;
}

static int x_of(const struct slit_line *line, int i, int width)
{
    assert_int_equal(line->offset[i] % 3, 0);
    return (int)(line->offset[i] / 3) % width;
}

static int y_of(const struct slit_line *line, int i, int width)
{
    return (int)(line->offset[i] / 3) / width;
}

TEST(every_angle)
{
    const long double one = 1 << 20, unit = acosl(-1) / (SLIT_TURN / 2);
    for (int angle = 0; angle < SLIT_TURN; angle++) {
        int32_t c, s;
        slit_rotation(angle, &c, &s);
        assert_int_equal(c, lroundl(one * cosl(unit * angle)));
        assert_int_equal(s, lroundl(one * sinl(unit * angle)));
    }
}

/* At quarter turns the line is a column or a row, whole and in order. */
TEST(quarter_turns)
{
    static const int sizes[][2] = {{320, 180}, {7, 5}, {5, 7}, {1, 1}, {1, 9}, {64, 1}, {2, 2}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int x = 0; x <= SLIT_X_ONE; x += 1250)
            for (int quarter = 0; quarter < 4; quarter++) {
                int w = sizes[k][0], h = sizes[k][1], odd = quarter % 2;
                int across = odd ? h : w, down = odd ? w : h, at = x * across / SLIT_X_ONE;
                at = at < across ? at : across - 1;
                struct slit_line *line = opened(x, quarter * 9000, w, h);
                assert_int_equal(line->length, down);
                for (int i = 0; i < down; i++) {
                    int want_x = quarter == 0   ? at
                                 : quarter == 1 ? i
                                 : quarter == 2 ? w - 1 - at
                                                : w - 1 - i;
                    int want_y = quarter == 0   ? i
                                 : quarter == 1 ? h - 1 - at
                                 : quarter == 2 ? h - 1 - i
                                                : at;
                    assert_int_equal(x_of(line, i, w), want_x);
                    assert_int_equal(y_of(line, i, w), want_y);
                }
                slit_line_free(&line);
                assert_null(line);
            }
}

/* At other angles each pixel is within one of the line's points, and the ends are at the frame's
 * border. */
TEST(any_angle)
{
    for (int angle = 0; angle < SLIT_TURN; angle += 707) {
        int w = 640, h = 480;
        struct slit_line *line = opened(5000, angle, w, h);
        double t = angle * acos(-1) / 18000, c = cos(t), s = sin(t);
        double chord = fmin(h / fabs(c), w / fabs(s));
        assert_true(fabs(line->length - chord) < 2.5);
        for (int i = 0; i < line->length; i++) {
            int x = x_of(line, i, w), y = y_of(line, i, w);
            double along = i - (line->length - 1) / 2.0;
            assert_in_range(x, 0, w - 1);
            assert_in_range(y, 0, h - 1);
            assert_true(fabs(x + 0.5 - (w / 2.0 + along * s)) < 2.1);
            assert_true(fabs(y + 0.5 - (h / 2.0 + along * c)) < 2.1);
        }
        slit_line_free(&line);
    }
}

TEST(largest_frame)
{
    struct slit_line *line = opened(5000, 4500, 16384, 16384);
    assert_in_range(line->length, 23160, 23172);
    for (int i = 0; i < line->length; i++)
        assert_true(line->offset[i] <= UINT32_C(16384) * 16384 * 3 - 3);
    slit_line_free(&line);
}

/* A rotated frame's corners: the column there may hold no pixel's centre. */
TEST(misses)
{
    int missed = 0;
    for (int angle = 100; angle < 9000; angle += 100) {
        struct err e = ERR_INIT;
        struct slit slit = {0, angle};
        struct slit_line *line = slit_line_open(&slit, 64, 48, &e);
        missed += !line;
        assert_true(line ? line->length > 0 : e.code == ERR_USAGE);
        slit_line_free(&line);
    }
    assert_true(missed > 0 && missed < 89);
}

enum { W = 12, H = 9, FRAMES = 5 };

static uint8_t shade(uint64_t frame, uint32_t offset) { return (uint8_t)(frame * 50 + offset); }

static bool count_frames(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    (void)e;
    assert_int_equal(rgb[5], shade(tag->frame, 5));
    ++*(int *)user;
    return true;
}

/* The columns have the pixels, and the film's own tap still gets the frames; a preview has none. */
TEST(in_columns)
{
    struct err e = ERR_INIT;
    struct engine_config config = {.threads = 1};
    struct engine *g = engine_open("cpu", &config, &e);
    struct columns *columns = columns_open(0, 0, &e);
    struct slit_line *line = opened(2500, 3000, W, H);
    int tapped = 0;
    columns_keep_slit(columns, line->length);
    struct engine_job job = {.width = W,
                             .height = H,
                             .ports = 1,
                             .columns = columns,
                             .slit = line,
                             .tap = count_frames,
                             .tap_user = &tapped};
    assert_true(engine_begin(g, &job, &e));
    struct engine_port *p = engine_port_open(g, &e);
    for (uint64_t n = 0; n <= FRAMES; n++) {
        uint8_t rgb[W * H * 3];
        struct frame_tag tag = {
            .column = n, .repeat = n < FRAMES, .previews = n == FRAMES, .frame = n};
        for (uint32_t i = 0; i < sizeof rgb; i++)
            rgb[i] = shade(n, i);
        assert_true(engine_put_analysed(p, rgb, &tag, &e));
    }
    struct engine_times times;
    engine_port_close(&p);
    assert_true(engine_finish(g, &times, &e));
    engine_close(&g);
    assert_int_equal(tapped, FRAMES + 1);
    assert_int_equal(columns_finish(columns, NULL), 0);
    assert_int_equal(columns_count(columns), FRAMES);
    for (uint64_t n = 0; n < FRAMES; n++)
        for (int i = 0; i < line->length; i++)
            for (uint32_t k = 0; k < 3; k++)
                assert_int_equal(columns_get(columns, n)->slit[3 * i + (int)k],
                                 shade(n, line->offset[i] + k));
    slit_line_free(&line);
    columns_free(&columns);
}

/* Scaled to the height as rows of squeeze are; a missing column repeats its neighbour. */
TEST(painted)
{
    struct err e = ERR_INIT;
    struct columns *columns = columns_open(0, 0, &e);
    columns_keep_slit(columns, 2);
    for (uint64_t i = 0; i < 3; i++) {
        struct column *c = columns_at(columns, i, &e);
        c->status = i == 1 ? COLUMN_MISSING : COLUMN_OK;
        for (int k = 0; k < 6; k++)
            c->slit[k] = (uint8_t)(100 * i + 10 * (uint64_t)k);
    }
    struct report r = {.columns = columns,
                       .count = 3,
                       .analysis.width = 1,
                       .analysis.height = 1,
                       .analysis.slit_length = 2};
    static const uint8_t want[3][3] = {{0, 0, 200}, {15, 15, 215}, {30, 30, 230}};
    struct strip *s = strip_open(&r, alone("slit").kind[0], 3, 3, &e);
    for (int y = 0; y < 3; y++) {
        uint8_t rgb[9];
        strip_row(s, y, rgb);
        for (int x = 0; x < 3; x++)
            assert_int_equal(rgb[3 * x], want[y][x]);
    }
    strip_free(&s);
    struct columns *none = columns_open(0, 0, &e);
    columns_at(none, 0, &e)->status = COLUMN_OK;
    r.columns = none;
    r.count = 1;
    assert_null(strip_open(&r, alone("slit").kind[0], 3, 3, &e)); /* no slit was kept */
    columns_free(&none);
    columns_free(&columns);
}
