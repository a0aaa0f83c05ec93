#include "loudness.h"

#include <ebur128.h>
#include <math.h>
#include <stdlib.h>

#include "barcode/sound/spectrogram.h"
#include "downmix.h"

/* A momentary loudness is over 400 ms: it is that of the time 200 ms, about 6 hops, before. */
enum {
    MOMENTARY_LATE = 6,
    ZEROS = 4096,
    RATE_LEAST = 16,
    MODE = EBUR128_MODE_I | EBUR128_MODE_LRA
};

/* Silence after a sound counts until its loudness range, which is over 3 s, has seen all of it. */
enum { SILENT_HOPS = 4 * SPECTROGRAM_RATE / SPECTROGRAM_HOP };

struct loudness {
    ebur128_state *r128; /* NULL: no samples yet, or at a rate below RATE_LEAST */
    int rate, channels;
    uint64_t mask;
    int hop_peak;    /* of the current hop, 0..32768 */
    uint64_t silent; /* hops since the last one with samples */
    uint16_t *peak;  /* [hops] */
    size_t hops, peak_room;
    int16_t *momentary; /* [hops / LOUDNESS_HOPS], 0.1 LUFS */
    size_t moments, momentary_room;
    int16_t zero[ZEROS];
};

struct loudness *loudness_open(struct err *e) { return err_calloc(1, sizeof(struct loudness), e); }

void loudness_free(struct loudness **l)
{
    if (*l) {
        if ((*l)->r128)
            ebur128_destroy(&(*l)->r128);
        free((*l)->peak);
        free((*l)->momentary);
    }
    free(*l);
    *l = NULL;
}

/* ITU-R BS.1770: the channels of 60 to 120 degrees count more, those of low frequency not. */
static int channel_of(uint8_t position, uint64_t mask)
{
    bool sides = mask & (UINT64_C(1) << CHANNEL_SIDE_LEFT | UINT64_C(1) << CHANNEL_SIDE_RIGHT);
    switch (position) {
    case CHANNEL_LOW_FREQUENCY:
    case CHANNEL_LOW_FREQUENCY_2: return EBUR128_UNUSED;
    case CHANNEL_SIDE_LEFT: return EBUR128_LEFT_SURROUND;
    case CHANNEL_SIDE_RIGHT: return EBUR128_RIGHT_SURROUND;
    case CHANNEL_BACK_LEFT: return sides ? EBUR128_Mp135 : EBUR128_LEFT_SURROUND;
    case CHANNEL_BACK_RIGHT: return sides ? EBUR128_Mm135 : EBUR128_RIGHT_SURROUND;
    default: return EBUR128_CENTER;
    }
}

static void set_channels(struct loudness *l)
{
    uint8_t position[SOUND_CHANNELS_MOST];
    bool known = channel_positions(l->mask, l->channels, position);
    for (int c = 0; c < l->channels; c++)
        ebur128_set_channel(l->r128, (unsigned)c,
                            known ? channel_of(position[c], l->mask) : EBUR128_CENTER);
}

bool loudness_format(struct loudness *l, int rate, int channels, uint64_t mask, struct err *e)
{
    if (rate == l->rate && channels == l->channels && mask == l->mask)
        return true;
    l->rate = rate;
    l->channels = channels;
    l->mask = mask;
    if (rate < RATE_LEAST)
        return true;
    int status = EBUR128_SUCCESS;
    if (l->r128)
        status = ebur128_change_parameters(l->r128, (unsigned)channels, (unsigned long)rate);
    else
        l->r128 = ebur128_init((unsigned)channels, (unsigned long)rate, MODE);
    if (!l->r128 || status == EBUR128_ERROR_NOMEM)
        return err_memory(e, sizeof(double) * (size_t)rate * (size_t)channels);
    set_channels(l);
    return true;
}

/* Returns the largest absolute value. */
static int largest(const int16_t *sample, size_t count)
{
    int16_t least = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = sample[i] < least ? sample[i] : least;
        most = sample[i] > most ? sample[i] : most;
    }
    return -least > most ? -least : most;
}

