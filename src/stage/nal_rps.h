/*
 * nal_rps.h - HEVC: which earlier pictures a picture's first slice names, its reference picture set.
 *
 * Pure functions over untrusted bytes, as nal.h's. Sources: ITU-T H.265 7.3.2.2 (SPS), 7.3.2.3 (PPS), 7.3.6.1 (slice segment header),
 * 7.3.7 and 7.4.8 (short-term sets), 8.3.1 and 8.3.2 (order counts and what is named).
 */
#ifndef BARCODE_SRC_NAL_RPS_H
#define BARCODE_SRC_NAL_RPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RPS_SHORT = 16, RPS_LONG = 33 };      /* pictures that can be named */
enum { RPS_SPS_MOST = 16 };                  /* numbers of SPSs            */

/* Distances in order count: the `before` negative ones, nearest first, then the positive ones. */
struct nal_rps {
    uint8_t count, before;
    bool used[RPS_SHORT];     /* by the picture itself; else later ones may */
    int32_t delta[RPS_SHORT];
};

struct nal_rps_sps {
    bool known;
    bool planes;              /* separate_colour_plane_flag                                 */
    bool longs;               /* long_term_ref_pics_present_flag                            */
    uint8_t order_bits;       /* of slice_pic_order_cnt_lsb, 4 to 16                         */
    uint8_t sets, long_sets;
    struct nal_rps set[64];
    uint32_t long_order[32];
    bool long_used[32];
};

/* The sets that were seen last, of the base layer. Zero it first. */
struct nal_rps_sets {
    uint64_t sps_hash[16], pps_hash[64];     /* 0: not seen */
    struct nal_rps_sps sps[16];
    struct {
        uint8_t sps, extra_bits; /* sps: its number and 1; 0: not seen */
        bool hides;              /* output_flag_present_flag           */
    } pps[64];
};

/* What a slice names. */
struct nal_rps_slice {
    int type, temporal_id;    /* nal_unit_type, TemporalId                                  */
    uint32_t order, range;    /* slice_pic_order_cnt_lsb, and how far these count           */
    struct nal_rps near;
    int longs;
    struct {
        uint32_t order;       /* low bits                                                   */
        uint32_t cycles;      /* with `whole`: so many ranges below the picture's own order */
        bool whole, used;
    } far[RPS_LONG];
};

struct bit_reader;

/*
 * Reads an SPS, of which `r` stands behind the unit's head, up to its number, which is returned; RPS_SPS_MOST: that makes no sense. *above: temporal
 * layers above the first.
 */
uint32_t nal_rps_sps_number(struct bit_reader *r, uint32_t *above);

/* Keeps the packet's sets, in the order of the file, up to its picture. True: *slice is the picture's; else it has none, or one that is not understood. */
bool nal_rps_scan(struct nal_rps_sets *s, int length_size, const uint8_t *data, size_t size, struct nal_rps_slice *slice);

/* Keeps those of the extradata, hvcC or as in packets. */
void nal_rps_scan_extradata(struct nal_rps_sets *s, const uint8_t *extradata, size_t size);

#ifdef __cplusplus
}
#endif
#endif
