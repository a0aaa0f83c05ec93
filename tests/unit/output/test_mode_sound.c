/* test_mode_sound.c - the strips of the film's sound, and its values of a column. */
#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "barcode/engine/colour.h"
#include "output/report.h"
#include "output/modes/time_axis.h"
#include "output/modes/render_line.h"
#include "strips.h"

enum { ROW_US = 32000, ROWS = 250 /* 8 s */, COUNT = 4, TONE = 40 };

static const uint8_t ground[3] = {14, 14, 16};

static char path[] = "film.mkv";
static struct film film;
static struct film_sound sound;
static struct columns *columns;
static struct report report;

/*
 * Columns at 0, 1, 5 and 6 s of a film of 8 s. The sound is silent up to 3.008 s, then it has -25
 * LUFS, peaks of -10 dB and a tone.
 */
FIXTURE(set_up)
{
    static const int64_t time[COUNT] = {0, 1000000, 5000000, 6000000};
    struct err e = ERR_INIT;
    columns = columns_open(0, 0, &e);
    for (uint64_t i = 0; i < COUNT; i++)
        *columns_at(columns, i, &e) = (struct column){.frame = i,
                                                      .time_us = time[i],
                                                      .repeat = 1,
                                                      .status = COLUMN_OK,
                                                      .average = {200, 100, 50}};
    sound = (struct film_sound){.hops = 1, .rows = ROWS, .samples = ROWS * UINT64_C(512)};
    sound.row = calloc(ROWS, sizeof *sound.row);
    assert_non_null(sound.row);
    for (size_t i = 0; i < ROWS; i++) {
        bool loud = i >= 94; /* 94 * 32 ms */
        struct sound_row *row = &sound.row[i];
        row->loudness = loud ? -250 : SOUND_SILENCE;
        row->peak = loud ? -100 : SOUND_SILENCE;
        row->centroid = loud ? 440 : 0;
        row->band[TONE] = loud ? 255 : 0;
    }
    film = (struct film){.path = path, .width = 64, .height = 36, .length.duration_us = 8000000};
    report = (struct report){
        .film = &film, .columns = columns, .count = COUNT, .run.threads = 1, .media.sound = &sound};
    return 0;
}

FIXTURE(tear_down)
{
    columns_free(&columns);
    film_sound_free(&sound);
    return 0;
}

/* Returns the pixels of a strip, for free(). */
static uint8_t *paint(const char *mode, int width, int height)
{
    struct err e = ERR_INIT;
    struct strip *s = strip_open(&report, alone(mode).kind[0], width, height, &e);
    assert_ok(s, &e);
    uint8_t *rgb = malloc((size_t)width * (size_t)height * 3);
    assert_non_null(rgb);
    for (int y = height - 1; y >= 0; y--) /* in any order */
        strip_row(s, y, rgb + (size_t)y * (size_t)width * 3);
    strip_free(&s);
    return rgb;
}

static bool is_ground(const uint8_t *rgb) { return memcmp(rgb, ground, 3) == 0; }

/* 3.008 s is a bit behind the middle of the second column, which has 4 s. */
TEST_WITH(a_step_is_at_its_time, set_up, tear_down)
{
    static const struct {
        int width, first;
    } want[] = {{1, 0}, {2, 0}, {3, 1}, {4, 1}, {8, 3}, {40, 15}, {400, 150}, {4000, 1502}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        uint8_t *rgb = paint("sound", want[i].width, 8);
        const uint8_t *middle = rgb + (size_t)want[i].width * 4 * 3;
        for (int x = 0; x < want[i].width; x++)
            if (is_ground(middle + (size_t)x * 3) != (x < want[i].first))
                fail_msg("width %d: pixel %d", want[i].width, x);
        free(rgb);
    }
}

TEST_WITH(heights_and_colours, set_up, tear_down)
{
    static const uint8_t loud[3] = {213, 113, 63}, peak[3] = {89, 51, 34};
    enum { HIGH = 100 };
    uint8_t *rgb = paint("sound", 8, HIGH);
    for (int y = 0; y < HIGH; y++) {
        const uint8_t *p = rgb + ((size_t)y * 8 + 6) * 3;
        int from_middle = y < HIGH / 2 ? HIGH / 2 - 1 - y : y - HIGH / 2;
        if (from_middle == 24 || from_middle == 39)
            continue; /* an edge, rounded down */
        assert_memory_equal(p, from_middle < 24 ? loud : from_middle < 39 ? peak : ground, 3);
    }
    free(rgb);
}

/* The mean of a black column is visible, and a white one stays white. */
TEST_WITH(dark_films_are_visible, set_up, tear_down)
{
    struct err e = ERR_INIT;
    memset(columns_at(columns, 2, &e)->average, 0, 3);
    memset(columns_at(columns, 3, &e)->average, 255, 3);
    uint8_t *rgb = paint("sound", COUNT, 8), *middle = rgb + (ptrdiff_t)4 * COUNT * 3;
    assert_memory_equal(middle + 6, ((uint8_t[]){64, 64, 64}), 3);
    assert_memory_equal(middle + 9, ((uint8_t[]){255, 255, 255}), 3);
    free(rgb);
}

