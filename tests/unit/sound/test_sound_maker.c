#include <complex.h>
#include <ebur128.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sound/film_sound.h"
#include "barcode/sound/spectrogram.h"
#include "test.h"

enum { STEREO = 3, SURROUND = 0x60f, FOLLOWS = -1 /* of push_tone: no time */ };

struct tapped {
    int16_t *value;
    size_t frames, room;
};

static bool tap(void *user, const int16_t *values, size_t frames, struct err *e)
{
    struct tapped *t = user;
    size_t size = SPECTROGRAM_BINS * sizeof *values;
    assert_true(err_reserve(&t->value, t->frames + frames, &t->room, size, e));
    memcpy((char *)t->value + t->frames * size, values, frames * size);
    t->frames += frames;
    return true;
}

static struct sound_maker *begin(void)
{
    struct sound_maker *m = sound_maker_open(ISA_BASE, NULL, NULL, NULL, NULL);
    assert_non_null(m);
    return m;
}

static struct film_sound end(struct sound_maker *m)
{
    struct film_sound s = {.stream = 0, .rate = 48000, .channels = 2};
    assert_true(sound_maker_finish(m, &s, NULL));
    sound_maker_free(&m);
    assert_null(m);
    return s;
}

/* A tone: the same in all channels, or at `level` dB of full scale each. */
struct tone {
    int rate, channels;
    uint64_t mask;
    double hz, level[8], seconds;
};

static int16_t *tone_samples(const struct tone *t, size_t *frames)
{
    *frames = (size_t)lrint(t->seconds * t->rate);
    int16_t *sample = calloc(*frames * (size_t)t->channels + 1, sizeof *sample);
    assert_non_null(sample);
    for (size_t i = 0; i < *frames; i++)
        for (int c = 0; c < t->channels; c++) {
            double level = t->level[c < 8 ? c : 7];
            double height = level < -190 ? 0 : 32768 * pow(10, level / 20);
            double value = height * sin(2 * M_PI * t->hz * (double)i / t->rate);
            sample[i * (size_t)t->channels + (size_t)c] = (int16_t)lrint(value);
        }
    return sample;
}

/* Pushes a tone in blocks; the first one is at `time_us`. */
static void push_tone(struct sound_maker *m, const struct tone *t, int64_t time_us, size_t block)
{
    size_t frames;
    int16_t *sample = tone_samples(t, &frames);
    for (size_t at = 0; at < frames; at += block) {
        struct sound_block b = {.sample = sample + at * (size_t)t->channels,
                                .frames = frames - at < block ? frames - at : block,
                                .channels = t->channels,
                                .rate = t->rate,
                                .mask = t->mask,
                                .time_us = at > 0 || time_us == FOLLOWS ? INT64_MIN : time_us};
        assert_true(sound_maker_push(m, &b, NULL));
    }
    free(sample);
}

static struct film_sound of_tones(const struct tone *t, size_t tones)
{
    struct sound_maker *m = begin();
    for (size_t i = 0; i < tones; i++)
        push_tone(m, &t[i], FOLLOWS, 1000);
    return end(m);
}

#define SIDE(l) \
    { \
        l, l \
    }

static struct tone stereo(double hz, double level, double seconds)
{
    return (struct tone){48000, 2, STEREO, hz, SIDE(level), seconds};
}

/* Returns the row at a time. */
static struct sound_row row_at(const struct film_sound *s, double seconds)
{
    struct sound_row row;
    int64_t us = llrint(seconds * 1e6);
    film_sound_span(s, us, us + 1, &row);
    return row;
}

/* ---- Loudness: EBU Tech 3341 and 3342's signals ---- */

