#include <stdlib.h>
#include <string.h>

#include "sound/film_sound.h"
#include "barcode/sound/spectrogram.h"
#include "test.h"

enum { ROWS = 50, PEAKS = 300 };
static struct sound_row row[ROWS];
static struct peak point[PEAKS];

static int byte_of(int i, int b) { return (i * 7 + b * b) & 255; }

static struct film_sound made(void)
{
    for (int i = 0; i < ROWS; i++) {
        row[i] = (struct sound_row){.loudness = (int16_t)(i % 7 == 0 ? SOUND_SILENCE : -i * 5),
                                    .peak = (int16_t)(i % 5 == 0 ? 0 : SOUND_SILENCE + i),
                                    .centroid = (uint16_t)(i % 2 ? 7999 : i)};
        for (int b = 0; b < SOUND_BANDS; b++)
            row[i].band[b] = (uint8_t)byte_of(i, b);
    }
    for (int i = 0; i < PEAKS; i++)
        point[i] = (struct peak){(uint32_t)(i / 3), (uint16_t)(i % 3 * 250 + i / 60), i % 4 == 0};
    return (struct film_sound){.stream = 2,
                               .rate = 44100,
                               .channels = 6,
                               .codec = "ac3",
                               .decoder = "ac3_fixed",
                               .layout = "5.1(side)",
                               .samples = 100 * SPECTROGRAM_HOP - 5,
                               .gaps = 3,
                               .gap_us = INT64_C(5000000000),
                               .errors = 17,
                               .loudness = -231,
                               .range = 152,
                               .peak = -3,
                               .hops = 2,
                               .rows = ROWS,
                               .row = row,
                               .peaks = PEAKS,
                               .point = point};
}

static void assert_equal(const struct film_sound *a, const struct film_sound *b)
{
    assert_int_equal(a->stream, b->stream);
    assert_int_equal(a->rate, b->rate);
    assert_int_equal(a->channels, b->channels);
    assert_string_equal(a->codec, b->codec);
    assert_string_equal(a->decoder, b->decoder);
    assert_string_equal(a->layout, b->layout);
    assert_true(a->samples == b->samples && a->gaps == b->gaps && a->gap_us == b->gap_us);
    assert_true(a->errors == b->errors && a->hops == b->hops);
    assert_int_equal(a->loudness, b->loudness);
    assert_int_equal(a->range, b->range);
    assert_int_equal(a->peak, b->peak);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->peaks, b->peaks);
    assert_memory_equal(a->row, b->row, a->rows * sizeof *a->row);
    assert_memory_equal(a->point, b->point, a->peaks * sizeof *a->point);
}

static uint8_t *bytes_of(const struct film_sound *s, size_t *count)
{
    uint8_t *bytes;
    assert_true(film_sound_write(s, &bytes, count, NULL));
    return bytes;
}

TEST(comes_back)
{
    struct film_sound s = made(), back;
    size_t count;
    uint8_t *bytes = bytes_of(&s, &count);
    assert_true(count < ROWS * 104 + PEAKS * 2 + 100);
    assert_true(film_sound_read(&back, bytes, count, NULL));
    assert_equal(&s, &back);
    film_sound_free(&back);
    assert_null(back.row);
    assert_int_equal(back.stream, -1);
    free(bytes);
}

TEST(a_film_without_sound_comes_back)
{
    struct film_sound s = {.stream = -1, .loudness = SOUND_SILENCE, .hops = 1}, back;
    size_t count;
    uint8_t *bytes = bytes_of(&s, &count);
    assert_true(film_sound_read(&back, bytes, count, NULL));
    assert_int_equal(back.stream, -1);
    assert_int_equal(back.rows + back.peaks, 0);
    film_sound_free(&back);
    free(bytes);
}

static bool reads(const uint8_t *bytes, size_t count, struct film_sound *s)
{
    struct err e = ERR_INIT;
    uint8_t *copy = malloc(count + 1); /* so that sanitizers see its end */
    memcpy(copy, bytes, count);
    uint8_t *exact = realloc(copy, count ? count : 1);
    bool ok = film_sound_read(s, exact, count, &e);
    assert_true(ok == (e.code == ERR_NONE));
    assert_true(ok || (!s->row && !s->point));
    free(exact);
    return ok;
}

TEST(other_lengths_are_refused)
{
    struct film_sound s = made(), back;
    size_t count;
    uint8_t *bytes = bytes_of(&s, &count), *longer;
    for (size_t n = 0; n < count; n++)
        assert_false(reads(bytes, n, &back));
    longer = calloc(count + 1, 1);
    memcpy(longer, bytes, count);
    assert_false(reads(longer, count + 1, &back));
    free(longer);
    free(bytes);
}

/* Any byte with any value: what is read then has peaks in order and rows within their ranges. */
TEST(damaged_bytes_are_safe)
{
    struct film_sound s = made(), back;
    size_t count, refused = 0;
    uint8_t *bytes = bytes_of(&s, &count);
    for (size_t at = 0; at < count; at += at < 200 ? 1 : 13)
        for (int flip = 1; flip < 256; flip += at < 60 ? 1 : 31) {
            bytes[at] ^= (uint8_t)flip;
            if (reads(bytes, count, &back)) {
                struct sound_row sum;
                film_sound_span(&back, 0, INT64_MAX, &sum);
                for (size_t i = 1; i < back.peaks; i++)
                    assert_true(back.point[i].frame * 512 + back.point[i].bin >
                                back.point[i - 1].frame * 512 + back.point[i - 1].bin);
                film_sound_free(&back);
            } else {
                refused++;
            }
            bytes[at] ^= (uint8_t)flip;
        }
    assert_true(refused > 1000);
    free(bytes);
}

/* Numbers that would need more memory than the bytes can fill, or that contradict each other. */
TEST(impossible_numbers_are_refused)
{
    for (int what = 0; what < 9; what++) {
        struct film_sound s = made(), back;
        size_t count;
        s.samples = what == 0 ? UINT64_MAX : what == 1 ? s.samples + 600 : s.samples;
        s.hops = what == 2 ? 0 : what == 3 ? 4 : 2;
        s.gap_us = what == 4 ? -1 : 0;
        s.loudness = what == 5 ? SOUND_NONE - 1 : 0;
        s.peak = what == 6 ? 1 : 0;
        s.stream = what == 7 ? -2 : 0;
        s.codec[0] = what == 8 ? '\n' : 'a';
        uint8_t *bytes = bytes_of(&s, &count);
        assert_false(reads(bytes, count, &back));
        free(bytes);
    }
}

/* Two peaks are more than PEAK_RADIUS apart (peaks.h), so that there cannot be one for each byte.
 */
TEST(too_many_peaks_are_refused)
{
    enum { BINS = SPECTROGRAM_BINS, FRAMES = 100 };
    static struct peak many[FRAMES * BINS];
    for (size_t apart = 1; apart < BINS; apart++) {
        struct film_sound s = made(), back;
        size_t count;
        s.point = many;
        for (s.peaks = 0; s.peaks * apart < FRAMES * BINS; s.peaks++)
            many[s.peaks] = (struct peak){(uint32_t)(s.peaks * apart / BINS),
                                          (uint16_t)(s.peaks * apart % BINS), 0};
        uint8_t *bytes = bytes_of(&s, &count);
        bool ok = reads(bytes, count, &back);
        assert_int_equal(ok, apart >= 55); /* 61 values for a peak, and the margins */
        if (ok)
            film_sound_free(&back);
        free(bytes);
    }
}
