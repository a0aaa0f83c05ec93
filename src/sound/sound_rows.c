#include "sound_rows.h"

#include <stdlib.h>
#include <string.h>

#include "barcode/sound/spectrogram.h"

enum { BINS = SPECTROGRAM_BINS, STEPS = 256 /* of a bin */, POWER_SHIFT = 16 };

/* The bands' edges, 40 * 200^(i / 96) Hz, in 1/256 bins. */
static const uint32_t edge[SOUND_BANDS + 1] = {
    655,   693,    732,    773,    817,    864,    913,   964,   1019,  1077,  1138,  1203,  1271,
    1343,  1419,   1500,   1585,   1675,   1770,   1870,  1976,  2088,  2207,  2332,  2465,  2604,
    2752,  2908,   3073,   3248,   3432,   3627,   3833,  4050,  4280,  4523,  4779,  5051,  5337,
    5640,  5960,   6298,   6655,   7033,   7432,   7854,  8300,  8771,  9268,  9794,  10350, 10937,
    11558, 12214,  12907,  13639,  14413,  15231,  16095, 17008, 17973, 18993, 20071, 21210, 22413,
    23685, 25029,  26449,  27950,  29536,  31211,  32982, 34854, 36832, 38922, 41130, 43464, 45930,
    48536, 51290,  54201,  57276,  60526,  63961,  67590, 71425, 75478, 79761, 84286, 89069, 94123,
    99464, 105107, 111072, 117374, 124034, 131072,
};

/* 2^(16 + i / 256) */
static const uint32_t power_step[256] = {
    65536,  65714,  65892,  66071,  66250,  66429,  66609,  66790,  66971,  67153,  67335,  67517,
    67700,  67884,  68068,  68252,  68438,  68623,  68809,  68996,  69183,  69370,  69558,  69747,
    69936,  70126,  70316,  70507,  70698,  70889,  71082,  71274,  71468,  71661,  71856,  72050,
    72246,  72442,  72638,  72835,  73032,  73230,  73429,  73628,  73828,  74028,  74229,  74430,
    74632,  74834,  75037,  75240,  75444,  75649,  75854,  76060,  76266,  76473,  76680,  76888,
    77096,  77305,  77515,  77725,  77936,  78147,  78359,  78572,  78785,  78998,  79212,  79427,
    79642,  79858,  80075,  80292,  80510,  80728,  80947,  81166,  81386,  81607,  81828,  82050,
    82273,  82496,  82719,  82944,  83169,  83394,  83620,  83847,  84074,  84302,  84531,  84760,
    84990,  85220,  85451,  85683,  85915,  86148,  86382,  86616,  86851,  87086,  87322,  87559,
    87796,  88034,  88273,  88513,  88752,  88993,  89234,  89476,  89719,  89962,  90206,  90451,
    90696,  90942,  91188,  91436,  91684,  91932,  92181,  92431,  92682,  92933,  93185,  93438,
    93691,  93945,  94200,  94455,  94711,  94968,  95226,  95484,  95743,  96002,  96263,  96524,
    96785,  97048,  97311,  97575,  97839,  98104,  98370,  98637,  98905,  99173,  99442,  99711,
    99982,  100253, 100524, 100797, 101070, 101344, 101619, 101895, 102171, 102448, 102726, 103004,
    103283, 103564, 103844, 104126, 104408, 104691, 104975, 105260, 105545, 105831, 106118, 106406,
    106694, 106984, 107274, 107565, 107856, 108149, 108442, 108736, 109031, 109326, 109623, 109920,
    110218, 110517, 110816, 111117, 111418, 111720, 112023, 112327, 112631, 112937, 113243, 113550,
    113858, 114167, 114476, 114787, 115098, 115410, 115723, 116036, 116351, 116667, 116983, 117300,
    117618, 117937, 118257, 118577, 118899, 119221, 119544, 119869, 120194, 120519, 120846, 121174,
    121502, 121832, 122162, 122493, 122825, 123158, 123492, 123827, 124163, 124500, 124837, 125176,
    125515, 125855, 126197, 126539, 126882, 127226, 127571, 127917, 128263, 128611, 128960, 129310,
    129660, 130012, 130364, 130718,
};

/* Sums of the frames of a row. |X|^2 is taken in 2^POWER_SHIFT. */
struct sum {
    uint64_t power, moment; /* of |X|^2 and of it times its bin */
    uint32_t band[SOUND_BANDS];
    uint32_t frames;
};

