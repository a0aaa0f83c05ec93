/*
 * nal_reader.h - for the files that read headers (packet_scan.c, h264_params.c, param_sets.c): NAL
 * units and their bits, over untrusted bytes.
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

/* The next start code's position at or after `at`, or `size`. */
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

/* The NAL at *at, which moves past it. False at the end or where lengths make no sense. */
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

/* Where a walk over the units of extradata stands; it begins with {0}. */
struct extradata_walk {
    bool begun, boxed; /* it is an avcC or hvcC, and not units as in packets */
    size_t at;
    int lists, nals; /* lists that were begun; units that are left of the last one */
};

/* packet_scan.c: the next unit of H.264's or HEVC's extradata: avcC, hvcC, or units between start
 * codes. False at the end. */
bool nal_next_of_extradata(enum bitstream kind, const uint8_t *extradata, size_t size,
                           struct extradata_walk *w, struct nal *nal);

/* Copies a NAL's payload without emulation prevention bytes (00 00 03). */
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

/* Bits of a unit without emulation prevention bytes, from number `bit` on. All that lie behind the
 * end are 0. */
struct bit_reader {
    const uint8_t *data;
    size_t size, bit;
};

/* True if everything was read, or more than there was. */
static inline bool is_used_up(const struct bit_reader *r) { return r->bit >= r->size * 8; }

static inline int read_bit(struct bit_reader *r)
{
    if (r->bit / 8 >= r->size)
        return 0;
    int value = r->data[r->bit / 8] >> (7 - r->bit % 8) & 1;
    r->bit++;
    return value;
}

/* `n` bits, the first one highest. */
static inline uint32_t read_bits(struct bit_reader *r, int n)
{
    uint32_t value = 0;
    for (int i = 0; i < n; i++)
        value = value << 1 | (uint32_t)read_bit(r);
    return value;
}

/* Exp-Golomb ue(v); 2^31 for one of more than 61 bits. Of one that breaks off no number says so:
 * is_used_up does. */
static inline uint32_t read_ue(struct bit_reader *r)
{
    int zeros = 0;
    while (!is_used_up(r) && read_bit(r) == 0)
        zeros++;
    if (zeros > 30 || r->bit > r->size * 8)
        return UINT32_C(1) << 31;
    return (UINT32_C(1) << zeros | read_bits(r, zeros)) - 1;
}

/* Leaves out so many ue(v); se(v) are as long. */
static inline void skip_ue(struct bit_reader *r, int numbers)
{
    while (numbers-- > 0)
        read_ue(r);
}

/* Of SEI messages, their types and sizes: a byte and those after it while they are 255
 * (H.264 7.3.2.3.1, H.265 7.3.5). *at moves past it. */
static inline size_t read_sei_number(const uint8_t *sei, size_t size, size_t *at)
{
    size_t value = 0;
    while (*at < size && sei[*at] == 255) {
        value += 255;
        ++*at;
    }
    return *at < size ? value + sei[(*at)++] : value;
}

#endif
