/* stft_frames.h - spectrogram.h's steps for some frames at once, for one instruction set. */
#ifndef BARCODE_SRC_STFT_FRAMES_H
#define BARCODE_SRC_STFT_FRAMES_H

#include "barcode/sound/spectrogram.h"

enum { STFT_BATCH = 8 };

/* Any thread. */
struct stft_frames {
    /*
     * Computes out[STFT_BATCH][SPECTROGRAM_BINS] from in[STFT_BATCH][SPECTROGRAM_WINDOW].
     * work[2 * SPECTROGRAM_BINS * STFT_BATCH] need not be initialized.
     */
    void (*run)(const struct stft_tables *t, const int16_t *const *in, int32_t *work,
                int16_t *const *out);
};

extern const struct stft_frames stft_frames_base,
    stft_frames_avx2; /* stft_frames_avx2: x86-64 only */

#endif
