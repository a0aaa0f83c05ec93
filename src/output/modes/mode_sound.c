#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "column_sound.h"
#include "sound_line.h"

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

static uint16_t level_of(int value)
{
    int above = value - LOUDNESS_LEAST, all = -LOUDNESS_LEAST;
    return (uint16_t)(above <= 0     ? 0
                      : above >= all ? SOUND_LINE_FULL
                                     : above * SOUND_LINE_FULL / all);
}

static void take_wave(const struct sound_row *row, uint16_t *level)
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
    size_t width = (size_t)s->width;
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
    bool ok = sound_line_fill(s, LEVELS, take_wave, level, e) && fill_colours(s, wave, e);
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
                                       .needs = STRIP_SOUND,
                                       .fit = FIT_TIME,
                                       .named_only = true,
                                       .note = note_sound,
                                       .open = open_wave,
                                       .pixel = pixel_sound};
