/*
 * coded_picture.h - one picture of the bitstream, in decoding order.
 */
#ifndef BARCODE_BITSTREAM_CODED_PICTURE_H
#define BARCODE_BITSTREAM_CODED_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "packet_scan.h"
#include "barcode/engine/frame.h"

struct AVPacket;

enum action {
    ACTION_SKIP,   /* the decoder never sees it */
    ACTION_DECODE, /* decode, the picture itself is not wanted (DISCARD) */
    ACTION_OUTPUT  /* decode and hand out */
};

struct picture {
    struct AVPacket *packet; /* owned by the run or chunker that has the picture; NULL: lost */
    uint64_t serial;         /* number of the video packet in the file, from 0 */
    int64_t pts_us;          /* presentation time as stored, TIME_NONE when missing */
    int64_t duration_us;     /* as stored, 0 when missing */
    int64_t order;           /* picture order count inside its GOP, TIME_NONE if unknown */
    enum rap rap;
    int temporal_id;
    bool hidden; /* never displayed: no picture inside, edit list, VP8/VP9 not shown */
    /*
     * the file has no picture where one must be: displayed, never decoded; what refers to it is
     * damaged, and `order` is not known
     */
    bool lost;
    bool empty;         /* by its own account the packet holds no picture: an error means nothing */
    bool field;         /* one field of a picture whose other one has a packet of its own */
    bool second;        /* the second field of the picture before it */
    bool illegal_zeros; /* packet_info's */
    bool suspect;       /* what follows it in the file is damaged, so that its end may be */
    bool after_gap;     /* packets are missing right before it */
    bool intra;         /* packet_info's */
    bool droppable;     /* packet_info's */
    bool needs_before;  /* HEVC RASL */
    bool closed;        /* a key whose leading pictures need nothing before it */
    uint64_t sets;      /* H.264: the state of the parameter sets in force (h264_params.h) */
    bool marked_leading; /* the bitstream says that it leads its key (HEVC) */
    bool leading;        /* displayed before its GOP's key; set by the chunker */
    bool selected;       /* the selection wants it: `tag` is filled */
    bool done;           /* session: it is staged */
    enum action action;  /* chunk_plan's verdict */
    uint64_t frame;      /* number in display order (not for hidden ones) */
    struct frame_tag tag;
};

#endif
