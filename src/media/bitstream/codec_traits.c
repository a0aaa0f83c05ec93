#include "codec_traits.h"

struct codec_traits codec_traits(enum bitstream stream)
{
    struct codec_traits t = {.stream = stream, .parallel = stream != STREAM_OTHER};
    bool reordered = stream == STREAM_H264 || stream == STREAM_HEVC || stream == STREAM_MPEG2;
    t.flush = t.discard = t.drop = t.reorder = reordered;
    return t;
}
