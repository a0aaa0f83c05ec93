#include "landmarks.h"

#include <stdlib.h>

size_t landmarks_of_anchor(const struct peak *peak, size_t n, bool wide, int fan,
                           struct landmark *out)
{
    size_t pairs = 0;
    for (size_t i = 1; i < n && pairs < (size_t)fan; i++) {
        uint32_t dt = peak[i].frame - peak->frame;
        int df = peak[i].bin - peak->bin;
        if (dt > LANDMARK_DT_MOST)
            break;
        if (dt == 0 || abs(df) > LANDMARK_DF_MOST || (wide && !peak[i].wide))
            continue;
        out[pairs++] = (struct landmark){landmark_key(peak->bin, df, dt), peak->frame};
    }
    return pairs;
}

size_t landmarks_make(const struct peak *peaks, size_t n, bool wide, int fan, struct landmark *out)
{
    size_t made = 0;
    for (size_t i = 0; i < n; i++)
        if (!wide || peaks[i].wide)
            made += landmarks_of_anchor(peaks + i, n - i, wide, fan, out + made);
    return made;
}