TEST(loudness_of_test_signals)
{
    static const struct tone quiet_loud_quiet[] = {{48000, 2, STEREO, 1000, SIDE(-36), 10},
                                                   {48000, 2, STEREO, 1000, SIDE(-23), 60},
                                                   {48000, 2, STEREO, 1000, SIDE(-36), 10}};
    static const struct tone five = {48000, 6, SURROUND, 1000, {-28, -28, -24, 0, -30, -30},
                                     20}; /* 0: LFE, which is out */
    static const struct tone mono = {44100, 1, 4, 1000, {-20}, 10};
    struct tone tone = stereo(1000, -23, 20);
    struct film_sound s = of_tones(&tone, 1);
    assert_int_equal(s.loudness, -230);
    assert_int_equal(s.range, 0);
    assert_int_equal(s.peak, -230);
    assert_int_equal(row_at(&s, 10).loudness, -230);
    assert_int_equal(row_at(&s, 10).peak, -230);
    film_sound_free(&s);
    s = of_tones(quiet_loud_quiet, 3);
    assert_in_range(s.loudness + 1000, 769, 771);
    film_sound_free(&s);
    s = of_tones(&five, 1);
    assert_in_range(s.loudness + 1000, 769, 771);
    assert_int_equal(s.peak, 0);
    film_sound_free(&s);
    s = of_tones(&mono, 1);
    assert_in_range(s.loudness + 1000, 769, 771); /* one channel: 3 dB less than two */
    film_sound_free(&s);
}

TEST(loudness_range_of_test_signals)
{
    static const double pair[][3] = {{-20, -30, 10}, {-20, -15, 5}, {-40, -20, 20}};
    for (int i = 0; i < 3; i++) {
        struct tone tone[2] = {stereo(1000, pair[i][0], 20), stereo(1000, pair[i][1], 20)};
        struct film_sound s = of_tones(tone, 2);
        assert_in_range(s.range, (int)pair[i][2] * 10 - 10, (int)pair[i][2] * 10 + 10);
        film_sound_free(&s);
    }
}

/* Noise of levels that change, with pauses: what libebur128 itself finds. */
TEST(as_libebur128_has_it)
{
    enum { FRAMES = 44100 / 10, BLOCKS = 900 };
    static int16_t noise[FRAMES * 2];
    struct sound_maker *m = begin();
    ebur128_state *r128 = ebur128_init(2, 44100, EBUR128_MODE_I | EBUR128_MODE_LRA);
    double level, range;
    srand(5);
    for (int i = 0; i < BLOCKS; i++) {
        int height = i / 40 % 7 == 6 ? 1 : 3000 << i / 25 % 4;
        for (int k = 0; k < FRAMES * 2; k++)
            noise[k] = (int16_t)((rand() % 2048 - 1024) * height / 1024);
        struct sound_block b = {noise, FRAMES, 2, 44100, STEREO, INT64_MIN};
        assert_true(sound_maker_push(m, &b, NULL));
        assert_int_equal(ebur128_add_frames_short(r128, noise, FRAMES), EBUR128_SUCCESS);
    }
    ebur128_loudness_global(r128, &level);
    ebur128_loudness_range(r128, &range);
    ebur128_destroy(&r128);
    struct film_sound s = end(m);
    assert_true(fabs(s.loudness / 10.0 - level) <= 0.051);
    assert_true(fabs(s.range / 10.0 - range) <= 0.051 && range > 5);
    film_sound_free(&s);
}

/* Short sounds: there is no loudness below a block, and incomplete blocks do not count. */
TEST(short_sounds_as_libebur128_has_them)
{
    static const double seconds[] = {0.05, 0.3, 0.39, 0.4, 0.41, 0.45, 0.5, 0.59, 0.75, 1.01, 3.05};
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        for (int rate = 8000; rate <= 48000; rate += 20000) {
            struct tone tone = {rate, 2, STEREO, 1000, SIDE(-18), seconds[i]};
            size_t frames;
            int16_t *sample = tone_samples(&tone, &frames);
            ebur128_state *r128 = ebur128_init(2, (unsigned long)rate, EBUR128_MODE_I);
            double level;
            assert_int_equal(ebur128_add_frames_short(r128, sample, frames), EBUR128_SUCCESS);
            ebur128_loudness_global(r128, &level);
            ebur128_destroy(&r128);
            free(sample);
            struct film_sound s = of_tones(&tone, 1);
            if (seconds[i] < 0.4)
                assert_true(s.loudness == SOUND_NONE && level < -1000);
            else
                assert_true(fabs(s.loudness / 10.0 - level) <= 0.051);
            film_sound_free(&s);
        }
}

