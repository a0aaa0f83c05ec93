#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "output/modes/render_line.h"
#include "output/modes/shot_columns.h"
#include "output/modes/time_axis.h"
#include "strips.h"

enum { K = 2, ROWS = 2, SLIT = 3, WIDTH = 8, EVERY = 10, S = 1000000 };

static struct film film;
static struct report report;

/* A column every EVERY frames, 10 a second, whose colours follow from its number. */
static void scene(uint64_t count)
{
    struct err e = ERR_INIT;
    struct columns *c = columns_open(K, ROWS, &e);
    columns_keep_slit(c, SLIT);
    for (uint64_t i = 0; i < count; i++) {
        struct column *to = columns_at(c, i, &e);
        const uint8_t v = (uint8_t)(10 * i);
        to->frame = i * EVERY;
        to->time_us = (int64_t)i * S;
        to->repeat = 1;
        to->status = COLUMN_OK;
        to->clusters = K;
        to->chosen = 1;
        to->cluster[0] = (struct cluster){{250, 0, 0}, 24};
        to->cluster[1] = (struct cluster){{0, 0, v}, 8};
        memset(to->average, v, 3);
        memcpy(to->dominant, (const uint8_t[]){v, 0, 0}, 3);
        memset(to->row, v + 1, 3);
        memset(to->row + 3, v + 2, 3);
        memset(to->slit, v + 3, 3 * SLIT);
    }
    film = (struct film){.path = "f", .length.duration_us = (int64_t)count * S};
    report = (struct report){.film = &film,
                             .columns = c,
                             .count = count,
                             .analysis.kmeans = {K, 1, 10, INIT_SCALABLE, 0, false},
                             .analysis.width = WIDTH,
                             .analysis.height = ROWS,
                             .analysis.slit_length = SLIT,
                             .run.threads = 1};
}

static struct column *column(uint64_t i) { return (struct column *)columns_get(report.columns, i); }

/* Makes shots that begin at these frames, of which the last is the end. */
static struct shots shots_at(const uint64_t *frame, size_t count)
{
    struct shots s = {.shot = calloc(count, sizeof *s.shot), .count = count};
    for (size_t i = 0; i < count; i++)
        s.shot[i] = (struct shot){.frame = frame[i],
                                  .frames = frame[i + 1] - frame[i],
                                  .start_us = (int64_t)frame[i] * S / 10,
                                  .end_us = (int64_t)frame[i + 1] * S / 10,
                                  .mean = {7, 8, 9}};
    return s;
}

/* Replaces the columns by those of the shots. */
static void join(const struct shots *shots)
{
    struct err e = ERR_INIT;
    struct columns *c = shot_columns(&report, shots, &e);
    assert_ok(c != NULL, &e);
    free_columns(&report);
    report.columns = c;
    report.count = shots->count;
    report.media.shots = shots;
    report.analysis.by_shot = true;
}

static void expect_cluster(const struct column *c, int j, const uint8_t rgb[3], uint32_t count)
{
    assert_memory_equal(c->cluster[j].rgb, rgb, 3);
    assert_int_equal(c->cluster[j].count, count);
}

