#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "film_sound.h"
#include "barcode/sound/spectrogram.h"
#include "downmix.h"
#include "loudness.h"
#include "resample.h"

/* ---- Rows of bands and centroids; when there are SOUND_ROWS_MOST, each two become one ---- */

enum { STEPS = 256 /* of a bin */, POWER_SHIFT = 16 };

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
    uint32_t hops; /* of a row; at first 1 */
    size_t rows;   /* the last one may be incomplete */
    size_t room;
    struct sum *sum;
};

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
    for (uint32_t f = 0; f < SPECTROGRAM_BINS; f++) {
        uint64_t power = power_of(value[f]);
        sum->power += power;
        sum->moment += power * f;
    }
    sum->frames++;
}

static void join_rows(struct sum *to, const struct sum *a, const struct sum *b)
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
        join_rows(&r->sum[i], &r->sum[2 * i], &r->sum[2 * i + 1]);
    r->rows /= 2;
    r->hops *= 2;
}

/* Adds frames, values[frames][SPECTROGRAM_BINS]. */
static bool add_frames(struct sound_rows *r, const int16_t *values, size_t frames, struct err *e)
{
    for (size_t t = 0; t < frames; t++) {
        if (r->rows == 0 || r->sum[r->rows - 1].frames == r->hops) {
            if (r->rows == SOUND_ROWS_MOST)
                double_rows(r);
            if (!err_reserve(&r->sum, r->rows + 1, &r->room, sizeof *r->sum, e))
                return false;
            r->sum[r->rows++] = (struct sum){.frames = 0};
        }
        add_frame(values + t * SPECTROGRAM_BINS, &r->sum[r->rows - 1]);
    }
    return true;
}

/* Returns the frequency of the centroid, in Hz: a bin has 15.625. */
static uint16_t centroid_of(const struct sum *s)
{
    int shift = s->moment >> 54 ? 10 : 0;
    uint64_t power = s->power >> shift, moment = s->moment >> shift;
    return power == 0 ? 0 : (uint16_t)((moment * 125 + 4 * power) / (8 * power));
}

/* Sets rows, row and hops of *out, but for loudness and peaks. */
static bool finish_rows(struct sound_rows *r, struct film_sound *out, struct err *e)
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
        row->centroid = centroid_of(s);
    }
    return true;
}

/* ---- The sound ---- */

enum { HOP = SPECTROGRAM_HOP, BATCH = 64 /* frames */, ROOM = (BATCH + 1) * HOP, MONO = 4096 };
static const int64_t TIME_MOST_US = SOUND_HOURS_MOST * INT64_C(3600000000);

struct sound_maker {
    sound_spectrum_tap *tap;
    void *user;
    struct sound_device *device; /* NULL: `spectrogram` */
    struct spectrogram *spectrogram;
    struct peaks *peaks;
    struct sound_rows rows;
    struct loudness *loudness;
    struct resampler *resampler;
    /* The sound since the last gap or change of its format. */
    struct downmix downmix;
    uint64_t mask;
    int rate;         /* 0: none yet */
    int64_t start_us; /* of its first frame */
    uint64_t start;   /* the same at SPECTROGRAM_RATE */
    uint64_t frames;
    /* Of the film. */
    uint64_t samples;    /* at SPECTROGRAM_RATE */
    uint64_t hop, block; /* that loudness is in */
    uint32_t gaps;
    int64_t gap_us;
    size_t filled; /* of `sample`, of which the first one begins a frame */
    int16_t sample[ROOM];
    int16_t value[BATCH * SPECTROGRAM_BINS];
    int16_t mono[MONO];
};

static bool is_silent(const int16_t *sample, size_t count)
{
    int any = 0;
    for (size_t i = 0; i < count; i++)
        any |= sample[i];
    return any == 0;
}

/* Computes the next frames, at most BATCH, and drops their hops. A gap may be long. */
static bool compute_frames(struct sound_maker *m, size_t frames, struct err *e)
{
    if (interrupted())
        return interrupt_error(e);
    if (is_silent(m->sample, m->filled))
        memset(m->value, 0, frames * SPECTROGRAM_BINS * sizeof *m->value);
    else if (!m->device)
        spectrogram_run(m->spectrogram, m->sample, m->filled, frames, m->value);
    else if (!m->device->spectrogram(m->device, m->sample, m->filled, frames, m->value, e))
        return false;
    if ((m->tap && !m->tap(m->user, m->value, frames, e)) ||
        !peaks_push(m->peaks, m->value, frames, e) || !add_frames(&m->rows, m->value, frames, e))
        return false;
    size_t done = frames * HOP < m->filled ? frames * HOP : m->filled;
    m->filled -= done;
    memmove(m->sample, m->sample + done, m->filled * sizeof *m->sample);
    return true;
}

