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
    *d = (struct downmix){.channels = channels};
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

void downmix_run(const struct downmix *d, const int16_t *in, size_t frames, int16_t *out)
{
    switch (d->channels) {
    case 1: memcpy(out, in, frames * sizeof *out); break;
    case 2: mix(d, 2, in, frames, out); break;
    case 6: mix(d, 6, in, frames, out); break;
    case 8: mix(d, 8, in, frames, out); break;
    default: mix(d, d->channels, in, frames, out);
    }
}
