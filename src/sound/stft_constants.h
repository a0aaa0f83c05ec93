/* stft_constants.h - what the tables of spectrogram.h are made from. */
#ifndef BARCODE_SRC_STFT_CONSTANTS_H
#define BARCODE_SRC_STFT_CONSTANTS_H

#include <stdint.h>

enum { STFT_QUARTER = 257, STFT_STEPS = 256 };

/* -cos(2 pi k / 1024) in Q31, rounded to nearest */
extern const int32_t stft_quarter[STFT_QUARTER];

/* 2^(63 + (2 i + 1) / 512), rounded up: from here on a logarithm is rounded to step i + 1 */
extern const uint64_t stft_threshold[STFT_STEPS];

#endif