/* Adds samples at SPECTROGRAM_RATE, or zeros if `samples` is NULL. */
static bool add_samples(struct sound_maker *m, const int16_t *samples, uint64_t count,
                        struct err *e)
{
    m->samples += count;
    while (count > 0) {
        size_t n = ROOM - m->filled < count ? ROOM - m->filled : (size_t)count;
        if (samples)
            memcpy(m->sample + m->filled, samples, n * sizeof *samples);
        else
            memset(m->sample + m->filled, 0, n * sizeof *m->sample);
        m->filled += n;
        samples = samples ? samples + n : NULL;
        count -= n;
        if (m->filled == ROOM && !compute_frames(m, BATCH, e))
            return false;
    }
    return true;
}

static bool add_resampled(void *user, const int16_t *samples, size_t count, struct err *e)
{
    return add_samples(user, samples, count, e);
}

struct sound_maker *sound_maker_open(enum isa isa, struct sound_device *device,
                                     sound_spectrum_tap *tap, void *user, struct err *e)
{
    struct sound_maker *m = err_calloc(1, sizeof *m, e);
    if (!m)
        return NULL;
    m->tap = tap;
    m->user = user;
    m->device = device;
    m->spectrogram = spectrogram_open(isa, e);
    m->peaks = peaks_open(PEAK_FLOOR, device, e);
    m->rows.hops = 1;
    m->loudness = loudness_open(e);
    m->resampler = resampler_open(isa, add_resampled, m, e);
    if (!m->spectrogram || !m->peaks || !m->loudness || !m->resampler)
        sound_maker_free(&m);
    return m;
}

void sound_maker_free(struct sound_maker **m)
{
    if (*m) {
        spectrogram_free(&(*m)->spectrogram);
        peaks_free(&(*m)->peaks);
        free((*m)->rows.sum);
        loudness_free(&(*m)->loudness);
        resampler_free(&(*m)->resampler);
    }
    free(*m);
    *m = NULL;
}

/* Returns the time of the end of what was pushed. */
static int64_t end_us(const struct sound_maker *m)
{
    return m->rate ? m->start_us + (int64_t)(m->frames * 1000000 / (uint64_t)m->rate) : 0;
}

/* Begins sound of the block's format at a time that is not before the end. */
static bool begin_sound(struct sound_maker *m, const struct sound_block *b, int64_t time_us,
                        struct err *e)
{
    if (m->rate && !resampler_end(m->resampler, e))
        return false;
    uint64_t start = ((uint64_t)time_us * 2 + 62) / 125; /* 16 samples a millisecond */
    if (start > m->samples && !add_samples(m, NULL, start - m->samples, e))
        return false;
    m->start = m->samples;
    m->start_us = time_us;
    m->frames = 0;
    m->hop = m->start / HOP > m->hop ? m->start / HOP : m->hop;
    m->block = m->start / LOUDNESS_BLOCK > m->block ? m->start / LOUDNESS_BLOCK : m->block;
    if (!loudness_end_hops(m->loudness, m->hop, e) ||
        !loudness_end_blocks(m->loudness, m->block, e))
        return false;
    m->rate = b->rate;
    m->mask = b->mask;
    downmix_init(&m->downmix, b->channels, b->mask);
    loudness_format(m->loudness, b->rate, b->channels, b->mask);
    return resampler_begin(m->resampler, b->rate, e);
}

/* Returns the number of frames from the sound's start to the end of a hop or block. */
static uint64_t end_of(const struct sound_maker *m, uint64_t index, uint64_t length)
{
    uint64_t samples = (index + 1) * length - m->start;
    return (samples * (uint64_t)m->rate + SPECTROGRAM_RATE - 1) / SPECTROGRAM_RATE;
}

/* Adds frames to what is measured at the film's own rate. */
static bool add_loudness(struct sound_maker *m, const int16_t *sample, size_t frames, struct err *e)
{
    while (frames > 0) {
        uint64_t hop = end_of(m, m->hop, HOP), block = end_of(m, m->block, LOUDNESS_BLOCK);
        uint64_t left = (hop < block ? hop : block) - m->frames;
        size_t n = left < frames ? (size_t)left : frames;
        loudness_push(m->loudness, sample, n);
        m->frames += n;
        sample += n * (size_t)m->downmix.channels;
        frames -= n;
        while (end_of(m, m->hop, HOP) <= m->frames)
            m->hop++;
        while (end_of(m, m->block, LOUDNESS_BLOCK) <= m->frames)
            m->block++;
        if (!loudness_end_hops(m->loudness, m->hop, e) ||
            !loudness_end_blocks(m->loudness, m->block, e))
            return false;
    }
    return true;
}

