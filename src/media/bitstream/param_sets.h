/*
 * param_sets.h - parameter sets and sequence headers that change within a film.
 *
 * Two recordings joined byte by byte have other sets from the joint on, and may contain them once.
 * A decoder that starts later lacks them, and shows wrong colours without an error. H.264's and
 * MPEG-2's decoders also keep the colour tags of an earlier sequence where a later one has none.
 * Such a film needs one decoder from there on. VP8, VP9 and AV1 key frames contain everything.
 *
 * H.264 and HEVC: VPS, SPS and PPS (ITU-T H.264 7.3.2.1.1, 7.3.2.2; H.265 7.3.2.1 to 7.3.2.3).
 * MPEG-2: the sequence header and its extensions (H.262 6.2.2).
 *
 * Pure functions over untrusted bytes.
 */
#ifndef BARCODE_BITSTREAM_PARAM_SETS_H
#define BARCODE_BITSTREAM_PARAM_SETS_H

#include "packet_scan.h"

enum { PARAM_SET_IDS = 256, PARAM_SETS = 3 * PARAM_SET_IDS };

/* The latest sets, by kind and ID. Pictures are numbered from 1 in the order of the file. */
struct param_sets {
    enum bitstream stream;
    struct param_set {
        uint64_t hash;    /* of its bytes; 0: none came */
        uint64_t picture; /* the last picture with the set; 0: only the extradata had it */
        bool changed;     /* since the first picture */
    } set[PARAM_SETS];
    uint64_t shape;        /* MPEG-2: a hash of what a decoder keeps from the sequence header */
    uint64_t last;         /* the last picture with any set; 0: none had one */
    bool changed;          /* any set changed */
    bool sequence_changed; /* H.264: an SPS changed; MPEG-2: the shape changed */
};

/* Forgets all sets and records those of the extradata: avcC, hvcC or start codes. */
void param_sets_begin(struct param_sets *s, enum bitstream stream, const uint8_t *extradata,
                      size_t size);

/* Records the sets in the packet of picture `picture`. `length_size` as for packet_scan. */
void param_sets_note(struct param_sets *s, int length_size, const uint8_t *data, size_t size,
                     uint64_t picture);

/* Returns true if a set has changed that picture `picture`, a key frame, does not contain. */
bool param_sets_lacking(const struct param_sets *s, uint64_t picture);

/*
 * ---- H.264: active sets, slice headers, and an IDR picture between others (idr_splice.c) ----
 *
 * Sources: ITU-T H.264 7.3.2.1.1 (SPS), 7.3.2.2 (PPS), 7.3.3 (slice header), 8.2.1.1 (order).
 */

/* The fields of an SPS that a slice header depends on. */
struct nal_sps {
    bool known;
    bool planes;            /* separate_colour_plane_flag */
    bool frames;            /* frame_mbs_only_flag: there are no field pictures */
    uint8_t frame_num_bits; /* log2_max_frame_num, 4 to 16 */
    uint8_t order_type;     /* pic_order_cnt_type, 0 to 2 */
    uint8_t order_bits;     /* of type 0: log2_max_pic_order_cnt_lsb, 4 to 16 */
    uint8_t references;     /* max_num_ref_frames, 0 to 16 */
    bool grey;              /* ChromaArrayType is 0 */
    bool no_deltas;         /* of type 1: delta_pic_order_always_zero_flag */
};

/* The fields of a PPS that a slice header depends on. */
struct nal_pps {
    bool known;            /* parsed, and without slice groups */
    bool bottom_order;     /* bottom_field_pic_order_in_frame_present_flag */
    bool redundant;        /* redundant_pic_cnt_present_flag */
    bool weighted;         /* weighted_pred_flag */
    uint8_t weighted_both; /* weighted_bipred_idc */
    uint8_t references[2]; /* num_ref_idx_default_active, 1 to 32 */
};

/* The latest SPS and PPS of each ID. Begins as {0}. */
struct nal_sets {
    uint64_t state; /* a hash over the two arrays of hashes below: equal for equal sets */
    struct nal_sps sps[32];
    struct nal_pps pps[256];
    uint8_t set_of[256];                  /* the ID of each PPS's SPS, plus 1; 0: not seen */
    uint64_t sps_hash[32], pps_hash[256]; /* hash_64 of their bytes, 0: not seen */
};

/* Records the sets of one packet, in the order of the file. `length_size` as for packet_scan. */
void nal_sets_scan(int length_size, const uint8_t *data, size_t size, struct nal_sets *s);

/* Records the sets of the extradata: avcC or start codes. */
void nal_sets_scan_extradata(const uint8_t *extradata, size_t size, struct nal_sets *s);

/* The fields of a slice header. */
struct nal_slice {
    int sps, pps;  /* the IDs of the sets that it refers to */
    uint32_t type; /* slice_type, 0 to 4 */
    uint32_t frame_num;
    bool idr, field, bottom;
    uint32_t order; /* pic_order_cnt_lsb, 0 where the SPS's order_type is not 0 */
    /* its bit position in the unit without emulation prevention bytes */
    size_t order_bit;
};

/* Reads the header of the packet's first slice. Returns false without a slice or its sets. */
bool nal_sets_first_slice(const struct nal_sets *s, int length_size, const uint8_t *data,
                          size_t size, struct nal_slice *slice);

/* Returns true for a complete IDR picture that nal_separate can put before others of its *sps. */
bool nal_may_separate(const struct nal_sets *s, int length_size, const uint8_t *data, size_t size,
                      int *sps);

/* Returns the bytes that nal_separate needs for a packet of `size`. */
size_t nal_separate_room(size_t size);

/*
 * Writes the slices of such a packet, without its other units, to `out` (nal_separate_room(size)
 * bytes), in the same framing. Returns the number of bytes; 0 if it is impossible.
 *
 * `next` is the first slice of the following picture, which is not an IDR, or NULL. The written
 * picture's order count is as far below that of `next` as 8.2.1.1 allows: half the range of the low
 * bits, less one. Otherwise the following picture could be ordered before it, or among the frames
 * that decoders insert where frame_num jumps. Those count on from the written picture, and B
 * pictures would use them as references.
 */
size_t nal_separate(const struct nal_sets *s, int length_size, const uint8_t *data, size_t size,
                    const struct nal_slice *next, uint8_t *out);

#endif
