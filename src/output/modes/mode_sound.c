#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "render_line.h"
#include "time_axis.h"

/*
 * What the modes `sound` and `spectrum` have in common: levels of the film's sound for each pixel
 * of a strip.
 *
 * Pixel x of `width` shows the film's sound from t(x) to t(x + 1), in whatever column that is: t is
 * axis_at (time_axis.h). So a picture's sound is where its frames are, at every width. Levels are
 * integers of film_sound_span, 0..SOUND_LINE_FULL:
 *
 *     sound      Loudness and peak: 0 at -50 LUFS and -50 dB of full scale, SOUND_LINE_FULL at 0.
 *                The same for all films, so that they compare.
 *     spectrum   A band of sound_row: 0 at -105 dB of full scale, SOUND_LINE_FULL at -8 dB.
 *
 * --smooth S smooths levels along time with the triangle of time_axis.h.
 *
 * The waveform is mirrored at the middle of the strip: a level L covers the middle L /
 * SOUND_LINE_FULL of the height. A row that it covers in part is blended. Loudness has the colour
 * that `average` paints in the pixel, brightened so that it is visible on the dark ground; grey if
 * the film is sound alone. Peaks have the same colour, dimmed.
 *
 * In the spectrum, the middle of band b of n is at (b + 1/2) / n of the height. A row has the mean
 * of the levels around it, weighted by a triangle that reaches as far as the next band, or as the
 * next row if that is farther. So bands are interpolated, or averaged if there are fewer rows. The
 * colour is interpolated in the table below.
 */

enum { SOUND_LINE_FULL = 65535 };

/* Writes the levels of a pixel's sound. */
typedef void sound_line_levels(const struct sound_row *row, uint16_t *level);

/*
 * Inferno, a perceptually uniform colour map from black over red to light yellow, as 0xRRGGBB: that
 * of Matplotlib 3.11 (lib/matplotlib/_cm_listed.py, _inferno_data), each value times 255, rounded
 * half up. By Nathaniel J. Smith and Stefan van der Walt, 2015, who published it under CC0:
 * https://bids.github.io/colormap/
 */
