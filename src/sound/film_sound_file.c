/* film_sound_file.c - film_sound_write and film_sound_read. */
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "film_sound.h"
#include "barcode/sound/spectrogram.h"

enum { ROW_LEAST = 3 + SOUND_BANDS, PEAK_LEAST = 1 /* bytes */, BIN_BITS = 9 };
static const uint64_t SAMPLES_MOST = UINT64_C(2) * SOUND_HOURS_MOST * 3600 * SPECTROGRAM_RATE;

/* Peaks are the centres of diamonds of 61 values that do not overlap (peaks.h). */
static uint64_t peaks_most(uint64_t frames)
{
    return (frames + PEAK_RADIUS) * (SPECTROGRAM_BINS + PEAK_RADIUS) / 61;
}

static uint64_t frames_of(const struct film_sound *s)
{
    return s->samples / SPECTROGRAM_HOP + (s->samples % SPECTROGRAM_HOP != 0);
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
    if (!get_int(in, SOUND_SILENCE, INT16_MAX, &s->loudness) ||
        !get_int(in, 0, INT16_MAX, &s->range) || !get_int(in, SOUND_SILENCE, 0, &s->peak))
        return false;
    uint64_t hops = wire_number(in);
    s->rows = (size_t)wire_number(in);
    s->peaks = (size_t)wire_number(in);
    if (in->failed || s->samples > SAMPLES_MOST || gaps > UINT32_MAX || s->gap_us < 0 || hops < 1 ||
        hops > UINT32_MAX || s->rows > SOUND_ROWS_MOST ||
        s->rows != (frames_of(s) + hops - 1) / hops || s->rows > wire_left(in) / ROW_LEAST ||
        s->peaks > wire_left(in) / PEAK_LEAST || s->peaks > peaks_most(frames_of(s)))
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
    uint64_t frame = 0, frames = frames_of(s);
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
