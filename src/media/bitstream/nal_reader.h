/* nal_reader.h - NAL units and their bits, over untrusted bytes; functions in packet_scan.c. */
#ifndef BARCODE_BITSTREAM_NAL_READER_H
#define BARCODE_BITSTREAM_NAL_READER_H

#include "packet_scan.h"

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

#endif
