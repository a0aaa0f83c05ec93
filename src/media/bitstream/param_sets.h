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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
