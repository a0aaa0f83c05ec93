/* stft_frames.h - spectrogram.h's steps for some frames at once, for one instruction set. */
#ifndef BARCODE_SRC_STFT_FRAMES_H
#define BARCODE_SRC_STFT_FRAMES_H

#include "barcode/sound/spectrogram.h"

enum { STFT_BATCH_MOST = 8 };

/* Any thread. */
struct stft_frames {
    size_t batch; /* frames at once */

    /* Computes out[i][SPECTROGRAM_BINS] from in[i][SPECTROGRAM_WINDOW]; work[2 * 512 * batch]. */
    void (*run)(const struct stft_tables *t, const int16_t *const *in, int32_t *work,
                int16_t *const *out);
};

extern const struct stft_frames stft_frames_base,
    stft_frames_avx2; /* stft_frames_avx2: x86-64 only */

#endif
