#include "barcode/strip.h"

const char *mode_name(enum mode m)
{
    static const char *const name[MODE_COUNT] = {"kmeans", "palette", "average", "downsample"};
    return name[m];
}