static bool add_frames(struct loudness *l, const int16_t *sample, size_t frames, struct err *e)
{
    if (!l->r128 || l->rate < RATE_LEAST)
        return true;
    return ebur128_add_frames_short(l->r128, sample, frames) == EBUR128_SUCCESS ||
           err_memory(e, frames);
}

bool loudness_push(struct loudness *l, const int16_t *sample, size_t frames, struct err *e)
{
    int peak = largest(sample, frames * (size_t)l->channels);
    l->hop_peak = peak > l->hop_peak ? peak : l->hop_peak;
    l->silent = 0;
    return add_frames(l, sample, frames, e);
}

/* Returns a level in tenths, within what a row has room for. */
static int tenths(double level)
{
    return level > SOUND_SILENCE / 10.0 ? (int)lrint(10 * fmin(level, 99)) : SOUND_SILENCE;
}

static int momentary_now(struct loudness *l)
{
    double level = -HUGE_VAL;
    if (l->r128 && l->rate >= RATE_LEAST && l->silent <= SILENT_HOPS)
        ebur128_loudness_momentary(l->r128, &level);
    return tenths(level);
}

bool loudness_end_hop(struct loudness *l, struct err *e)
{
    if (!err_reserve(&l->peak, l->hops + 1, &l->peak_room, sizeof *l->peak, e))
        return false;
    l->peak[l->hops++] = (uint16_t)l->hop_peak;
    l->hop_peak = 0;
    if (l->hops % LOUDNESS_HOPS != 0)
        return true;
    if (!err_reserve(&l->momentary, l->moments + 1, &l->momentary_room, sizeof *l->momentary, e))
        return false;
    l->momentary[l->moments++] = (int16_t)momentary_now(l);
    return true;
}

/* Adds a hop's time of zeros. */
static bool add_silence(struct loudness *l, struct err *e)
{
    size_t most = ZEROS / (size_t)l->channels;
    size_t left = (size_t)l->rate * SPECTROGRAM_HOP / SPECTROGRAM_RATE;
    while (left > 0) {
        size_t n = left < most ? left : most;
        if (!add_frames(l, l->zero, n, e))
            return false;
        left -= n;
    }
    return true;
}

bool loudness_skip(struct loudness *l, uint64_t hops, struct err *e)
{
    for (; hops > 0; hops--) {
        l->silent++;
        if (l->r128 && l->silent <= SILENT_HOPS && !add_silence(l, e))
            return false;
        if (!loudness_end_hop(l, e))
            return false;
    }
    return true;
}

static int decibels(int peak)
{
    return peak > 0 ? tenths(20 * log10(peak / 32768.0)) : SOUND_SILENCE;
}

void loudness_sum(struct loudness *l, struct film_sound *out)
{
    double level = -HUGE_VAL, range = 0;
    if (l->r128) {
        ebur128_loudness_global(l->r128, &level);
        ebur128_loudness_range(l->r128, &range);
    }
    int peak = 0;
    for (size_t i = 0; i < l->hops; i++)
        peak = l->peak[i] > peak ? l->peak[i] : peak;
    out->loudness = tenths(level);
    out->range = (int)lrint(10 * range);
    out->peak = decibels(peak);
}

void loudness_row(const struct loudness *l, uint64_t first, uint32_t hops, struct sound_row *row)
{
    int peak = 0;
    for (uint64_t i = first; i < first + hops && i < l->hops; i++)
        peak = l->peak[i] > peak ? l->peak[i] : peak;
    uint64_t moment = (first + hops / 2 + MOMENTARY_LATE) / LOUDNESS_HOPS;
    row->peak = (int16_t)decibels(peak);
    row->loudness = SOUND_SILENCE;
    if (l->moments > 0)
        row->loudness = l->momentary[moment < l->moments ? moment : l->moments - 1];
}