static const uint32_t table[256] = {
    0x000004, 0x010005, 0x010106, 0x010108, 0x02010a, 0x02020c, 0x02020e, 0x030210, 0x040312,
    0x040314, 0x050417, 0x060419, 0x07051b, 0x08051d, 0x09061f, 0x0a0722, 0x0b0724, 0x0c0826,
    0x0d0829, 0x0e092b, 0x10092d, 0x110a30, 0x120a32, 0x140b34, 0x150b37, 0x160b39, 0x180c3c,
    0x190c3e, 0x1b0c41, 0x1c0c43, 0x1e0c45, 0x1f0c48, 0x210c4a, 0x230c4c, 0x240c4f, 0x260c51,
    0x280b53, 0x290b55, 0x2b0b57, 0x2d0b59, 0x2f0a5b, 0x310a5c, 0x320a5e, 0x340a5f, 0x360961,
    0x380962, 0x390963, 0x3b0964, 0x3d0965, 0x3e0966, 0x400a67, 0x420a68, 0x440a68, 0x450a69,
    0x470b6a, 0x490b6a, 0x4a0c6b, 0x4c0c6b, 0x4d0d6c, 0x4f0d6c, 0x510e6c, 0x520e6d, 0x540f6d,
    0x550f6d, 0x57106e, 0x59106e, 0x5a116e, 0x5c126e, 0x5d126e, 0x5f136e, 0x61136e, 0x62146e,
    0x64156e, 0x65156e, 0x67166e, 0x69166e, 0x6a176e, 0x6c186e, 0x6d186e, 0x6f196e, 0x71196e,
    0x721a6e, 0x741a6e, 0x751b6e, 0x771c6d, 0x781c6d, 0x7a1d6d, 0x7c1d6d, 0x7d1e6d, 0x7f1e6c,
    0x801f6c, 0x82206c, 0x84206b, 0x85216b, 0x87216b, 0x88226a, 0x8a226a, 0x8c2369, 0x8d2369,
    0x8f2469, 0x902568, 0x922568, 0x932667, 0x952667, 0x972766, 0x982766, 0x9a2865, 0x9b2964,
    0x9d2964, 0x9f2a63, 0xa02a63, 0xa22b62, 0xa32c61, 0xa52c60, 0xa62d60, 0xa82e5f, 0xa92e5e,
    0xab2f5e, 0xad305d, 0xae305c, 0xb0315b, 0xb1325a, 0xb3325a, 0xb43359, 0xb63458, 0xb73557,
    0xb93556, 0xba3655, 0xbc3754, 0xbd3853, 0xbf3952, 0xc03a51, 0xc13a50, 0xc33b4f, 0xc43c4e,
    0xc63d4d, 0xc73e4c, 0xc83f4b, 0xca404a, 0xcb4149, 0xcc4248, 0xce4347, 0xcf4446, 0xd04545,
    0xd24644, 0xd34743, 0xd44842, 0xd54a41, 0xd74b3f, 0xd84c3e, 0xd94d3d, 0xda4e3c, 0xdb503b,
    0xdd513a, 0xde5238, 0xdf5337, 0xe05536, 0xe15635, 0xe25734, 0xe35933, 0xe45a31, 0xe55c30,
    0xe65d2f, 0xe75e2e, 0xe8602d, 0xe9612b, 0xea632a, 0xeb6429, 0xeb6628, 0xec6726, 0xed6925,
    0xee6a24, 0xef6c23, 0xef6e21, 0xf06f20, 0xf1711f, 0xf1731d, 0xf2741c, 0xf3761b, 0xf37819,
    0xf47918, 0xf57b17, 0xf57d15, 0xf67e14, 0xf68013, 0xf78212, 0xf78410, 0xf8850f, 0xf8870e,
    0xf8890c, 0xf98b0b, 0xf98c0a, 0xf98e09, 0xfa9008, 0xfa9207, 0xfa9407, 0xfb9606, 0xfb9706,
    0xfb9906, 0xfb9b06, 0xfb9d07, 0xfc9f07, 0xfca108, 0xfca309, 0xfca50a, 0xfca60c, 0xfca80d,
    0xfcaa0f, 0xfcac11, 0xfcae12, 0xfcb014, 0xfcb216, 0xfcb418, 0xfbb61a, 0xfbb81d, 0xfbba1f,
    0xfbbc21, 0xfbbe23, 0xfac026, 0xfac228, 0xfac42a, 0xfac62d, 0xf9c72f, 0xf9c932, 0xf9cb35,
    0xf8cd37, 0xf8cf3a, 0xf7d13d, 0xf7d340, 0xf6d543, 0xf6d746, 0xf5d949, 0xf5db4c, 0xf4dd4f,
    0xf4df53, 0xf4e156, 0xf3e35a, 0xf3e55d, 0xf2e661, 0xf2e865, 0xf2ea69, 0xf1ec6d, 0xf1ed71,
    0xf1ef75, 0xf1f179, 0xf2f27d, 0xf2f482, 0xf3f586, 0xf3f68a, 0xf4f88e, 0xf5f992, 0xf6fa96,
    0xf8fb9a, 0xf9fc9d, 0xfafda1, 0xfcffa4};

void colour_map_at(uint16_t level, uint8_t rgb[3])
{
    enum { FULL = 65535 };
    uint32_t at = level * UINT32_C(255), part = at % FULL, low = table[at / FULL],
             high = part > 0 ? table[at / FULL + 1] : low;
    for (int k = 0; k < 3; k++) {
        uint32_t a = low >> (16 - 8 * k) & 255, b = high >> (16 - 8 * k) & 255;
        rgb[k] = (uint8_t)((a * (FULL - part) + b * part + FULL / 2) / FULL);
    }
}

enum { CHECK_EVERY = 256 /* pixels between two checks for an interrupt */ };

static bool fill_levels(const struct strip *s, const int64_t *edge, size_t levels,
                        sound_line_levels *levels_of, uint16_t *level, struct err *e)
{
    struct sound_row row = {.loudness = SOUND_SILENCE, .peak = SOUND_SILENCE};
    const struct film_sound *sound = report_sound(s->report);
    for (int x = 0; x < s->width; x++) {
        if (x % CHECK_EVERY == 0 && interrupted()) {
            interrupt_error(e);
            return false;
        }
        if (sound)
            film_sound_span(sound, edge[x], edge[x + 1] > edge[x] ? edge[x + 1] : edge[x] + 1,
                            &row);
        levels_of(&row, level + (size_t)x * levels);
    }
    return true;
}

/* Smooths each of the levels along time. */
static bool smooth_levels(const struct strip *s, const int64_t *edge, size_t levels,
                          uint16_t *level, struct err *e)
{
    struct smooth *smooth = smooth_open(edge, (uint64_t)s->width, s->report->picture.smooth_us, e);
    for (size_t k = 0; smooth && k < levels; k++)
        smooth_values(smooth, level + k, levels);
    bool ok = smooth != NULL;
    free(smooth);
    return ok;
}