/* A channel of a layout, and its place in libebur128 (ITU-R BS.2051). */
#define CHANNEL(n) (UINT64_C(1) << (n))
#define CHANNELS(from, to) (CHANNEL((to) + 1) - CHANNEL(from))
static const uint64_t all = CHANNELS(0, 17) | CHANNELS(35, 40); /* 22.2 */
static const struct {
    uint64_t mask;
    int position, place;
} placed[] = {
    {CHANNELS(0, 5), 0, EBUR128_Mp030},
    {CHANNELS(0, 5), 2, EBUR128_Mp000},
    {CHANNELS(0, 5), 3, EBUR128_UNUSED},
    {CHANNELS(0, 5), 4, EBUR128_Mp110},
    {CHANNELS(0, 5), 5, EBUR128_Mm110},
    {CHANNELS(0, 8), 6, EBUR128_MpSC},
    {CHANNELS(0, 8), 8, EBUR128_Mp180},
    {CHANNELS(0, 2) | 1 << 8, 8, EBUR128_Mp180},
    {CHANNELS(0, 10), 4, EBUR128_Mp135},
    {CHANNELS(0, 10), 9, EBUR128_Mp090},
    {7 | CHANNELS(8, 10), 9, EBUR128_Mp110},
    {7 | CHANNELS(8, 10), 8, EBUR128_Mp180},
    {7 | CHANNELS(31, 32), 31, EBUR128_Mp060},
    {7 | CHANNELS(31, 32), 32, EBUR128_Mm060},
    {63 | CHANNELS(33, 34), 33, EBUR128_Mp090},
    {63 | CHANNELS(33, 34), 5, EBUR128_Mm135},
    {63 | CHANNELS(41, 42), 42, EBUR128_Mm090},
    {63 | CHANNELS(41, 42), 4, EBUR128_Mp135},
    {7 | CHANNELS(12, 14), 12, EBUR128_Up030},
    {7 | CHANNELS(29, 30), 29, EBUR128_Mp030},
    {all, 0, EBUR128_Mp060},
    {all, 1, EBUR128_Mm060},
    {all, 3, EBUR128_UNUSED},
    {all, 4, EBUR128_Mp135},
    {all, 6, EBUR128_Mp030},
    {all, 8, EBUR128_Mp180},
    {all, 10, EBUR128_Mm090},
    {all, 11, EBUR128_Tp000},
    {all, 14, EBUR128_Up045},
    {all, 16, EBUR128_Up180},
    {all, 35, EBUR128_UNUSED},
    {all, 36, EBUR128_Up090},
    {all, 38, EBUR128_Bp000},
    {all, 40, EBUR128_Bm045},
};

/* A tone in one channel of a layout weighs as it does there. */
TEST(channels_weigh_by_their_place)
{
    for (size_t i = 0; i < sizeof placed / sizeof *placed; i++) {
        enum { FRAMES = 48000 };
        uint64_t before = placed[i].mask & (CHANNEL(placed[i].position) - 1);
        const unsigned channels = (unsigned)__builtin_popcountll(placed[i].mask);
        const unsigned at = (unsigned)__builtin_popcountll(before);
        int16_t *sample = calloc((size_t)FRAMES * channels, sizeof *sample);
        assert_non_null(sample);
        for (size_t k = 0; k < FRAMES; k++)
            sample[k * channels + at] = (int16_t)(3000 * sin((double)k / 7));
        ebur128_state *r128 = ebur128_init(channels, FRAMES, EBUR128_MODE_I);
        double level;
        assert_int_equal(ebur128_set_channel(r128, at, placed[i].place), EBUR128_SUCCESS);
        assert_int_equal(ebur128_add_frames_short(r128, sample, FRAMES), EBUR128_SUCCESS);
        ebur128_loudness_global(r128, &level);
        ebur128_destroy(&r128);
        struct sound_maker *m = begin();
        struct sound_block b = {sample, FRAMES, (int)channels, FRAMES, placed[i].mask, INT64_MIN};
        assert_true(sound_maker_push(m, &b, NULL));
        struct film_sound s = end(m);
        assert_true(fabs(s.loudness / 10.0 - fmax(level, SOUND_SILENCE / 10.0)) <= 0.051);
        film_sound_free(&s);
        free(sample);
    }
}

/* Returns the gain in dB of the coefficients that BS.1770 has at 48 kHz. */
static double gain(double hz)
{
    static const double b[2][3] = {{1.53512485958697, -2.69169618940638, 1.19839281085285},
                                   {1, -2, 1}},
                        a[2][3] = {{1, -1.69065929318241, 0.73248077421585},
                                   {1, -1.99004745483398, 0.99007225036621}};
    const double complex z = cexp(-2 * M_PI * I * hz / 48000);
    double decibels = 0;
    for (int i = 0; i < 2; i++)
        decibels += 20 * log10(cabs((b[i][0] + (b[i][1] + b[i][2] * z) * z) /
                                    (a[i][0] + (a[i][1] + a[i][2] * z) * z)));
    return decibels;
}