/* Returns the row of the brightest pixel in the last column. */
static int brightest(const uint8_t *rgb, int height)
{
    int best = 0, most = -1;
    for (int y = 0; y < height; y++) {
        const uint8_t *p = rgb + ((size_t)y * COUNT + COUNT - 1) * 3;
        if (p[0] + p[1] + p[2] > most) {
            most = p[0] + p[1] + p[2];
            best = y;
        }
    }
    return best;
}

TEST_WITH(a_tone_is_in_its_band, set_up, tear_down)
{
    static const int height[] = {16, 48, 96, 960, 961};
    for (size_t i = 0; i < sizeof height / sizeof *height; i++) {
        int h = height[i], middle = (2 * (SOUND_BANDS - 1 - TONE) + 1) * h / (2 * SOUND_BANDS);
        uint8_t *rgb = paint("spectrum", COUNT, h);
        assert_in_range(brightest(rgb, h), middle - 1, middle);
        if (h == 96) { /* a row a band */
            const uint8_t *p = rgb + (size_t)(95 - TONE) * COUNT * 3;
            assert_memory_equal(p + 9, ((uint8_t[]){0xfc, 0xff, 0xa4}), 3);
            assert_memory_equal(p, ((uint8_t[]){0, 0, 4}), 3); /* silence */
            assert_memory_equal(p + 9 + (ptrdiff_t)COUNT * 3, p, 3);
        }
        free(rgb);
    }
}

/* From a band to the next each row is brighter: there are no blocks. */
TEST_WITH(bands_are_interpolated, set_up, tear_down)
{
    enum { EACH = 8, HIGH = EACH * SOUND_BANDS, FROM = (SOUND_BANDS - TONE) * EACH + EACH / 2 };
    uint8_t *rgb = paint("spectrum", COUNT, HIGH);
    uint32_t last = 0;
    for (int y = FROM; y >= FROM - EACH; y--) {
        uint32_t light = srgb_luminance(rgb + ((size_t)y * COUNT + COUNT - 1) * 3);
        assert_true(light > last);
        last = light;
    }
    free(rgb);
}

/* A step becomes a ramp as long as two times S, and is half way at its place. */
TEST_WITH(levels_are_smoothed, set_up, tear_down)
{
    enum { WIDE = 800, HIGH = 400 };
    struct err e = ERR_INIT;
    for (uint64_t i = 0; i < COUNT; i++)
        columns_at(columns, i, &e)->time_us = (int64_t)i * 2000000;
    report.picture.smooth_us = 1000000;
    uint8_t *rgb = paint("sound", WIDE, HIGH);
    int high[WIDE];
    for (int x = 0; x < WIDE; x++) {
        high[x] = 0;
        for (int y = 0; y < HIGH; y++)
            high[x] += rgb[((size_t)y * WIDE + (size_t)x) * 3] > 200;
        assert_true(x == 0 || high[x] >= high[x - 1]);
    }
    assert_int_equal(high[190], 0);                     /* 1.9 s */
    assert_in_range(high[300], HIGH / 4 - 8, HIGH / 4); /* 3 s: half of -25 LUFS */
    assert_in_range(high[410], HIGH / 2 - 2, HIGH / 2);
    free(rgb);
}

TEST_WITH(values_of_columns, set_up, tear_down)
{
    struct column_sound c;
    struct sound_row row;
    struct err e = ERR_INIT;
    assert_true(column_sound_open(&c, &report, &e));
    assert_true(column_sound_at(&c, 0, &row));
    assert_true(row.loudness == SOUND_SILENCE && row.peak == SOUND_SILENCE && row.centroid == 0);
    assert_true(column_sound_at(&c, 1, &row)); /* half of it: 3 dB less */
    assert_in_range(row.loudness + 1000, 1000 - 281, 1000 - 279);
    assert_int_equal(row.peak, -100);
    assert_true(column_sound_at(&c, 3, &row));
    assert_int_equal(row.loudness, -250);
    assert_int_equal(row.centroid, 440);
    column_sound_close(&c);
    sound.stream = -1;
    assert_true(column_sound_open(&c, &report, &e));
    assert_false(column_sound_at(&c, 3, &row));
    column_sound_close(&c);
}

/* It has no steps. */
TEST(the_colour_map)
{
    uint8_t rgb[3], last[3];
    colour_map_at(0, last);
    assert_memory_equal(last, ((uint8_t[]){0, 0, 4}), 3);
    for (uint32_t level = 1; level < 65536; level++) {
        colour_map_at((uint16_t)level, rgb);
        for (int k = 0; k < 3; k++)
            assert_in_range(rgb[k] + 1 - last[k], 0, 2);
        memcpy(last, rgb, 3);
    }
    assert_memory_equal(last, ((uint8_t[]){0xfc, 0xff, 0xa4}), 3);
}