/*
 * Fills level[s->width][levels]. All are silent if the film has no sound. Returns false if out of
 * memory, or with ERR_INTERRUPTED if interrupted() became true.
 */
static bool sound_line_fill(const struct strip *s, size_t levels, sound_line_levels *levels_of,
                            uint16_t *level, struct err *e)
{
    int64_t *edge = axis_pixel_edges(s->report, (uint64_t)s->width, e);
    if (!edge)
        return false;
    bool ok = fill_levels(s, edge, levels, levels_of, level, e);
    if (ok && s->report->picture.smooth_us > 0)
        ok = smooth_levels(s, edge, levels, level, e);
    free(edge);
    return ok;
}

/* Returns the level of a value on the scale from `least` to `most`. */
static uint16_t level_between(int value, int least, int most)
{
    if (value <= least)
        return 0;
    if (value >= most)
        return SOUND_LINE_FULL;
    return (uint16_t)((value - least) * SOUND_LINE_FULL / (most - least));
}

enum {
    LOUDNESS_LEAST = -500, /* of the scale, in 0.1 LUFS and 0.1 dB; 0 is its end */
    ONE = 256,             /* a row, and full coverage of it */
    LIFT = 64              /* the level that black is brightened to */
};

static const uint8_t ground[3] = {14, 14, 16};

enum { LOUD, PEAK, LEVELS };

/* What a pixel shows. */
struct wave {
    uint32_t half[LEVELS]; /* above and below the middle, in rows / ONE */
    uint8_t rgb[LEVELS][3];
};

static void note_sound(const struct report *r, char *out, size_t size)
{
    if (!report_sound(r))
        snprintf(out, size, "the film has no sound");
    else
        snprintf(out, size, "loudness and peaks, %d to 0 LUFS", LOUDNESS_LEAST / 10);
}

static uint16_t level_of(int value) { return level_between(value, LOUDNESS_LEAST, 0); }

static void wave_levels(const struct sound_row *row, uint16_t *level)
{
    level[LOUD] = level_of(row->loudness);
    level[PEAK] = level_of(row->peak);
}

/* Returns `from` and `to` mixed, `part` / ONE of `to`. */
static uint8_t mix(uint8_t from, uint8_t to, uint32_t part)
{
    return (uint8_t)((from * (ONE - part) + to * part + ONE / 2) / ONE);
}

/* Sets the colours from those of `average`. */
static void set_colours(struct wave *w, const uint8_t rgb[3])
{
    int most = rgb[0] > rgb[1] ? rgb[0] : rgb[1];
    most = most > rgb[2] ? most : rgb[2];
    for (int k = 0; k < 3; k++) {
        w->rgb[LOUD][k] = (uint8_t)(rgb[k] + LIFT * (255 - most) / 255);
        w->rgb[PEAK][k] = mix(ground[k], w->rgb[LOUD][k], ONE * 3 / 8);
    }
}

/* Reads the colours of the pixels: the row that `average` paints at this width. */
static bool fill_colours(const struct strip *s, struct wave *wave, struct err *e)
{
    static const uint8_t grey[3] = {176, 176, 176};
    size_t width = (size_t)s->width;
    if (s->report->film->width == 0) {
        for (size_t x = 0; x < width; x++)
            set_colours(&wave[x], grey);
        return true;
    }
    struct strip *average = strip_open(s->report, strip_find("average", 7), s->width, 1, e);
    if (!average)
        return false;
    uint8_t *rgb = malloc(width * 3);
    if (rgb)
        strip_row(average, 0, rgb);
    for (size_t x = 0; rgb && x < width; x++)
        set_colours(&wave[x], rgb + x * 3);
    strip_free(&average);
    bool ok = rgb || err_memory(e, width * 3);
    free(rgb);
    return ok;
}

static bool open_wave(struct strip *s, struct err *e)
{
    size_t width = (size_t)s->width;
    struct wave *wave = s->state = calloc(width, sizeof *wave);
    uint16_t *level = malloc(width * LEVELS * sizeof *level);
    if (!wave || !level) {
        free(level);
        return err_memory(e, width * (sizeof *wave + LEVELS * sizeof *level));
    }
    bool ok = sound_line_fill(s, LEVELS, wave_levels, level, e) && fill_colours(s, wave, e);
    for (size_t i = 0; ok && i < width * LEVELS; i++)
        wave[i / LEVELS].half[i % LEVELS] =
            (uint32_t)((uint64_t)level[i] * (uint64_t)s->height * (ONE / 2) / SOUND_LINE_FULL);
    free(level);
    return ok;
}