static int loudness_at(int rate, int channels, double hz)
{
    struct tone tone = {rate, channels, 0, hz, {-20, -20, -20, -20, -20, -20, -20, -20}, 2};
    struct film_sound s = of_tones(&tone, 1);
    const int loudness = s.loudness;
    film_sound_free(&s);
    return loudness;
}

TEST(tones_are_weighted_the_same_at_every_rate)
{
    static const int rate[] = {48000, 16000, 32000, 44100, 96000, 192000};
    static const double hz[] = {40, 100, 1000, 2000, 4000};
    for (int r = 0; r < 6; r++)
        for (int i = 0; i < 5; i++) {
            double want = -230 + 10 * (gain(hz[i]) - gain(1000));
            assert_true(fabs(loudness_at(rate[r], 1, hz[i]) - want) < (r == 0 ? 1.5 : 3));
        }
    for (int low = 100; low < 8000; low += 311)
        assert_in_range(loudness_at(low, 1, low / 10.0) + 1000, 400, 800); /* stable */
}

TEST(channels_do_not_touch)
{
    const int one = loudness_at(44100, 1, 1000);
    for (int channels = 2; channels <= SOUND_CHANNELS_MOST; channels += channels == 12 ? 49 : 1)
        assert_true(fabs(loudness_at(44100, channels, 1000) - one - 100 * log10(channels)) <= 1);
}

/* The row's 400 ms lie around its middle. */
TEST(loudness_is_where_the_sound_is)
{
    struct sound_maker *m = begin();
    struct tone tone = stereo(1000, -20, 0.4);
    push_tone(m, &tone, 5000000, 480);
    tone = stereo(1000, -90, 5);
    push_tone(m, &tone, FOLLOWS, 480);
    struct film_sound s = end(m);
    assert_in_range(row_at(&s, 5.2).loudness + 1000, 795, 801);
    assert_in_range(row_at(&s, 5.0).loudness + 1000, 760, 777); /* half of it */
    assert_in_range(row_at(&s, 5.4).loudness + 1000, 760, 777);
    assert_true(row_at(&s, 4.7).loudness < -600);
    assert_true(row_at(&s, 5.7).loudness < -600);
    assert_int_equal(row_at(&s, 4.9).peak, SOUND_SILENCE);
    assert_int_equal(row_at(&s, 5.2).peak, -200);
    film_sound_free(&s);
}

/* ---- Spectrum ---- */

static int loudest_band(const struct sound_row *row)
{
    int best = 0;
    for (int b = 1; b < SOUND_BANDS; b++)
        best = row->band[b] > row->band[best] ? b : best;
    return best;
}

TEST(bands_and_centroid)
{
    static const double tone_hz[] = {60, 200, 440, 1000, 3000, 6000};
    for (size_t i = 0; i < sizeof tone_hz / sizeof *tone_hz; i++) {
        double hz = tone_hz[i], band = SOUND_BANDS * log(hz / SOUND_BAND_LEAST) /
                                       log((double)SOUND_BAND_MOST / SOUND_BAND_LEAST);
        struct tone tone = stereo(hz, -6, 2);
        struct film_sound s = of_tones(&tone, 1);
        struct sound_row row = row_at(&s, 1);
        assert_true(fabs(loudest_band(&row) - floor(band)) <= (hz < 100 ? 5 : 1));
        assert_true(fabs(row.centroid - hz) < 0.02 * hz + 8);
        assert_true(row.band[loudest_band(&row)] > 210);
        film_sound_free(&s);
    }
}

TEST(silence)
{
    struct tone tone = stereo(1000, -200, 3);
    struct film_sound s = of_tones(&tone, 1);
    struct sound_row row = row_at(&s, 1), none = row_at(&s, 10);
    assert_int_equal(s.samples, 48000);
    assert_int_equal(s.rows, 94);
    assert_int_equal(s.peaks, 0);
    assert_int_equal(s.loudness, SOUND_SILENCE);
    assert_int_equal(s.peak, SOUND_SILENCE);
    assert_memory_equal(&row, &none, sizeof row);
    assert_int_equal(row.loudness, SOUND_SILENCE);
    assert_int_equal(row.centroid, 0);
    film_sound_free(&s);
}

