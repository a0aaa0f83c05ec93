/*
 * packet_scan.h - what the bytes of a packet say about its coded picture, without decoding it: may
 * decoding start here, does anything refer to it, which type is it.
 *
 * Pure functions over untrusted bytes (a fuzz target): they never read past `size`.
 *
 * Sources: ITU-T H.264 7.3, 7.4 and Annex D; H.265 7.3.1.2, 7.4.2.2; H.262 6.2; RFC 6386 section
 * 9.1 (VP8); the VP9 bitstream specification, section 6.2; the AV1 one, section 5.
 */
#ifndef BARCODE_BITSTREAM_PACKET_SCAN_H
#define BARCODE_BITSTREAM_PACKET_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "barcode/engine/frame.h"

enum bitstream {
    STREAM_OTHER,
    STREAM_H264,
    STREAM_HEVC,
    STREAM_MPEG2,
    STREAM_VP8,
    STREAM_VP9,
    STREAM_AV1
};

/* How a decoder that has no earlier picture may begin at this packet. */
enum rap {
    RAP_NONE,
    /* no later picture refers before it: IDR without leading pictures; VP8, VP9, AV1 keys */
    RAP_CLOSED,
    /*
     * leading pictures may: H.264 recovery point 0; HEVC CRA, BLA, and IDR with leading pictures;
     * MPEG-2 I picture after a GOP header
     */
    RAP_OPEN
};

/* What a codec's bitstream allows. */
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

enum { ZEROED_BYTES = 64 };

/* What one pass over the bytes of a packet finds. */
struct packet_info {
    bool picture; /* the packet holds (part of) a picture */
    /*
     * the packet holds no picture, and its bytes are damaged. If both this and `picture` are false,
     * the packet is valid and holds none. Both (MPEG-2): a picture begins after the rest of another
     * one
     */
    bool unreadable;
    bool intra; /* H.264, MPEG-2: the picture refers to no other */
    enum rap rap;
    /* no picture refers to it (HEVC: of its temporal sub-layer), and it has no parameter sets */
    bool droppable;
    bool leading;      /* HEVC RASL or RADL */
    bool needs_before; /* HEVC RASL: it cannot be decoded if decoding starts at its key frame */
    int slice_rows; /* MPEG-2: how many rows from the top have slices; -1: not all up to the last */
    bool closed;    /* MPEG-2: the GOP header's closed_gop; HEVC: IDR */
    /* HEVC BLA: its RASL pictures are never displayed; MPEG-2: the GOP header's broken_link */
    bool broken_link;
    /* HEVC: an end of sequence precedes the picture; follows it, or there is no picture */
    bool after_end, ends;
    bool discards;            /* HEVC IDR, BLA: frames that still wait for display are dropped */
    bool output_flag_present; /* HEVC: output_flag_present_flag of a PPS */
    bool shown;               /* VP8/VP9/AV1: the packet shows a frame; true for the others */
    bool field;               /* MPEG-2: a lone field picture */
    int temporal_id;          /* HEVC, else 0 */
    int order;                /* MPEG-2 temporal_reference, -1 for the others */
    /*
     * H.264, HEVC, VP9, AV1: ZEROED_BYTES zeros in a row are in coded data, and no padding. No
     * encoder writes that: data is missing, and decoders do not report it
     */
    bool zeroed;
    /*
     * H.264 and HEVC: a slice has zeros that encoders avoid (emulation prevention), so data is
     * missing in it. Disks and downloads leave zeroed blocks
     */
    bool illegal_zeros;
    /*
     * the part of the packet that contains all its parameter sets (MPEG-2: the first sequence
     * header with its extensions), for param_sets_note and nal_sets_scan; NULL, 0: it has none
     */
    const uint8_t *sets;
    size_t sets_size;
};

/*
 * Scans one packet; each of STREAM_OTHER is a picture. `length_size`, of H.264 and HEVC, is that of
 * a NAL unit's length prefix (1, 2 or 4 bytes), or 0 for start codes.
 */