/* Shots of three columns, of one, of none, and of two of which one is missing. */
TEST(columns_of_shots)
{
    scene(7);
    column(1)->status = COLUMN_DAMAGED;
    column(5)->status = COLUMN_MISSING;
    struct shots shots = shots_at((const uint64_t[]){0, 21, 31, 39, 60, 61, 62}, 6);
    join(&shots);
    assert_int_equal(columns_count((struct columns *)report.columns), 6);
    const struct column *c = column(0);
    assert_int_equal(c->status, COLUMN_DAMAGED);
    assert_int_equal(c->average[0], 10);
    assert_int_equal(c->dominant[0], 10);
    assert_int_equal(c->row[0], 11);
    assert_int_equal(c->row[3], 12);
    assert_int_equal(c->slit[8], 13);
    assert_int_equal(c->clusters, 2);
    assert_int_equal(c->chosen, 0);
    expect_cluster(c, 0, (const uint8_t[]){250, 0, 0}, 3 << 12);
    expect_cluster(c, 1, (const uint8_t[]){0, 0, 10}, 1 << 12);
    c = column(1); /* the same as the one column */
    assert_int_equal(c->frame, 21);
    assert_int_equal(c->time_us, 2100000);
    assert_int_equal(c->repeat, 1);
    assert_int_equal(c->status, COLUMN_OK);
    assert_int_equal(c->chosen, 1);
    expect_cluster(c, 0, (const uint8_t[]){250, 0, 0}, 24);
    expect_cluster(c, 1, (const uint8_t[]){0, 0, 30}, 8);
    c = column(2);
    assert_int_equal(c->status, COLUMN_OK);
    assert_int_equal(c->clusters, 1);
    expect_cluster(c, 0, (const uint8_t[]){7, 8, 9}, WIDTH * ROWS);
    assert_memory_equal(c->average, ((const uint8_t[]){7, 8, 9}), 3);
    assert_memory_equal(c->dominant, ((const uint8_t[]){7, 8, 9}), 3);
    assert_memory_equal(c->row + 3, ((const uint8_t[]){7, 8, 9}), 3);
    assert_memory_equal(c->slit + 6, ((const uint8_t[]){7, 8, 9}), 3);
    c = column(3);
    assert_int_equal(c->average[2], 40);
    assert_int_equal(c->cluster[1].rgb[2], 40);
    assert_int_equal(column(4)->average[0], 60);
    assert_int_equal(column(5)->average[0], 7);
    free_columns(&report);
    free(shots.shot);
}

/* The columns of shots become the same again. */
TEST(twice)
{
    scene(40);
    struct shots shots = shots_at((const uint64_t[]){0, 55, 62, 63, 190, 400}, 5);
    join(&shots);
    struct err e = ERR_INIT;
    struct columns *again = shot_columns(&report, &shots, &e);
    for (uint64_t i = 0; i < shots.count; i++) {
        const struct column *a = column(i), *b = columns_get(again, i);
        assert_memory_equal(a->average, b->average, 3);
        assert_memory_equal(a->dominant, b->dominant, 3);
        assert_int_equal(a->clusters, b->clusters);
        assert_memory_equal(a->cluster, b->cluster, a->clusters * sizeof *a->cluster);
        assert_memory_equal(a->row, b->row, 3 * ROWS);
        assert_memory_equal(a->slit, b->slit, 3 * SLIT);
    }
    columns_free(&again);
    free_columns(&report);
    free(shots.shot);
}

/* Columns without clusters, rows and slit give none. */
TEST(averages_alone)
{
    struct err e = ERR_INIT;
    scene(4);
    struct columns *full = (struct columns *)report.columns, *bare = columns_open(0, 0, &e);
    for (uint64_t i = 0; i < 4; i++) {
        struct column *c = columns_at(bare, i, &e);
        *c = *columns_get(full, i);
        c->cluster = NULL;
        c->row = c->slit = NULL;
    }
    columns_free(&full);
    report.columns = bare;
    struct shots shots = shots_at((const uint64_t[]){0, 15, 40}, 2);
    join(&shots);
    assert_null(column(0)->cluster);
    assert_null(column(0)->row);
    assert_null(column(0)->slit);
    assert_int_equal(column(0)->average[0], 5);
    assert_int_equal(column(1)->average[0], 25);
    free_columns(&report);
    free(shots.shot);
}

/* With --light linear a mean is that of light: of 0 and 255 it is 191. */
TEST(means_of_light)
{
    struct err e = ERR_INIT;
    const struct light_rule rule = {.linear = true};
    struct light *light = light_open(&rule, 0, &e);
    scene(2);
    memset(column(1)->average, 255, 3);
    report.analysis.means = light_table(light, TRANSFER_SDR, &e);
    struct shots shots = shots_at((const uint64_t[]){0, 20}, 1);
    join(&shots);
    assert_int_equal(column(0)->average[0], 191);
    free_columns(&report);
    light_close(&light);
    free(shots.shot);
}

/* ---- Painting ---- */

/* Paints the middle row of a mode, as the red of each pixel. */
static void paint(const char *mode, int width, uint8_t *red)
{
    struct err e = ERR_INIT;
    uint8_t rgb[64][3];
    struct strip *s = strip_open(&report, alone(mode).kind[0], width, 3, &e);
    assert_ok(s != NULL, &e);
    strip_row(s, 1, rgb[0]);
    strip_free(&s);
    for (int x = 0; x < width; x++)
        red[x] = rgb[x][0];
}

