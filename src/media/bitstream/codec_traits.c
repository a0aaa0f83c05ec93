#include "codec_traits.h"

struct run_traits run_traits(enum bitstream stream)
{
    struct run_traits t = {.stream = stream, .parallel = stream != STREAM_OTHER};
    bool reordered = stream == STREAM_H264 || stream == STREAM_HEVC || stream == STREAM_MPEG2;
    t.flush = t.discard = t.drop = t.reorder = reordered;
    return t;
}
