#include "film_sound.h"

#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
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

/* ---- The cache ---- */

enum { ROW_LEAST = 3 + SOUND_BANDS, PEAK_LEAST = 1 /* bytes */, BIN_BITS = 9 };
static const uint64_t SAMPLES_MOST = UINT64_C(2) * SOUND_HOURS_MOST * 3600 * SPECTROGRAM_RATE;

/* Peaks are the centres of diamonds of 61 values that do not overlap (peaks.h). */
static uint64_t peaks_most(uint64_t frames)
{
    return (frames + PEAK_RADIUS) * (SPECTROGRAM_BINS + PEAK_RADIUS) / 61;
}

/* ---- Writing ---- */

static void put_text(struct wire_out *o, const char *text)
{
    wire_put_number(o, strlen(text));
    wire_put(o, text, strlen(text));
}

static void put_facts(struct wire_out *o, const struct film_sound *s)
{
    wire_put_number(o, SOUND_VERSION);
    wire_put_signed(o, s->stream);
    wire_put_signed(o, s->rate);
    wire_put_signed(o, s->channels);
    put_text(o, s->codec);
    put_text(o, s->decoder);
    put_text(o, s->layout);
    wire_put_number(o, s->samples);
    wire_put_number(o, s->gaps);
    wire_put_signed(o, s->gap_us);
    wire_put_number(o, s->errors);
    wire_put_signed(o, s->loudness);
    wire_put_signed(o, s->range);
    wire_put_signed(o, s->peak);
    wire_put_number(o, s->hops);
    wire_put_number(o, s->rows);
    wire_put_number(o, s->peaks);
}

/* A row's numbers are differences from the row before; bands modulo 256. */
static void put_row(struct wire_out *o, const struct sound_row *row, const struct sound_row *before)
{
    uint8_t band[SOUND_BANDS];
    wire_put_signed(o, row->loudness - before->loudness);
    wire_put_signed(o, row->peak - before->peak);
    wire_put_signed(o, row->centroid - before->centroid);
    for (int b = 0; b < SOUND_BANDS; b++)
        band[b] = (uint8_t)(row->band[b] - before->band[b]);
    wire_put(o, band, sizeof band);
}

bool film_sound_write(const struct film_sound *s, uint8_t **bytes, size_t *count, struct err *e)
{
    struct wire_out o = {0};
    const struct sound_row none = {0};
    uint32_t frame = 0;
    put_facts(&o, s);
    for (size_t i = 0; i < s->rows; i++)
        put_row(&o, &s->row[i], i > 0 ? &s->row[i - 1] : &none);
    for (size_t i = 0; i < s->peaks; i++) {
        const struct peak *p = &s->point[i];
        wire_put_number(&o, (uint64_t)(p->frame - frame) << (BIN_BITS + 1) | (uint64_t)p->bin << 1 |
                                p->wide);
        frame = p->frame;
    }
    if (o.failed) {
        wire_free(&o);
        return err_memory(e, s->rows * sizeof *s->row);
    }
    *bytes = o.data;
    *count = o.count;
    return true;
}

/* ---- Reading ---- */

static bool get_text(struct wire_in *in, char text[SOUND_NAME])
{
    uint64_t length = wire_number(in);
    if (in->failed || length >= SOUND_NAME || length > wire_left(in))
        return false;
    for (size_t i = 0; i < length; i++) {
        text[i] = (char)in->at[i];
        if (text[i] < ' ' || text[i] > '~')
            return false;
    }
    in->at += length;
    return true;
}

/* Reads a number within least..most. */
static bool get_int(struct wire_in *in, int64_t least, int64_t most, int *to)
{
    int64_t value = wire_signed(in);
    *to = (int)value;
    return !in->failed && value >= least && value <= most;
}

