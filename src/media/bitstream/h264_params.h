/*
 * h264_params.h - H.264: which parameter sets are in force, where a slice's header says its picture
 * order count, and an IDR picture made over into one that stands between two others (idr_splice.h).
 *
 * Pure functions over untrusted bytes, as packet_scan.h's. Sources: ITU-T H.264 7.3.2.1.1
 * (SPS), 7.3.2.2 (PPS), 7.3.3 (slice header), 8.2.1.1 (order).
 */
#ifndef BARCODE_BITSTREAM_H264_PARAMS_H
#define BARCODE_BITSTREAM_H264_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What of an SPS a slice's header depends on. */
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

/* What of a PPS a slice's header depends on. */
struct nal_pps {
    bool known;            /* its slices stand in rows: no slice groups */
    bool bottom_order;     /* bottom_field_pic_order_in_frame_present_flag */
    bool redundant;        /* redundant_pic_cnt_present_flag */
    bool weighted;         /* weighted_pred_flag */
    uint8_t weighted_both; /* weighted_bipred_idc */
    uint8_t references[2]; /* num_ref_idx_default_active, 1 to 32 */
};

struct bit_reader;

/* Reads an SPS, of which `r` stands behind the number, up to frame_mbs_only_flag. */
void nal_sets_read_sps(struct bit_reader *r, struct nal_sps *sps);

/* The sets that were seen last, an SPS and a PPS for each id. Zero it first. */
struct nal_sets {
    uint64_t state; /* a hash over the two below: the same for the same sets */
    struct nal_sps sps[32];
    struct nal_pps pps[256];
    uint8_t set_of[256];                  /* the SPS of each PPS, and 1; 0: not seen */
    uint64_t sps_hash[32], pps_hash[256]; /* hash_64 of their bytes, 0: not seen */
};

/* Goes on with one packet's sets, in the order of the file. `length_size` as packet_scan's. */
void nal_sets_scan(int length_size, const uint8_t *data, size_t size, struct nal_sets *s);

/* The same with those in the extradata: avcC, or as in packets. */
void nal_sets_scan_extradata(const uint8_t *extradata, size_t size, struct nal_sets *s);

/* What a slice's header says. */
struct nal_slice {
    int sps, pps;  /* the ids of the sets that its picture goes by */
    uint32_t type; /* slice_type, 0 to 4 */
    uint32_t frame_num;
    bool idr, field, bottom;
    uint32_t order; /* pic_order_cnt_lsb, 0 where the SPS's order_type is not 0 */
    /* where that stands in the unit, counted without emulation prevention bytes */
    size_t order_bit;
};

/* The header of the slice in `data`, a unit without emulation prevention bytes. False: it breaks
 * off, or its sets are not known. */
bool nal_sets_read_slice(const struct nal_sets *s, const uint8_t *data, size_t size,
                         struct nal_slice *slice);

/* The packet's first slice. False: it has none, or its sets are not known. */
bool nal_sets_first_slice(const struct nal_sets *s, int length_size, const uint8_t *data,
                          size_t size, struct nal_slice *slice);

/*
 * True if the packet is a whole IDR picture (a frame, or both fields) that nal_separate can put
 * before any other picture of its SPS, *sps.
 */
bool nal_may_separate(const struct nal_sets *s, int length_size, const uint8_t *data, size_t size,
                      int *sps);

/* Bytes that nal_separate may write for a packet of `size`. */
size_t nal_separate_room(size_t size);

/*
 * Writes the slices of such a packet, and nothing else of it, to `out` (nal_separate_room(size)
 * bytes), framed as the packet is. Returns how many bytes; 0: it cannot be done.
 *
 * `next`: the first slice of the picture that is to follow, which is not an IDR, or NULL. The
 * written picture gets an order count so far below that one's as 8.2.1.1 allows, half the range of
 * the low bits less one. Otherwise the following picture could come to stand before it, or amid the
 * frames that decoders make up where frame_num jumps, which count on from it: then B pictures would
 * find them among their nearest references.
 */
size_t nal_separate(const struct nal_sets *s, int length_size, const uint8_t *data, size_t size,
                    const struct nal_slice *next, uint8_t *out);

#ifdef __cplusplus
}
#endif
#endif
