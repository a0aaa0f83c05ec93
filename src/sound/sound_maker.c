#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "film_sound.h"
#include "barcode/sound/spectrogram.h"
#include "downmix.h"
#include "loudness.h"
#include "resample.h"
#include "sound_rows.h"

enum { HOP = SPECTROGRAM_HOP, BATCH = 64 /* frames */, ROOM = (BATCH + 1) * HOP, MONO = 4096 };
static const int64_t TIME_MOST_US = SOUND_HOURS_MOST * INT64_C(3600000000);

struct sound_maker {
    sound_spectrum_tap *tap;
    void *user;
    struct sound_device *device; /* NULL: `spectrogram` */
    struct spectrogram *spectrogram;
    struct peaks *peaks;
    struct sound_rows *rows;
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
        !peaks_push(m->peaks, m->value, frames, e) ||
        !sound_rows_push(m->rows, m->value, frames, e))
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
    m->rows = sound_rows_open(e);
    m->loudness = loudness_open(e);
    m->resampler = resampler_open(isa, add_resampled, m, e);
    if (!m->spectrogram || !m->peaks || !m->rows || !m->loudness || !m->resampler)
        sound_maker_free(&m);
    return m;
}

void sound_maker_free(struct sound_maker **m)
{
    if (*m) {
        spectrogram_free(&(*m)->spectrogram);
        peaks_free(&(*m)->peaks);
        sound_rows_free(&(*m)->rows);
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

/*
 * Sets *skip to the number of frames that are cut off the block, and *time_us to the time of the
 * first one that is left.
 */
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
    if (!loudness_end_hops(m->loudness, m->hop + 1, e) ||
        !loudness_end_blocks(m->loudness, m->block + 1, e) || !loudness_sum(m->loudness, out, e) ||
        !peaks_finish(m->peaks, e) || !sound_rows_finish(m->rows, out, e) ||
        !copy_peaks(m, out, e)) {
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
