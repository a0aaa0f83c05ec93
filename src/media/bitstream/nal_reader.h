/*
 * nal_reader.h - reads NAL units and their bits, over untrusted bytes; for packet_scan.c,
 * h264_params.c and param_sets.c.
 */
#ifndef BARCODE_BITSTREAM_NAL_READER_H
#define BARCODE_BITSTREAM_NAL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "packet_scan.h"

struct nal {
    const uint8_t *data;
    size_t size;
};

/* Returns the position of the next start code at or after `at`, or `size`. */
static inline size_t find_start(const uint8_t *data, size_t at, size_t size)
{
    while (at + 3 <= size) {
        const uint8_t *one = memchr(data + at + 2, 1, size - at - 2);
        if (!one)
            return size;
        size_t p = (size_t)(one - data) - 2;
        if (data[p] == 0 && data[p + 1] == 0)
            return p;
        at = p + 1;
    }
    return size;
}

/*
 * Reads the NAL unit at *at, and moves *at past it. Returns false at the end, or if a length is
 * invalid.
 */
static inline bool next_nal(int length_size, const uint8_t *data, size_t size, size_t *at,
                            struct nal *nal)
{
    if (length_size == 0) {
        size_t start = find_start(data, *at, size);
        if (start >= size)
            return false;
        start += 3;
        size_t end = find_start(data, start, size);
        *nal = (struct nal){data + start, end - start};
        *at = end;
        return true;
    }
    if (size - *at < (size_t)length_size)
        return false;
    size_t length = 0;
    for (int i = 0; i < length_size; i++)
        length = length << 8 | data[*at + (size_t)i];
    *at += (size_t)length_size;
    if (length > size - *at)
        return false;
    *nal = (struct nal){data + *at, length};
    *at += length;
    return true;
}

/* The state of a walk over the units of extradata; begins as {0}. */
struct extradata_walk {
    bool begun, boxed; /* avcC or hvcC; otherwise start codes */
    size_t at;
    int lists, nals; /* lists begun so far; units left of the current one */
};

/*
 * Reads the next unit of H.264's or HEVC's extradata: avcC, hvcC or start codes. Returns false at
 * the end. In packet_scan.c.
 */
bool nal_next_of_extradata(enum bitstream kind, const uint8_t *extradata, size_t size,
                           struct extradata_walk *w, struct nal *nal);

/*
 * Copies a unit without its emulation prevention bytes (00 00 03). Returns the number of bytes
 * written.
 */
static inline size_t unescape_unit(const struct nal *nal, uint8_t *out, size_t room)
{
    size_t used = 0, zeros = 0;
    for (size_t i = 0; i < nal->size && used < room; i++) {
        if (zeros >= 2 && nal->data[i] == 3) {
            zeros = 0;
            continue;
        }
        zeros = nal->data[i] == 0 ? zeros + 1 : 0;
        out[used++] = nal->data[i];
    }
    return used;
}

/*
 * Reads the bits of a unit without emulation prevention bytes, from bit number `bit`. Bits after
 * the end read as 0, and `bit` counts them too.
 */
struct bit_reader {
    const uint8_t *data;
    size_t size, bit;
};

/* Returns true if all bits were read, or more than there were. */
static inline bool is_used_up(const struct bit_reader *r) { return r->bit >= r->size * 8; }

/* Returns true if more bits were read than there were: the last value was truncated. */
static inline bool is_overrun(const struct bit_reader *r) { return r->bit > r->size * 8; }

static inline int read_bit(struct bit_reader *r)
{
    size_t bit = r->bit++;
    return bit / 8 < r->size ? r->data[bit / 8] >> (7 - bit % 8) & 1 : 0;
}

/* Reads `n` bits, the most significant first. */
static inline uint32_t read_bits(struct bit_reader *r, int n)
{
    uint32_t value = 0;
    for (int i = 0; i < n; i++)
        value = value << 1 | (uint32_t)read_bit(r);
    return value;
}

/* Reads an Exp-Golomb ue(v). Returns 2^31 if it is truncated or has more than 61 bits. */
static inline uint32_t read_ue(struct bit_reader *r)
{
    int zeros = 0;
    while (!is_overrun(r) && read_bit(r) == 0)
        zeros++;
    uint32_t rest = zeros <= 30 ? read_bits(r, zeros) : 0;
    if (zeros > 30 || is_overrun(r))
        return UINT32_C(1) << 31;
    return (UINT32_C(1) << zeros | rest) - 1;
}

/* Skips so many ue(v) or se(v), which have the same length. */
static inline void skip_ue(struct bit_reader *r, int numbers)
{
    while (numbers-- > 0)
        read_ue(r);
}

#endif
