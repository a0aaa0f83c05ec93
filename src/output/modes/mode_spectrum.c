#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "colour_map.h"
#include "column_sound.h"
#include "sound_line.h"

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

static void take_bands(const struct sound_row *row, uint16_t *level)
{
    for (int b = 0; b < SOUND_BANDS; b++) {
        int above = row->band[b] - LEAST, all = MOST - LEAST;
        level[b] = (uint16_t)(above <= 0     ? 0
                              : above >= all ? SOUND_LINE_FULL
                                             : above * SOUND_LINE_FULL / all);
    }
}

static bool open_bands(struct strip *s, struct err *e)
{
    size_t bytes = sizeof(struct bands) + (size_t)s->width * SOUND_BANDS * sizeof(uint16_t);
    struct bands *bands = s->state = malloc(bytes);
    return bands ? sound_line_fill(s, SOUND_BANDS, take_bands, bands->level[0], e)
                 : err_memory(e, bytes);
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
                                          .needs = STRIP_SOUND,
                                          .fit = FIT_TIME,
                                          .named_only = true,
                                          .note = note_spectrum,
                                          .open = open_bands,
                                          .row = row,
                                          .pixel = pixel_spectrum};