TEST(no_sound)
{
    struct film_sound s = end(begin());
    assert_int_equal(s.samples + s.rows + s.peaks + s.gaps, 0);
    assert_int_equal(s.loudness, SOUND_NONE);
    assert_int_equal(row_at(&s, 0).loudness, SOUND_SILENCE);
    film_sound_free(&s);
}

/* ---- Time ---- */

/* Returns the time of the first sample of a click's wide peak, in frames. */
static struct film_sound of_clicks(const int64_t *time_us, size_t clicks, int rate)
{
    int16_t *sample = calloc((size_t)rate, sizeof *sample);
    struct sound_maker *m = begin();
    sample[rate / 2] = INT16_MAX;
    for (size_t i = 0; i < clicks; i++) {
        struct sound_block b = {sample, (size_t)rate, 1, rate, 4, time_us[i]};
        assert_true(sound_maker_push(m, &b, NULL));
    }
    free(sample);
    return end(m);
}

/* Returns true if some row near a time has a peak, and those a little farther have none. */
static bool clicks_at(const struct film_sound *s, double seconds)
{
    return row_at(s, seconds).peak == 0 && row_at(s, seconds - 0.064).peak == SOUND_SILENCE &&
           row_at(s, seconds + 0.064).peak == SOUND_SILENCE;
}

static const struct {
    int64_t time_us[6];
    size_t blocks, gaps;
    int64_t gap_us;
    size_t ms;       /* the length */
    double click[7]; /* in s, up to 0 */
} clicks[] = {
    /* gaps are silence of their length; what is 40 ms late follows the one before */
    {{2000000, 3000000, 7000000, 8040000, 9100000, INT64_MIN},
     6,
     2,
     3100000,
     11100,
     {2.5, 3.5, 7.5, 8.5, 9.6, 10.6}},
    /* what is before the film, and what overlaps, is cut off */
    {{-5000000, INT64_MIN + 1, -300000}, 3, 0, 0, 700, {0.2}},
    {{0, 900000, 100000, 1910000 - 300000}, 4, 0, 0, 2610, {0.5, 1.4, 2.11}},
    /* what is too late is left out */
    {{0, INT64_C(3600000001) * SOUND_HOURS_MOST, INT64_MAX, 1000000}, 4, 0, 0, 2000, {0.5, 1.5}}};

TEST(times_of_blocks)
{
    static const int rate[] = {8000, 44100, 48000, 96000};
    for (size_t k = 0; k < sizeof clicks / sizeof *clicks; k++)
        for (int i = 0; i < 4; i++) {
            struct film_sound s = of_clicks(clicks[k].time_us, clicks[k].blocks, rate[i]);
            assert_int_equal(s.gaps, clicks[k].gaps);
            assert_int_equal(s.gap_us, clicks[k].gap_us);
            assert_in_range(s.samples, clicks[k].ms * 16 - 1, clicks[k].ms * 16 + 1);
            for (const double *at = clicks[k].click; *at > 0; at++)
                assert_true(clicks_at(&s, *at));
            assert_int_equal(row_at(&s, 5).loudness, SOUND_SILENCE);
            film_sound_free(&s);
        }
}

TEST(rates_and_layouts_change)
{
    static const struct tone part[] = {
        {48000, 2, STEREO, 1000, SIDE(-20), 1},
        {44100, 2, STEREO, 1000, SIDE(-20), 1},
        {44100, 6, SURROUND, 1000, {-20, -20, -20, -20, -20, -20}, 1},
        {8000, 1, 4, 1000, {-20}, 1},
        {1, 1, 4, 1, {-20}, 3},
        {96000, 64, 0, 1000, {-20, -20, -20, -20, -20, -20, -20, -20}, 1},
        {768000, 3, 0, 1000, {-20, -20, -20}, 1},
        {48000, 2, STEREO, 1000, SIDE(-20), 1}};
    size_t parts = sizeof part / sizeof *part;
    struct film_sound s = of_tones(part, parts);
    double at = 0;
    for (size_t i = 0; i < parts; i++) {
        if (part[i].rate > 1) {
            struct sound_row row = row_at(&s, at + 0.5);
            assert_int_equal(row.peak, -200);
            assert_true(abs(row.centroid - 1000) < 20);
        }
        at += part[i].seconds;
    }
    assert_int_equal(s.gaps, 0);
    assert_in_range(s.samples, 10 * 16000, 10 * 16000 + 8);
    film_sound_free(&s);
}

