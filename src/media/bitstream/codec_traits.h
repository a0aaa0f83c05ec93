/* codec_traits.h - what a codec's bitstream allows. */
#ifndef BARCODE_BITSTREAM_CODEC_TRAITS_H
#define BARCODE_BITSTREAM_CODEC_TRAITS_H

#include <stdbool.h>

#include "packet_scan.h"

struct codec_traits {
    enum bitstream stream;
    bool parallel; /* it can be cut into chunks; otherwise one sequential decoder gets everything */
    /*
     * a decoder must be drained and flushed before a chunk that does not follow the last one
     * (H.264, HEVC, MPEG-2); key frames of VP8, VP9 and AV1 reset it
     */
    bool flush;
    bool discard; /* AV_PKT_FLAG_DISCARD is safe (not with show-existing-frame) */
    bool drop;    /* `droppable` pictures need not be decoded */
    bool reorder; /* display order differs from decoding order */
};

struct codec_traits codec_traits(enum bitstream stream);

#endif
