#include "film_sound.h"

#include <stdlib.h>

#include "barcode/sound/spectrogram.h"

enum { LEVEL_MOST = 99 /* 0.1 LUFS: the most that a row has */ };

/* 2^20 * 10^(i / 100) */
static const uint32_t tenth[100] = {
    1048576, 1073000, 1097994, 1123569, 1149741, 1176522, 1203926, 1231969, 1260666,  1290030,
    1320079, 1350828, 1382292, 1414490, 1447438, 1481153, 1515653, 1550958, 1587084,  1624052,
    1661881, 1700591, 1740203, 1780738, 1822216, 1864661, 1908095, 1952540, 1998020,  2044560,
    2092184, 2140917, 2190786, 2241816, 2294034, 2347469, 2402149, 2458102, 2515359,  2573949,
    2633904, 2695255, 2758036, 2822279, 2888018, 2955289, 3024126, 3094567, 3166649,  3240410,
    3315888, 3393125, 3472161, 3553038, 3635799, 3720488, 3807149, 3895829, 3986575,  4079434,
    4174456, 4271692, 4371192, 4473010, 4577200, 4683817, 4792917, 4904558, 5018800,  5135703,
    5255329, 5377741, 5503005, 5631187, 5762354, 5896576, 6033925, 6174473, 6318295,  6465467,
    6616067, 6770175, 6927873, 7089244, 7254374, 7423350, 7596262, 7773201, 7954262,  8139541,
    8329135, 8523146, 8721675, 8924829, 9132715, 9345443, 9563127, 9785881, 10013823, 10247075,
};

void film_sound_free(struct film_sound *s)
{
    free(s->row);
    free(s->point);
    *s = (struct film_sound){.stream = -1};
}

/* Returns the power of a loudness, SOUND_SILENCE..LEVEL_MOST: below 2^47. */
static uint64_t power_of(int loudness)
{
    int i = loudness - SOUND_SILENCE;
    uint64_t power = tenth[i % 100];
    for (int decade = i / 100; decade > 0; decade--)
        power *= 10;
    return power;
}

/* Returns the loudness with the nearest power. */
static int loudness_of(uint64_t power)
{
    int least = SOUND_SILENCE, most = LEVEL_MOST;
    while (least < most) {
        int middle = least + (most - least + 1) / 2;
        if (power_of(middle) <= power)
            least = middle;
        else
            most = middle - 1;
    }
    bool nearer = least < LEVEL_MOST && power > power_of(least) &&
                  power - power_of(least) > power_of(least + 1) - power;
    return least + nearer;
}

static int clamped(int loudness)
{
    return loudness < SOUND_SILENCE ? SOUND_SILENCE : loudness > LEVEL_MOST ? LEVEL_MOST : loudness;
}

static void sum_rows(const struct film_sound *s, size_t first, size_t rows, struct sound_row *out)
{
    uint64_t power = 0, weight = 0, moment = 0, band[SOUND_BANDS] = {0};
    if (rows == 0)
        return;
    for (size_t i = first; i < first + rows; i++) {
        const struct sound_row *row = &s->row[i];
        uint64_t its = power_of(clamped(row->loudness));
        power += its;
        if (row->centroid > 0) {
            weight += its >> 14;
            moment += (its >> 14) * row->centroid;
        }
        out->peak = row->peak > out->peak ? row->peak : out->peak;
        for (int b = 0; b < SOUND_BANDS; b++)
            band[b] += row->band[b];
    }
    out->loudness = (int16_t)loudness_of(power / rows);
    if (weight > 0)
        out->centroid = (uint16_t)((moment + weight / 2) / weight);
    for (int b = 0; b < SOUND_BANDS; b++)
        out->band[b] = (uint8_t)((band[b] + rows / 2) / rows);
}

void film_sound_span(const struct film_sound *s, int64_t from_us, int64_t to_us,
                     struct sound_row *out)
{
    *out = (struct sound_row){.loudness = SOUND_SILENCE, .peak = SOUND_SILENCE};
    if (s->rows == 0 || to_us <= from_us || to_us <= 0)
        return;
    uint64_t row_us = s->hops * UINT64_C(1000000) * SPECTROGRAM_HOP / SPECTROGRAM_RATE;
    uint64_t first = from_us > 0 ? (uint64_t)from_us / row_us : 0;
    uint64_t end = ((uint64_t)to_us - 1) / row_us + 1;
    end = end < s->rows ? end : s->rows;
    sum_rows(s, (size_t)first, first < end ? (size_t)(end - first) : 0, out);
}
