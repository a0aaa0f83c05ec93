#define STFT_FRAMES stft_frames_c
#include "stft_frames_template.h"

const struct stft_frames *stft_frames_for(enum isa isa)
{
#ifdef __x86_64__
    if (isa >= ISA_AVX2)
        return &stft_frames_avx2;
#endif
    (void)isa;
    return &stft_frames_c;
}
