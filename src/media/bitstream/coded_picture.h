/* coded_picture.h - one picture of the bitstream, in decoding order. */
#ifndef BARCODE_BITSTREAM_CODED_PICTURE_H
#define BARCODE_BITSTREAM_CODED_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "packet_scan.h"
#include "barcode/engine/frame.h"

struct AVPacket;

enum action {
    ACTION_SKIP,   /* the decoder never sees it */
    ACTION_DECODE, /* decode, but do not output (DISCARD) */
    ACTION_OUTPUT  /* decode and output */
};

struct picture {
    struct AVPacket *packet; /* owned by the chunk or chunker that has the picture; NULL: lost */
    uint64_t serial;         /* number of the video packet in the file, from 0 */
    int64_t pts_us;          /* presentation time as stored, TIME_NONE when missing */
    int64_t place_us;        /* if `placed`: its place in decoding order (timeline.h) */
    int64_t duration_us;     /* as stored, 0 when missing */
    int64_t order;           /* picture order count inside its GOP, TIME_NONE if unknown */
    enum rap rap;
    int temporal_id;
    bool guessed; /* `placed`: libavformat has a time for it, as for B pictures alone if there are
                     any */
    bool placed;  /* it has no time, but a place that is not queued yet */
    bool hidden;  /* never displayed: it holds no picture, an edit list excludes it, or VP8/VP9 do
                     not show it */
    /*
     * the file has no picture where one must be: displayed, never decoded. Pictures that refer to
     * it are damaged. `order` is unknown
     */
    bool lost;
    bool empty;  /* the packet is valid and holds no picture: a decoder's error means nothing */
    bool field;  /* one field of a frame whose other field has its own packet */
    bool second; /* the second field of the frame that begins with the picture before it */
    bool illegal_zeros;  /* packet_info's */
    bool suspect;        /* its data may be truncated or damaged */
    bool after_gap;      /* packets are missing right before it */
    bool intra;          /* packet_info's */
    bool droppable;      /* packet_info's */
    bool needs_before;   /* HEVC RASL */
    bool closed;         /* a key frame whose leading pictures refer to nothing before it */
    uint64_t sets;       /* H.264: the state of the active parameter sets (h264_params.h) */
    bool marked_leading; /* the bitstream marks it as leading (HEVC) */
    bool leading;        /* displayed before its GOP's key frame; set by the chunker */
    bool selected;       /* it is selected: `tag` is filled */
    bool done;           /* its frame is in the engine; set by the decode worker */
    enum action action;  /* set by chunk_plan */
    uint64_t frame;      /* number in display order (not for hidden ones) */
    struct frame_tag tag;
};

#endif