TEST(impossible_blocks_are_errors)
{
    int16_t sample[65] = {0};
    static const int bad[][2] = {{0, 48000}, {65, 48000}, {1, 0}, {1, 768001}, {-1, -1}};
    for (int i = 0; i < 5; i++) {
        struct err e = ERR_INIT;
        struct sound_maker *m = begin();
        struct sound_block b = {sample, 1, bad[i][0], bad[i][1], 0, 0};
        assert_false(sound_maker_push(m, &b, &e));
        assert_int_equal(e.code, ERR_FAILED);
        sound_maker_free(&m);
    }
}

/* ---- The same bytes ---- */

static struct film_sound of_noise(enum isa isa, size_t block, struct tapped *t)
{
    enum { FRAMES = 48000 * 7 };
    static int16_t noise[FRAMES * 2];
    struct sound_maker *m = sound_maker_open(isa, NULL, tap, t, NULL);
    srand(3);
    for (int i = 0; i < FRAMES * 2; i++)
        noise[i] = (int16_t)((rand() % 20000 - 10000) * (i / 50000 % 3));
    for (size_t at = 0; at < FRAMES; at += block) {
        size_t n = FRAMES - at < block ? FRAMES - at : block;
        int64_t us = 700000 + (int64_t)(at * 125 / 6);
        struct sound_block b = {noise + 2 * at, n, 2, 48000, STEREO, at % 3 ? us : INT64_MIN};
        b.time_us = at == 0 ? us : b.time_us;
        assert_true(sound_maker_push(m, &b, NULL));
    }
    return end(m);
}

static void assert_same(const struct film_sound *a, const struct film_sound *b)
{
    uint8_t *x = NULL, *y = NULL;
    size_t n = 0, m = 0;
    assert_true(film_sound_write(a, &x, &n, NULL) && film_sound_write(b, &y, &m, NULL));
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
}

TEST(same_bytes_in_any_blocks_on_any_processor)
{
    static const size_t block[] = {1, 997, 1024, 100000};
    struct tapped whole = {0};
    struct film_sound s = of_noise(ISA_BASE, 48000 * 7, &whole);
    assert_true(s.peaks > 100);
    for (int i = 0; i < 4; i++)
        for (enum isa isa = ISA_BASE; isa <= ISA_AVX2 && isa_supported(isa); isa++) {
            struct tapped parts = {0};
            struct film_sound other = of_noise(isa, block[i], &parts);
            assert_same(&s, &other);
            assert_int_equal(parts.frames, whole.frames);
            assert_memory_equal(parts.value, whole.value,
                                whole.frames * SPECTROGRAM_BINS * sizeof *whole.value);
            free(parts.value);
            film_sound_free(&other);
        }
    free(whole.value);
    film_sound_free(&s);
}

/* What the tap gets is what rows and peaks are made of. */
TEST(taps_the_spectrogram)
{
    struct tapped t = {0};
    struct film_sound s = of_noise(ISA_BASE, 1000, &t);
    struct peaks *p = peaks_open(PEAK_FLOOR, NULL, NULL);
    size_t n;
    assert_int_equal(t.frames, spectrogram_frames(s.samples));
    assert_int_equal(t.frames, s.rows);
    assert_true(peaks_push(p, t.value, t.frames, NULL) && peaks_finish(p, NULL));
    const struct peak *list = peaks_list(p, &n);
    assert_int_equal(n, s.peaks);
    assert_memory_equal(list, s.point, n * sizeof *list);
    peaks_free(&p);
    free(t.value);
    film_sound_free(&s);
}

static bool refuse(void *user, const int16_t *values, size_t frames, struct err *e)
{
    (void)values;
    size_t *left = user;
    *left = *left > frames ? *left - frames : 0;
    return *left > 0 || err_set(e, ERR_ENGINE, "no more");
}

static bool fail_spectrogram(struct sound_device *d, const int16_t *sound, size_t samples,
                             size_t frames, int16_t *out, struct err *e)
{
    (void)d, (void)sound, (void)samples, (void)frames, (void)out;
    return err_set(e, ERR_ENGINE, "no more");
}

