#include "downmix.h"

#include <string.h>

static int weight_of(uint8_t position)
{
    switch (position) {
    case CHANNEL_FRONT_LEFT:
    case CHANNEL_FRONT_RIGHT:
    case CHANNEL_FRONT_CENTRE:
    case CHANNEL_FRONT_LEFT_OF_CENTRE:
    case CHANNEL_FRONT_RIGHT_OF_CENTRE:
    case CHANNEL_STEREO_LEFT:
    case CHANNEL_STEREO_RIGHT:
    case CHANNEL_WIDE_LEFT:
    case CHANNEL_WIDE_RIGHT: return 2;
    case CHANNEL_LOW_FREQUENCY:
    case CHANNEL_LOW_FREQUENCY_2: return 0;
    default: return 1;
    }
}

bool channel_positions(uint64_t mask, int channels, uint8_t position[SOUND_CHANNELS_MOST])
{
    if (__builtin_popcountll(mask) != channels)
        return false;
    for (int c = 0; c < channels; c++, mask &= mask - 1)
        position[c] = (uint8_t)__builtin_ctzll(mask);
    return true;
}

void downmix_init(struct downmix *d, int channels, uint64_t mask)
{
    uint8_t position[SOUND_CHANNELS_MOST];
    bool known = channel_positions(mask, channels, position);
    *d = (struct downmix){.channels = channels, .only = -1};
    for (int c = 0; c < channels; c++) {
        d->weight[c] = (int16_t)(known ? weight_of(position[c]) : 1);
        d->sum += (uint32_t)d->weight[c];
    }
    if (d->sum == 0) {
        d->sum = (uint32_t)channels;
        for (int c = 0; c < channels; c++)
            d->weight[c] = 1;
    }
    uint32_t twice = 2 * d->sum;
    d->reciprocal = (uint32_t)(((UINT64_C(1) << 32) + twice - 1) / twice);
}

/*
 * Returns round(sum / d->sum). The dividend is made positive by 65536 * 2 * 128 / 2 at most: it is
 * below 2^24, and the divisor at most 2^8, so that the reciprocal's error stays below 1.
 */
static inline int16_t divided(const struct downmix *d, int32_t sum)
{
    uint32_t dividend = (uint32_t)(2 * sum + (int32_t)d->sum * (2 * 32768 + 1));
    return (int16_t)((int32_t)(((uint64_t)dividend * d->reciprocal) >> 32) - 32768);
}

/* `channels` is a constant where it is called, so that the inner loop is unrolled. */
static inline void mix(const struct downmix *d, int channels, const int16_t *in, size_t frames,
                       int16_t *out)
{
    int16_t weight[SOUND_CHANNELS_MOST];
    memcpy(weight, d->weight, sizeof weight);
    for (size_t i = 0; i < frames; i++) {
        int32_t sum = 0;
        for (int c = 0; c < channels; c++)
            sum += weight[c] * in[i * (size_t)channels + (size_t)c];
        out[i] = divided(d, sum);
    }
}

static void mix_frames(const struct downmix *d, const int16_t *in, size_t frames, int16_t *out)
{
    switch (d->channels) {
    case 2: mix(d, 2, in, frames, out); break;
    case 6: mix(d, 6, in, frames, out); break;
    case 8: mix(d, 8, in, frames, out); break;
    default: mix(d, d->channels, in, frames, out);
    }
}

/* Returns the sum of the squares of each `step`th sample. */
static inline uint64_t sum_squares(const int16_t *sample, size_t frames, size_t step)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < frames; i++)
        sum += (uint32_t)(sample[i * step] * sample[i * step]);
    return sum;
}

/* Chooses what the next block is, by the powers of the one that ends. */
static void end_block(struct downmix *d)
{
    uint64_t unrelated = 0;
    int loudest = 0;
    for (int c = 0; c < d->channels; c++) {
        unrelated += d->power[c] * (uint64_t)d->weight[c];
        loudest = d->power[c] > d->power[loudest] ? c : loudest;
    }
    unrelated /= (uint64_t)d->sum * d->sum;
    /* the mix is rounded */
    d->only = unrelated > DOWNMIX_CANCELLED * (d->mixed + d->frames) ? loudest : -1;
    d->frames = d->mixed = 0;
    memset(d->power, 0, sizeof d->power);
}

void downmix_run(struct downmix *d, const int16_t *in, size_t frames, int16_t *out)
{
    const size_t channels = (size_t)d->channels;
    if (channels == 1) {
        memcpy(out, in, frames * sizeof *out);
        return;
    }
    for (size_t n; frames > 0; frames -= n, in += n * channels, out += n) {
        n = DOWNMIX_BLOCK - d->frames < frames ? DOWNMIX_BLOCK - d->frames : frames;
        mix_frames(d, in, n, out);
        d->mixed += sum_squares(out, n, 1);
        for (size_t c = 0; c < channels; c++)
            d->power[c] += sum_squares(in + c, n, channels) * (uint64_t)d->weight[c];
        for (size_t i = 0; d->only >= 0 && i < n; i++)
            out[i] = in[i * channels + (size_t)d->only];
        d->frames += n;
        if (d->frames == DOWNMIX_BLOCK)
            end_block(d);
    }
}