struct sound_rows {
    uint32_t hops; /* of a row */
    size_t rows;   /* the last one may be incomplete */
    size_t room;
    struct sum *sum;
};

struct sound_rows *sound_rows_open(struct err *e)
{
    struct sound_rows *r = err_calloc(1, sizeof *r, e);
    if (!r)
        return NULL;
    r->hops = 1;
    return r;
}

void sound_rows_free(struct sound_rows **r)
{
    if (*r)
        free((*r)->sum);
    free(*r);
    *r = NULL;
}

/* Returns 2^(value / 256 - POWER_SHIFT). */
static inline uint64_t power_of(int value)
{
    int shift = (value >> 8) - 16 - POWER_SHIFT;
    uint64_t step = power_step[value & 255];
    return shift < 0 ? step >> -shift : step << shift;
}

/* Returns the largest value of a band's bins; if it lies between two bins, one between theirs. */
static uint32_t band_level(const int16_t *value, uint32_t from, uint32_t to)
{
    uint32_t first = (from + STEPS - 1) / STEPS, end = (to + STEPS - 1) / STEPS;
    if (first == end) {
        uint32_t part = (from + to) / 2 % STEPS;
        return ((uint32_t)value[first - 1] * (STEPS - part) + (uint32_t)value[first] * part) /
               STEPS;
    }
    int16_t most = 0;
    for (uint32_t f = first; f < end; f++)
        most = value[f] > most ? value[f] : most;
    return (uint32_t)most;
}

static void add_frame(const int16_t *value, struct sum *sum)
{
    for (int i = 0; i < SOUND_BANDS; i++)
        sum->band[i] += band_level(value, edge[i], edge[i + 1]);
    for (uint32_t f = 0; f < BINS; f++) {
        uint64_t power = power_of(value[f]);
        sum->power += power;
        sum->moment += power * f;
    }
    sum->frames++;
}

static void join(struct sum *to, const struct sum *a, const struct sum *b)
{
    struct sum both = *a;
    for (int i = 0; i < SOUND_BANDS; i++)
        both.band[i] += b->band[i];
    both.power += b->power;
    both.moment += b->moment;
    both.frames += b->frames;
    *to = both;
}

/* Makes one row of each two. There is an even number of them. */
static void double_rows(struct sound_rows *r)
{
    for (size_t i = 0; i < r->rows / 2; i++)
        join(&r->sum[i], &r->sum[2 * i], &r->sum[2 * i + 1]);
    r->rows /= 2;
    r->hops *= 2;
}

bool sound_rows_push(struct sound_rows *r, const int16_t *values, size_t frames, struct err *e)
{
    for (size_t t = 0; t < frames; t++) {
        if (r->rows == 0 || r->sum[r->rows - 1].frames == r->hops) {
            if (r->rows == SOUND_ROWS_MOST)
                double_rows(r);
            if (!err_reserve(&r->sum, r->rows + 1, &r->room, sizeof *r->sum, e))
                return false;
            r->sum[r->rows++] = (struct sum){.frames = 0};
        }
        add_frame(values + t * BINS, &r->sum[r->rows - 1]);
    }
    return true;
}

/* Returns the frequency of the centroid, in Hz: a bin has 15.625. */
static uint16_t centroid(const struct sum *s)
{
    int shift = s->moment >> 54 ? 10 : 0;
    uint64_t power = s->power >> shift, moment = s->moment >> shift;
    return power == 0 ? 0 : (uint16_t)((moment * 125 + 4 * power) / (8 * power));
}

bool sound_rows_finish(struct sound_rows *r, struct film_sound *out, struct err *e)
{
    out->row = err_calloc(r->rows + 1, sizeof *out->row, e);
    if (!out->row)
        return false;
    out->rows = r->rows;
    out->hops = r->hops;
    for (size_t i = 0; i < r->rows; i++) {
        const struct sum *s = &r->sum[i];
        struct sound_row *row = &out->row[i];
        uint64_t most = (uint64_t)SPECTROGRAM_VALUE_MOST * s->frames;
        for (int b = 0; b < SOUND_BANDS; b++)
            row->band[b] = (uint8_t)((s->band[b] * UINT64_C(255) + most / 2) / most);
        row->centroid = centroid(s);
    }
    return true;
}
