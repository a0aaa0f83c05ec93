#include "barcode/sound/spectrogram.h"

#include <stdlib.h>
#include <string.h>

#include "stft_frames.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

enum { QUARTER = SPECTROGRAM_WINDOW / 4, STFT_STEPS = 256 };

struct spectrogram {
    const struct stft_frames *code;
    struct stft_tables tables;
    int32_t work[2 * SPECTROGRAM_BINS * STFT_BATCH];
    int16_t padded[STFT_BATCH][SPECTROGRAM_WINDOW]; /* frames that end after the sound */
    int16_t unused[SPECTROGRAM_BINS];
};

static int64_t times_q60(int64_t a, int64_t b) { return (int64_t)((i128)a * b >> 60); }

/* Returns round(2^31 cos(2 pi k / 1024)), 0 <= k <= 256, by its series in Q60. */
static int64_t cosine(size_t k)
{
    const int64_t turn = INT64_C(7244019458077122842); /* 2 pi */
    int64_t x = (int64_t)((i128)turn * (int64_t)k / SPECTROGRAM_WINDOW), sum = 0;
    int64_t term = INT64_C(1) << 60;
    for (int64_t n = 0; term != 0; n += 2) {
        sum += term;
        term = -times_q60(times_q60(term, x), x) / ((n + 1) * (n + 2));
    }
    return (sum + (1 << 28)) >> 29;
}

/* Returns -cos(2 pi k / 1024) in Q31, 0 <= k <= 512. */
static int64_t minus_cos(size_t k)
{
    return k <= QUARTER ? -cosine(k) : cosine(2 * (size_t)QUARTER - k);
}

/* Returns the product in Q127 of numbers from 1 to 2, at most 6 units too low. */
static u128 times_q127(u128 a, u128 b)
{
    u128 a_high = a >> 64, a_low = (uint64_t)a, b_high = b >> 64, b_low = (uint64_t)b;
    return (a_high * b_high + (a_high * b_low >> 64) + (a_low * b_high >> 64)) << 1;
}

/* Writes 2^(63 + (2 i + 1) / 512), rounded up: from there on a logarithm rounds to step i + 1. */
static void make_thresholds(uint64_t threshold[STFT_STEPS])
{
    const u128 step =
        (u128)UINT64_C(0x8058d7d2d5e5f6b0) << 64 | UINT64_C(0x94d589f608ee4aa2); /* 2^(1/256) */
    u128 at =
        (u128)UINT64_C(0x802c6436d0e04f50) << 64 | UINT64_C(0xff8ce94a6797b3ce); /* 2^(1/512) */
    for (int i = 0; i < STFT_STEPS; i++, at = times_q127(at, step))
        threshold[i] = (uint64_t)(at >> 64) + 1;
}

/* 1 - cos is exact in Q31; the window takes half of it. */
static uint16_t window_at(size_t n)
{
    int64_t versine = (INT64_C(1) << 31) + minus_cos(n <= 512 ? n : 1024 - n);
    return (uint16_t)((versine + (1 << 16)) >> 17);
}

static uint16_t reversed(size_t n)
{
    uint16_t r = 0;
    for (int bit = 0; bit < 9; bit++)
        r = (uint16_t)(r << 1 | (n >> bit & 1));
    return r;
}

void stft_tables_init(struct stft_tables *t)
{
    for (size_t k = 0; k < SPECTROGRAM_BINS; k++) {
        t->twiddle[k].minus_cos = (int32_t)minus_cos(k);
        t->twiddle[k].minus_sin = (int32_t)minus_cos(k < 256 ? 256 - k : k - 256);
        t->place[k] = reversed(k);
    }
    for (size_t n = 0; n < SPECTROGRAM_WINDOW; n++)
        t->window[n] = window_at(n);
    make_thresholds(t->threshold);
    t->threshold[STFT_STEPS] = UINT64_MAX;
    uint16_t steps = 0;
    for (uint64_t cell = 0; cell < 512; cell++) {
        while (t->threshold[steps] <= (512 + cell) << 54)
            steps++;
        t->steps[cell] = steps;
    }
}

struct spectrogram *spectrogram_open(enum isa isa, struct err *e)
{
    struct spectrogram *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    s->code = ISA_PICK(stft_frames, isa);
    stft_tables_init(&s->tables);
    return s;
}

void spectrogram_free(struct spectrogram **s)
{
    free(*s);
    *s = NULL;
}

/* Returns the samples from `first` on, padded if the sound ends within the frame. */
static const int16_t *frame_samples(const int16_t *sound, size_t samples, size_t first,
                                    int16_t padded[SPECTROGRAM_WINDOW])
{
    size_t left = first < samples ? samples - first : 0;
    if (left >= SPECTROGRAM_WINDOW)
        return sound + first;
    memset(padded, 0, SPECTROGRAM_WINDOW * sizeof *padded);
    if (left)
        memcpy(padded, sound + first, left * sizeof *padded);
    return padded;
}

void spectrogram_run(struct spectrogram *s, const int16_t *sound, size_t samples, size_t frames,
                     int16_t *out)
{
    const int16_t *in[STFT_BATCH];
    int16_t *to[STFT_BATCH];
    for (size_t t = 0; t < frames; t += STFT_BATCH) {
        for (size_t i = 0; i < STFT_BATCH; i++) {
            size_t frame = t + i;
            in[i] = frame_samples(sound, samples, frame * SPECTROGRAM_HOP, s->padded[i]);
            to[i] = frame < frames ? out + frame * SPECTROGRAM_BINS : s->unused;
        }
        s->code->run(&s->tables, in, s->work, to);
    }
}
