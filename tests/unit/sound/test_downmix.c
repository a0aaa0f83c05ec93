#include <stdlib.h>

#include "sound/downmix.h"
#include "test.h"

enum {
    FL = 1 << CHANNEL_FRONT_LEFT,
    FR = 1 << CHANNEL_FRONT_RIGHT,
    FC = 1 << CHANNEL_FRONT_CENTRE,
    LFE = 1 << CHANNEL_LOW_FREQUENCY,
    BL = 1 << CHANNEL_BACK_LEFT,
    BR = 1 << CHANNEL_BACK_RIGHT,
    BC = 1 << CHANNEL_BACK_CENTRE,
    SL = 1 << CHANNEL_SIDE_LEFT,
    SR = 1 << CHANNEL_SIDE_RIGHT,
    ROUNDS = 20000
};

static const struct {
    uint64_t mask;
    int channels, weight[8];
} layout[] = {
    {FC, 1, {1}},
    {FL | FR, 2, {1, 1}},
    {FL | FR | FC | BC, 4, {2, 2, 2, 1}},
    {FL | FR | FC | LFE | SL | SR, 6, {2, 2, 2, 0, 1, 1}},
    {FL | FR | FC | LFE | BL | BR, 6, {2, 2, 2, 0, 1, 1}},
    {FL | FR | FC | LFE | BL | BR | SL | SR, 8, {2, 2, 2, 0, 1, 1, 1, 1}},
    {LFE, 1, {1}},
    {0, 3, {1, 1, 1}},
    {FL | FR | FC, 5, {1, 1, 1, 1, 1}},  /* does not have as many */
    {UINT64_C(1) << 63 | FL, 2, {2, 1}}, /* a channel of no name */
};

/* Returns the mean, rounded to nearest, halves upwards. */
static int mean(const int *weight, int channels, const int16_t *in)
{
    int sum = 0, all = 0;
    for (int c = 0; c < channels; c++) {
        sum += weight[c] * in[c];
        all += weight[c];
    }
    int twice = 2 * sum + all, quotient = twice / (2 * all);
    return quotient - (twice % (2 * all) < 0);
}

static int16_t random_sample(void)
{
    int r = rand() % 16;
    return (int16_t)(r == 0 ? INT16_MIN : r == 1 ? INT16_MAX : rand() % 65536 - 32768);
}

TEST(layouts)
{
    for (size_t i = 0; i < sizeof layout / sizeof *layout; i++) {
        struct downmix d;
        int channels = layout[i].channels;
        static int16_t in[ROUNDS * 8], out[ROUNDS];
        downmix_init(&d, channels, layout[i].mask);
        for (int k = 0; k < ROUNDS * channels; k++)
            in[k] = k < channels ? INT16_MIN : k < 2 * channels ? INT16_MAX : random_sample();
        downmix_run(&d, in, ROUNDS, out);
        for (int k = 0; k < ROUNDS; k++)
            assert_int_equal(out[k], mean(layout[i].weight, channels, in + k * channels));
    }
}

TEST(sixty_four_channels)
{
    struct downmix d;
    int16_t in[3][SOUND_CHANNELS_MOST], out[3];
    for (int c = 0; c < SOUND_CHANNELS_MOST; c++) {
        in[0][c] = INT16_MIN;
        in[1][c] = INT16_MAX;
        in[2][c] = (int16_t)(c * 100);
    }
    downmix_init(&d, SOUND_CHANNELS_MOST, 0);
    downmix_run(&d, in[0], 3, out);
    assert_int_equal(out[0], INT16_MIN);
    assert_int_equal(out[1], INT16_MAX);
    assert_int_equal(out[2], 3150);
    downmix_init(&d, SOUND_CHANNELS_MOST, UINT64_MAX);
    downmix_run(&d, in[0], 2, out);
    assert_int_equal(out[0], INT16_MIN);
    assert_int_equal(out[1], INT16_MAX);
}

/* Channels in opposite phase are the louder one after a block, however the frames are pushed. */
TEST(channels_that_cancel_one_another)
{
    static int16_t in[ROUNDS][2], whole[ROUNDS], parts[ROUNDS];
    struct downmix d, e;
    for (int i = 0; i < ROUNDS; i++) {
        in[i][0] = (int16_t)(rand() % 20000 - 10000);
        in[i][1] = (int16_t)(i < 3 * DOWNMIX_BLOCK ? -in[i][0] * 9 / 10 : in[i][0]);
    }
    downmix_init(&d, 2, FL | FR);
    downmix_init(&e, 2, FL | FR);
    downmix_run(&d, in[0], ROUNDS, whole);
    for (size_t i = 0, n; i < ROUNDS; i += n) {
        n = (size_t)rand() % 3000;
        n = n < ROUNDS - i ? n : ROUNDS - i;
        downmix_run(&e, in[i], n, parts + i);
    }
    assert_memory_equal(whole, parts, sizeof whole);
    for (int i = 0; i < ROUNDS; i++) /* also the block after, in which both are the same again */
        if (i >= DOWNMIX_BLOCK)
            assert_int_equal(whole[i], in[i][0]);
}

/* A sound in one of many channels, and quiet noise, are mixed as ever. */
TEST(what_does_not_cancel_is_mixed)
{
    static int16_t in[ROUNDS * 8], out[ROUNDS];
    struct downmix d;
    for (int k = 0; k < ROUNDS * 8; k++)
        in[k] = (int16_t)(k < ROUNDS * 4 ? (k % 8 == 4) * random_sample() : rand() % 5 - 2);
    downmix_init(&d, 8, layout[5].mask);
    downmix_run(&d, in, ROUNDS, out);
    for (int i = 0; i < ROUNDS; i++)
        assert_int_equal(out[i], mean(layout[5].weight, 8, in + i * 8));
}