static bool get_facts(struct film_sound *s, struct wire_in *in)
{
    if (wire_number(in) != SOUND_VERSION || !get_int(in, -1, INT16_MAX, &s->stream) ||
        !get_int(in, 0, INT32_MAX, &s->rate) || !get_int(in, 0, INT16_MAX, &s->channels) ||
        !get_text(in, s->codec) || !get_text(in, s->decoder) || !get_text(in, s->layout))
        return false;
    s->samples = wire_number(in);
    uint64_t gaps = wire_number(in);
    s->gap_us = wire_signed(in);
    s->errors = wire_number(in);
    if (!get_int(in, SOUND_NONE, INT16_MAX, &s->loudness) ||
        !get_int(in, 0, INT16_MAX, &s->range) || !get_int(in, SOUND_SILENCE, 0, &s->peak))
        return false;
    uint64_t hops = wire_number(in);
    s->rows = (size_t)wire_number(in);
    s->peaks = (size_t)wire_number(in);
    if (in->failed || s->samples > SAMPLES_MOST || gaps > UINT32_MAX || s->gap_us < 0 || hops < 1 ||
        hops > UINT32_MAX || s->rows > SOUND_ROWS_MOST ||
        s->rows != (spectrogram_frames(s->samples) + hops - 1) / hops ||
        s->rows > wire_left(in) / ROW_LEAST || s->peaks > wire_left(in) / PEAK_LEAST ||
        s->peaks > peaks_most(spectrogram_frames(s->samples)))
        return false;
    s->gaps = (uint32_t)gaps;
    s->hops = (uint32_t)hops;
    return true;
}

static bool get_row(struct wire_in *in, const struct sound_row *before, struct sound_row *row)
{
    int64_t loudness = before->loudness + wire_signed(in) % 65536;
    int64_t peak = before->peak + wire_signed(in) % 65536;
    int64_t centroid = before->centroid + wire_signed(in) % 65536;
    if (in->failed || wire_left(in) < SOUND_BANDS || loudness < SOUND_SILENCE ||
        loudness > INT16_MAX || peak < SOUND_SILENCE || peak > 0 || centroid < 0 ||
        centroid > UINT16_MAX)
        return false;
    row->loudness = (int16_t)loudness;
    row->peak = (int16_t)peak;
    row->centroid = (uint16_t)centroid;
    for (int b = 0; b < SOUND_BANDS; b++)
        row->band[b] = (uint8_t)(before->band[b] + in->at[b]);
    in->at += SOUND_BANDS;
    return true;
}

/* Peaks are by frame, then bin, as peaks_list has them. */
static bool get_peaks(struct film_sound *s, struct wire_in *in)
{
    uint64_t frame = 0, frames = spectrogram_frames(s->samples);
    for (size_t i = 0; i < s->peaks; i++) {
        uint64_t word = wire_number(in), step = word >> (BIN_BITS + 1);
        unsigned bin = word >> 1 & (SPECTROGRAM_BINS - 1);
        if (in->failed || step >= frames - frame ||
            (i > 0 && step == 0 && bin <= s->point[i - 1].bin))
            return false;
        frame += step;
        s->point[i] = (struct peak){
            .frame = (uint32_t)frame, .bin = (uint16_t)bin, .wide = (uint16_t)(word & 1)};
    }
    return true;
}

bool film_sound_read(struct film_sound *s, const uint8_t *bytes, size_t count, struct err *e)
{
    const struct sound_row none = {0};
    struct wire_in in = wire_read(bytes, count);
    *s = (struct film_sound){.stream = -1};
    bool ok = get_facts(s, &in);
    if (ok) {
        s->row = err_calloc(s->rows + 1, sizeof *s->row, e);
        s->point = err_calloc(s->peaks + 1, sizeof *s->point, e);
        ok = s->row && s->point;
    }
    for (size_t i = 0; ok && i < s->rows; i++)
        ok = get_row(&in, i > 0 ? &s->row[i - 1] : &none, &s->row[i]);
    ok = ok && get_peaks(s, &in) && wire_left(&in) == 0;
    if (!ok) {
        film_sound_free(s);
        err_set(e, ERR_INPUT, "the stored sound is invalid");
    }
    return ok;
}