static bool fail_filter(struct sound_device *d, const int16_t *in, size_t rows, size_t columns,
                        int radius, int16_t *out, struct err *e)
{
    (void)d, (void)in, (void)rows, (void)columns, (void)radius, (void)out;
    return err_set(e, ERR_ENGINE, "no more");
}

static bool empty_spectrogram(struct sound_device *d, const int16_t *sound, size_t samples,
                              size_t frames, int16_t *out, struct err *e)
{
    (void)d, (void)sound, (void)samples, (void)e;
    memset(out, 0, frames * SPECTROGRAM_BINS * sizeof *out);
    return true;
}

TEST(errors_of_the_tap_and_the_device_are_passed_on)
{
    struct sound_device device[] = {{.spectrogram = fail_spectrogram},
                                    {.spectrogram = empty_spectrogram, .max_filter = fail_filter}};
    static int16_t sample[48000];
    struct sound_block b = {sample, 48000, 1, 48000, 4, INT64_MIN};
    for (size_t i = 0; i < 48000; i++)
        sample[i] = (int16_t)i;
    for (int d = 0; d < 3; d++) {
        struct err e = ERR_INIT;
        size_t left = 200;
        struct sound_maker *m = d == 2 ? sound_maker_open(ISA_BASE, NULL, refuse, &left, &e)
                                       : sound_maker_open(ISA_BASE, &device[d], NULL, NULL, &e);
        bool ok = true;
        for (int i = 0; i < 20 && ok; i++)
            ok = sound_maker_push(m, &b, &e);
        assert_false(ok);
        assert_int_equal(e.code, ERR_ENGINE);
        assert_string_equal(e.text, "no more");
        sound_maker_free(&m);
    }
}

/* ---- Rows ---- */

TEST(long_sounds_have_long_rows)
{
    struct sound_maker *m = begin();
    struct tone tone = {8000, 1, 4, 500, {-20}, 60};
    for (int minute = 0; minute < 20; minute++) {
        tone.hz = minute % 2 ? 2000 : 500;
        push_tone(m, &tone, FOLLOWS, 4096);
    }
    struct film_sound s = end(m);
    assert_int_equal(s.hops, 2);
    assert_int_equal(s.rows, 1200 * 16000 / 1024);
    assert_true(s.rows <= SOUND_ROWS_MOST);
    for (int minute = 0; minute < 20; minute++) {
        struct sound_row row = row_at(&s, minute * 60 + 30);
        assert_int_equal(row.centroid, minute % 2 ? 2000 : 500);
        assert_int_equal(row.peak, -200);
    }
    film_sound_free(&s);
}

TEST(spans_sum_up_rows)
{
    struct sound_row row[4] = {{-100, -50, 1000, {10, 0}},
                               {-200, -60, 2000, {20, 0}},
                               {SOUND_SILENCE, SOUND_SILENCE, 0, {0, 0}},
                               {99, 0, 4000, {255, 255}}};
    struct film_sound s = {.hops = 1, .rows = 4, .row = row};
    struct sound_row out;
    film_sound_span(&s, 0, 64000, &out);
    assert_int_equal(out.loudness, -126); /* 10 log10((10^-1 + 10^-2) / 2) */
    assert_int_equal(out.peak, -50);
    assert_int_equal(out.band[0], 15);
    assert_int_equal(out.centroid, 1091); /* 10 to 1 */
    film_sound_span(&s, 32000, 64000, &out);
    assert_memory_equal(&out, &row[1], sizeof out);
    film_sound_span(&s, 63999, 64001, &out);
    assert_int_equal(out.loudness, -230);
    assert_int_equal(out.peak, -60);
    film_sound_span(&s, 96000, INT64_MAX, &out);
    assert_memory_equal(&out, &row[3], sizeof out);
    film_sound_span(&s, INT64_MIN, 1, &out);
    assert_memory_equal(&out, &row[0], sizeof out);
    static const int64_t outside[][2] = {{-5, 0}, {128000, 200000}, {50000, 50000}, {9, 3}};
    for (int i = 0; i < 4; i++) {
        film_sound_span(&s, outside[i][0], outside[i][1], &out);
        assert_memory_equal(&out, &row[2], sizeof out);
    }
}