void packet_scan(enum bitstream kind, int length_size, const uint8_t *data, size_t size,
                 struct packet_info *info);

size_t nal_zeros_at_end(const uint8_t *data, size_t size);

/* Returns true if a PPS in HEVC's extradata (hvcC or start codes) has output_flag_present_flag. */
bool nal_extradata_has_output_flag(const uint8_t *extradata, size_t size);

/* Returns the size of the length prefix that an avcC or hvcC record declares; else 0. */
int nal_length_size(enum bitstream kind, const uint8_t *extradata, size_t size);

/* Returns true if there is a display orientation in an SEI message (H.264 D.1.27, H.265 D.2.17). */
bool nal_has_orientation(enum bitstream kind, const uint8_t *extradata, size_t extradata_size,
                         const uint8_t *data, size_t size);

/* ---- NAL units and their bits, over untrusted bytes ---- */

struct nal {
    const uint8_t *data;
    size_t size;
};

/* Returns the position of the next start code at or after `at`, or `size`. */
size_t nal_find_start(const uint8_t *data, size_t at, size_t size);

/* Reads the unit at *at, and moves *at past it. Returns false at the end or at a wrong length. */
bool nal_next(int length_size, const uint8_t *data, size_t size, size_t *at, struct nal *nal);

/* The state of a walk over the units of extradata; begins as {0}. */
struct extradata_walk {
    bool begun, boxed; /* avcC or hvcC; otherwise start codes */
    size_t at;
    int lists, nals; /* lists begun so far; units left of the current one */
};

/* Reads the next unit of H.264's or HEVC's extradata. Returns false at the end. */
bool nal_next_of_extradata(enum bitstream kind, const uint8_t *extradata, size_t size,
                           struct extradata_walk *w, struct nal *nal);

/* Copies a unit without its emulation prevention bytes (00 00 03). Returns the bytes written. */
size_t nal_unescape(const struct nal *nal, uint8_t *out, size_t room);

/* Reads bits of an unescaped unit, from bit number `bit`, which goes on behind the end: 0 there. */
struct bit_reader {
    const uint8_t *data;
    size_t size, bit;
};

int nal_read_bit(struct bit_reader *r);

/* Reads `n` bits, the most significant first. */
uint32_t nal_read_bits(struct bit_reader *r, int n);

/* Reads an Exp-Golomb ue(v). Returns 2^31 if it is truncated or has more than 61 bits. */
uint32_t nal_read_ue(struct bit_reader *r);

/* Skips so many ue(v) or se(v), which have the same length. */
void nal_skip_ue(struct bit_reader *r, int numbers);

/* ---- a coded picture, in decoding order ---- */

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
    bool guessed; /* `placed`: libavformat has a time for it, as for B pictures alone */
    bool placed;  /* it has no time, but a place that is not queued yet */
    bool hidden;  /* never displayed: no picture, excluded by an edit list, not shown by VP8/VP9 */
    bool lost;    /* missing in the file, where one must be: displayed, never decoded */
    bool empty;   /* the packet is valid and holds no picture: a decoder's error means nothing */
    bool field;   /* one field of a frame whose other field has its own packet */
    bool second;  /* the second field of the frame that begins with the picture before it */
    bool illegal_zeros;  /* packet_info's */
    bool suspect;        /* its data may be truncated or damaged */
    bool after_gap;      /* packets are missing right before it */
    bool intra;          /* packet_info's */
    bool droppable;      /* packet_info's */
    bool needs_before;   /* HEVC RASL */
    bool closed;         /* a key frame whose leading pictures refer to nothing before it */
    uint64_t sets;       /* H.264: the state of the active parameter sets (param_sets.h) */
    bool marked_leading; /* the bitstream marks it as leading (HEVC) */
    bool leading;        /* displayed before its GOP's key frame; set by the chunker */
    bool selected;       /* it is selected: `tag` is filled */
    bool done;           /* its frame is in the engine; set by the decode worker */
    enum action action;  /* set by chunk_plan */
    uint64_t frame;      /* number in display order (not for hidden ones) */
    struct frame_tag tag;
};

#endif
