#include "barcode/sound/spectrogram.h"

#include <stdlib.h>
#include <string.h>

#include "stft_constants.h"
#include "stft_frames.h"

struct spectrogram {
    const struct stft_frames *code;
    struct stft_tables tables;
    int32_t work[2 * SPECTROGRAM_BINS * STFT_BATCH_MOST];
    int16_t padded[STFT_BATCH_MOST][SPECTROGRAM_WINDOW]; /* frames that end after the sound */
    int16_t unused[SPECTROGRAM_BINS];
};

/* Returns -cos(2 pi k / 1024), 0 <= k <= 512. */
static int64_t minus_cos(size_t k)
{
    return k < STFT_QUARTER ? stft_quarter[k] : -(int64_t)stft_quarter[512 - k];
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
    memcpy(t->threshold, stft_threshold, sizeof stft_threshold);
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
    s->code = stft_frames_for(isa);
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
    const int16_t *in[STFT_BATCH_MOST];
    int16_t *to[STFT_BATCH_MOST];
    for (size_t t = 0; t < frames; t += s->code->batch) {
        for (size_t i = 0; i < s->code->batch; i++) {
            size_t frame = t + i;
            in[i] = frame_samples(sound, samples, frame * SPECTROGRAM_HOP, s->padded[i]);
            to[i] = frame < frames ? out + frame * SPECTROGRAM_BINS : s->unused;
        }
        s->code->run(&s->tables, in, s->work, to);
    }
}
