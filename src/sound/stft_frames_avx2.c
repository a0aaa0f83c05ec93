#define STFT_FRAMES stft_frames_avx2
#include "stft_frames_template.h"