/* Returns how much of the row is within `half` of the middle, 0..ONE. */
static uint32_t covered(const struct strip *s, uint32_t half)
{
    int64_t middle = (int64_t)s->height * (ONE / 2), top = (int64_t)s->y * ONE;
    int64_t from = middle - half > top ? middle - half : top;
    int64_t to = middle + half < top + ONE ? middle + half : top + ONE;
    return to > from ? (uint32_t)(to - from) : 0;
}

static void pixel_sound(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3])
{
    const struct wave *w = (const struct wave *)s->state + i;
    (void)c;
    memcpy(rgb, ground, 3);
    for (int n = LEVELS - 1; n >= 0; n--) {
        uint32_t part = covered(s, w->half[n]);
        for (int k = 0; part > 0 && k < 3; k++)
            rgb[k] = mix(rgb[k], w->rgb[n][k], part);
    }
}

const struct strip_kind strip_sound = {.name = "sound",
                                       .title = "sound",
                                       .caption = "Loudness",
                                       .needs = STRIP_SOUND,
                                       .fit = FIT_TIME,
                                       .named_only = true,
                                       .note = note_sound,
                                       .open = open_wave,
                                       .pixel = pixel_sound};

enum { LEAST = 96, MOST = 232 }; /* of sound_row.band: 0 and SOUND_LINE_FULL */

struct bands {
    uint32_t weight[SOUND_BANDS]; /* of the row; from `first` to `last` */
    uint64_t total;
    int first, last;
    uint16_t level[][SOUND_BANDS]; /* [width] */
};

static void note_spectrum(const struct report *r, char *out, size_t size)
{
    if (!report_sound(r))
        snprintf(out, size, "the film has no sound");
    else
        snprintf(out, size, "%d Hz to %d kHz, logarithmic", SOUND_BAND_LEAST,
                 SOUND_BAND_MOST / 1000);
}

static void band_levels(const struct sound_row *row, uint16_t *level)
{
    for (int b = 0; b < SOUND_BANDS; b++)
        level[b] = level_between(row->band[b], LEAST, MOST);
}

static bool open_bands(struct strip *s, struct err *e)
{
    size_t bytes = sizeof(struct bands) + (size_t)s->width * SOUND_BANDS * sizeof(uint16_t);
    struct bands *bands = s->state = malloc(bytes);
    if (!bands)
        return err_memory(e, bytes);
    return sound_line_fill(s, SOUND_BANDS, band_levels, bands->level[0], e);
}

/* Weighs the bands for a row. Heights are in units of 1 / (2 * rows * bands) of the strip. */
static void row(struct strip *s)
{
    struct bands *bands = s->state;
    int64_t rows = s->height, reach = 2 * (rows > SOUND_BANDS ? rows : SOUND_BANDS);
    int64_t at = (2 * (rows - 1 - s->y) + 1) * SOUND_BANDS, low = rows,
            high = (2 * SOUND_BANDS - 1) * rows;
    at = at < low ? low : at > high ? high : at;
    bands->total = 0;
    bands->first = SOUND_BANDS;
    for (int b = 0; b < SOUND_BANDS; b++) {
        int64_t left = reach - llabs((2 * b + 1) * rows - at);
        bands->weight[b] = left > 0 ? (uint32_t)left : 0;
        bands->total += bands->weight[b];
        if (left > 0)
            bands->last = b;
        if (left > 0 && b < bands->first)
            bands->first = b;
    }
}

static void pixel_spectrum(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3])
{
    const struct bands *bands = s->state;
    uint64_t sum = 0;
    (void)c;
    for (int b = bands->first; b <= bands->last; b++)
        sum += (uint64_t)bands->level[i][b] * bands->weight[b];
    colour_map_at((uint16_t)(sum / bands->total), rgb);
}

const struct strip_kind strip_spectrum = {.name = "spectrum",
                                          .title = "spectrum",
                                          .caption = "Spectrum of the sound",
                                          .needs = STRIP_SOUND,
                                          .fit = FIT_TIME,
                                          .named_only = true,
                                          .note = note_spectrum,
                                          .open = open_bands,
                                          .row = row,
                                          .pixel = pixel_spectrum};
