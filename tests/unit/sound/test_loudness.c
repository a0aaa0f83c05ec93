#include <math.h>
#include <stdlib.h>

#include "sound/loudness.h"
#include "test.h"

/* Returns the power in dB that a sine of full scale has after the filter, in each of the channels.
 */
static double response(int rate, double hz, int channels)
{
    struct kweight k;
    size_t frames = (size_t)rate;
    int16_t *in = malloc(frames * (size_t)channels * sizeof *in);
    assert_non_null(in);
    for (size_t i = 0; i < frames; i++)
        for (int c = 0; c < channels; c++)
            in[i * (size_t)channels + (size_t)c] =
                (int16_t)lrint(32767 * sin(2 * M_PI * hz * (double)i / rate));
    kweight_init(&k, rate, channels);
    for (int c = 0; c < channels; c++)
        k.weight[c] = 1;
    kweight_run(&k, in, frames / 2);
    kweight_power(&k);
    kweight_run(&k, in + frames / 2 * (size_t)channels, frames - frames / 2);
    double power = kweight_power(&k) / (double)(frames - frames / 2) / channels;
    free(in);
    return 10 * log10(2 * power);
}

/* The coefficients that BS.1770 has at 48 kHz. */
TEST(coefficients_of_the_standard)
{
    struct kweight k;
    kweight_init(&k, 48000, 1);
    const double want[] = {1.53512485958697, -2.69169618940638, 1.19839281085285, -1.69065929318241,
                           0.73248077421585, -1.99004745483398, 0.99007225036621};
    const double have[] = {k.b[0], k.b[1], k.b[2], k.a[0][0], k.a[0][1], k.a[1][0], k.a[1][1]};
    for (int i = 0; i < 7; i++)
        assert_true(fabs(have[i] - want[i]) < 1e-8);
}

TEST(the_same_at_every_rate)
{
    static const int rate[] = {16000, 32000, 44100, 96000, 192000};
    static const double hz[] = {40, 100, 1000, 2000, 4000};
    for (int r = 0; r < 5; r++)
        for (int i = 0; i < 5; i++)
            assert_true(fabs(response(rate[r], hz[i], 1) - response(48000, hz[i], 1)) < 0.3);
    for (int low = KWEIGHT_RATE_LEAST; low < 8000; low += 311)
        assert_true(fabs(response(low, low / 10.0, 1)) < 60); /* stable */
}

TEST(channels_do_not_touch)
{
    double one = response(44100, 1000, 1);
    for (int channels = 2; channels <= KWEIGHT_CHANNELS; channels++)
        assert_true(fabs(response(44100, 1000, channels) - one) < 1e-9);
}