/* A pixel shows the shot at the middle of its time, in every mode, and nothing is blended. */
TEST(as_wide_as_their_time)
{
    static const char *const modes[] = {"average", "dominant", "squeeze"};
    static const uint8_t more[] = {0, 0, 2}; /* the lower of two rows */
    struct shots shots = shots_at((const uint64_t[]){0, 10, 70, 80, 160}, 4);
    scene(16);
    join(&shots);
    const uint8_t mean[] = {0, 35, 70, 115}, medoid[] = {0, 30, 70, 110};
    for (size_t m = 0; m < 3; m++) {
        uint8_t red[64];
        const uint8_t *shown = m == 1 ? medoid : mean;
        paint(modes[m], 16, red);
        for (int x = 0; x < 16; x++) {
            const int n = x < 1 ? 0 : x < 7 ? 1 : x < 8 ? 2 : 3;
            assert_in_range(red[x], shown[n], shown[n] + more[m]);
        }
        paint(modes[m], 5, red); /* middles at 1.6, 4.8, 8, 11.2 and 14.4 s */
        assert_in_range(red[0], shown[1], shown[1] + more[m]);
        assert_in_range(red[1], shown[1], shown[1] + more[m]);
        assert_in_range(red[2], shown[3], shown[3] + more[m]);
        paint(modes[m], 4, red); /* as many pixels as shots */
        assert_in_range(red[0], shown[1], shown[1] + more[m]);
        assert_in_range(red[1], shown[1], shown[1] + more[m]);
    }
    report.picture.shots_equal = true;
    uint8_t red[64];
    paint("average", 8, red);
    for (int x = 0; x < 8; x++)
        assert_int_equal(red[x], mean[x / 2]);
    paint("palette", 2, red); /* pools */
    assert_int_equal(red[0], 250);
    free_columns(&report);
    free(shots.shot);
}

/* --smooth blends shots by their durations, and leaves a film of one colour as it is. */
TEST(smooth)
{
    struct shots shots = shots_at((const uint64_t[]){0, 10, 70, 80, 160}, 4);
    scene(16);
    join(&shots);
    report.picture.smooth_us = 5 * S;
    uint8_t red[64];
    paint("average", 16, red);
    assert_true(red[0] > 0 && red[7] > 70 && red[7] < 115);
    assert_int_equal(red[1], red[6]);
    for (uint64_t i = 0; i < 4; i++)
        memset(column(i)->average, 99, 3);
    paint("average", 16, red);
    for (int x = 0; x < 16; x++)
        assert_int_equal(red[x], 99);
    free_columns(&report);
    free(shots.shot);
}

TEST(axes)
{
    struct err e = ERR_INIT;
    struct shots shots = shots_at((const uint64_t[]){0, 10, 70, 80, 160}, 4);
    scene(16);
    join(&shots);
    static const int half[9] = {0, 1, 2, 8, 14, 15, 16, 24, 32}; /* seconds */
    film.length.duration_us = -1; /* the last shot says when it ends */
    int64_t *edge = axis_edges(&report, &e);
    assert_int_equal(edge[3], 8 * S);
    assert_int_equal(edge[4], 16 * S);
    free(edge);
    for (int equal = 0; equal < 2; equal++) {
        report.picture.shots_equal = equal;
        assert_int_equal(axis_parts(&report), equal ? 4 : 1);
        edge = axis_pixel_edges(&report, 8, &e);
        uint32_t *column = axis_pixel_columns(&report, 8, &e);
        for (int x = 0; x <= 8; x++)
            assert_int_equal(2 * edge[x], (equal ? half[x] : 4 * x) * (int64_t)S);
        for (int x = 0; x < 8; x++)
            assert_int_equal(column[x], equal ? x / 2 : x == 0 ? 1 : x < 3 ? 1 : x == 3 ? 2 : 3);
        free(edge);
        free(column);
        edge = axis_pixel_edges(&report, axis_parts(&report), &e);
        double place = axis_place(edge, axis_parts(&report), 4 * S);
        assert_true(place == (equal ? 0.375 : 0.25));
        assert_true(axis_place(edge, axis_parts(&report), -1) == 0);
        assert_true(axis_place(edge, axis_parts(&report), 17 * S) == 1);
        free(edge);
    }
    free_columns(&report);
    free(shots.shot);
}
