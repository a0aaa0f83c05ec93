/*
 * downmix.h - one channel from all of a block's.
 *
 * out = round(sum of w(c) x(c) / sum of w(c)), halves upwards. w is 2 for the front channels, 0 for
 * those of low frequency, 1 for the others: 5.1 gives (2L + 2R + 2C + Ls + Rs) / 8. If the mask is
 * 0, does not have as many channels, or has no channel of a weight, all channels count the same.
 */
#ifndef BARCODE_SRC_DOWNMIX_H
#define BARCODE_SRC_DOWNMIX_H

#include <stddef.h>
#include <stdint.h>

#include "film_sound.h"

/* Positions in FFmpeg's channel mask (AV_CHAN_*). */
enum {
    CHANNEL_FRONT_LEFT,
    CHANNEL_FRONT_RIGHT,
    CHANNEL_FRONT_CENTRE,
    CHANNEL_LOW_FREQUENCY,
    CHANNEL_BACK_LEFT,
    CHANNEL_BACK_RIGHT,
    CHANNEL_FRONT_LEFT_OF_CENTRE,
    CHANNEL_FRONT_RIGHT_OF_CENTRE,
    CHANNEL_BACK_CENTRE,
    CHANNEL_SIDE_LEFT,
    CHANNEL_SIDE_RIGHT,
    CHANNEL_STEREO_LEFT = 29,
    CHANNEL_STEREO_RIGHT,
    CHANNEL_WIDE_LEFT,
    CHANNEL_WIDE_RIGHT,
    CHANNEL_SURROUND_DIRECT_LEFT,
    CHANNEL_SURROUND_DIRECT_RIGHT,
    CHANNEL_LOW_FREQUENCY_2,
    CHANNEL_BOTTOM_FRONT_CENTRE = 38,
    CHANNEL_SIDE_SURROUND_LEFT = 41,
    CHANNEL_SIDE_SURROUND_RIGHT
};

/* Writes each channel's position in the mask. Returns false if it does not have as many. */
bool channel_positions(uint64_t mask, int channels, uint8_t position[SOUND_CHANNELS_MOST]);

enum { DOWNMIX_BLOCK = 4096, DOWNMIX_CANCELLED = 64 };

struct downmix {
    int channels;
    int16_t weight[SOUND_CHANNELS_MOST];
    uint32_t sum;        /* of the weights */
    uint32_t reciprocal; /* of 2 sum, rounded up, in 32 bits: exact for what is divided */
    int only;            /* the channel that is the current block; -1: the mix */
    size_t frames;       /* of the current block so far */
    uint64_t mixed;      /* sum of the mix's squares in it */
    uint64_t power[SOUND_CHANNELS_MOST]; /* of the channels', times their weight */
};

void downmix_init(struct downmix *d, int channels, uint64_t mask);

/* Computes out[frames] from in[frames][channels], which follow those of the last call. */
void downmix_run(struct downmix *d, const int16_t *in, size_t frames, int16_t *out);

#endif