static bool add_mono(struct sound_maker *m, const int16_t *sample, size_t frames, struct err *e)
{
    while (frames > 0) {
        size_t n = frames < MONO ? frames : MONO;
        downmix_run(&m->downmix, sample, n, m->mono);
        if (!resampler_push(m->resampler, m->mono, n, e))
            return false;
        sample += n * (size_t)m->downmix.channels;
        frames -= n;
    }
    return true;
}

/* Returns how many frames of the block are before a time, which is at most 2^62 us after it. */
static size_t frames_before(const struct sound_block *b, int64_t us)
{
    if (us / 1000000 > (int64_t)b->frames / b->rate)
        return b->frames;
    uint64_t n = ((uint64_t)us * (uint64_t)b->rate + 999999) / 1000000;
    return n < b->frames ? (size_t)n : b->frames;
}

/* Sets *skip to the frames that are cut off the block, and *time_us to the time of the next. */
static void place_block(const struct sound_maker *m, const struct sound_block *b, size_t *skip,
                        int64_t *time_us)
{
    int64_t end = end_us(m), jitter = m->rate ? SOUND_JITTER_US : 0;
    *skip = 0;
    *time_us = end;
    if (b->time_us == INT64_MIN)
        return;
    if (b->time_us > end + jitter)
        *time_us = b->time_us;
    else if (b->time_us < end - jitter)
        *skip = frames_before(b, end - (b->time_us > -TIME_MOST_US ? b->time_us : -TIME_MOST_US));
}

bool sound_maker_push(struct sound_maker *m, const struct sound_block *b, struct err *e)
{
    size_t skip;
    int64_t time_us;
    if (b->channels < 1 || b->channels > SOUND_CHANNELS_MOST || b->rate < 1 ||
        b->rate > RESAMPLE_RATE_MOST)
        return err_set(e, ERR_FAILED, "sound of %d channels at %d Hz", b->channels, b->rate);
    place_block(m, b, &skip, &time_us);
    if (skip >= b->frames || time_us > TIME_MOST_US)
        return true;
    bool gap = time_us > end_us(m);
    if (gap && m->rate) {
        m->gaps++;
        m->gap_us += time_us - end_us(m);
    }
    if ((gap || b->rate != m->rate || b->channels != m->downmix.channels || b->mask != m->mask) &&
        !begin_sound(m, b, time_us, e))
        return false;
    const int16_t *sample = b->sample + skip * (size_t)b->channels;
    return add_mono(m, sample, b->frames - skip, e) && add_loudness(m, sample, b->frames - skip, e);
}

static bool copy_peaks(const struct sound_maker *m, struct film_sound *out, struct err *e)
{
    const struct peak *peak = peaks_list(m->peaks, &out->peaks);
    out->point = err_calloc(out->peaks + 1, sizeof *out->point, e);
    if (out->point && out->peaks > 0)
        memcpy(out->point, peak, out->peaks * sizeof *peak);
    return out->point != NULL;
}

bool sound_maker_finish(struct sound_maker *m, struct film_sound *out, struct err *e)
{
    if (m->rate && !resampler_end(m->resampler, e))
        return false;
    while (m->filled > 0) {
        size_t frames = spectrogram_frames(m->filled);
        if (!compute_frames(m, frames < BATCH ? frames : BATCH, e))
            return false;
    }
    out->row = NULL;
    out->point = NULL;
    if (!loudness_end_hops(m->loudness, m->hop + 1, e) || !loudness_sum(m->loudness, out, e) ||
        !loudness_end_blocks(m->loudness, m->block + 1, e) || !peaks_finish(m->peaks, e) ||
        !finish_rows(&m->rows, out, e) || !copy_peaks(m, out, e)) {
        film_sound_free(out);
        return false;
    }
    out->samples = m->samples;
    out->gaps = m->gaps;
    out->gap_us = m->gap_us;
    for (size_t i = 0; i < out->rows; i++)
        loudness_row(m->loudness, i * out->hops, out->hops, &out->row[i]);
    return true;
}
