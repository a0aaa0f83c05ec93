/*
 * codec_traits.h - what codecs allow.
 */
#ifndef BARCODE_BITSTREAM_CODEC_TRAITS_H
#define BARCODE_BITSTREAM_CODEC_TRAITS_H

#include <stdbool.h>

#include "packet_scan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct codec_traits {
    enum bitstream stream;
    bool parallel; /* cut into runs; else everything goes through one sequential decoder */
    /*
     * a decoder must be drained and flushed before a run that does not follow on (H.264, HEVC,
     * MPEG-2); VP8/VP9/AV1 keys reset by themselves
     */
    bool flush;
    bool discard; /* AV_PKT_FLAG_DISCARD is safe (not with show-existing-frame) */
    bool drop;    /* `droppable` pictures may be left out */
    bool reorder; /* display order differs from decoding order */
};

struct codec_traits codec_traits(enum bitstream stream);

#ifdef __cplusplus
}
#endif

#endif
