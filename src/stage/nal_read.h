/*
 * nal_read.h - for the files that read headers (nal.c, nal_colours.c, nal_sets.c, nal_frame.c, nal_rps.c): NAL units and their bits, over untrusted bytes.
 */
#ifndef BARCODE_SRC_NAL_READ_H
#define BARCODE_SRC_NAL_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
static inline bool next_nal(int length_size, const uint8_t *data, size_t size, size_t *at, struct nal *nal)
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

/* The same, but between start codes the NAL goes on to the end of the data: whoever reads its head only need not look for its end. */
static inline bool next_head(int length_size, const uint8_t *data, size_t size, size_t *at, struct nal *nal)
{
    if (length_size > 0)
        return next_nal(length_size, data, size, at, nal);
    size_t start = find_start(data, *at, size);
    if (start >= size)
        return false;
    *at = start + 3;
    *nal = (struct nal){data + *at, size - *at};
    return true;
}

/*
 * hvcC (ISO/IEC 14496-15, 8.3.3.1.2): 22 bytes, the number of arrays; each has a byte of type, a number of NALs, and each of these
 * two bytes of length. A walk over the NALs begins with {0}; false at the end.
 */
struct hvcc_walk {
    size_t at;
    int arrays, nals;     /* that are left */
};

static inline bool next_hvcc_nal(const uint8_t *extradata, size_t size, struct hvcc_walk *w, struct nal *nal)
{
    if (w->at == 0)
        *w = (struct hvcc_walk){.at = 23, .arrays = extradata[22]};
    for (;;) {
        if (w->nals > 0 && next_nal(2, extradata, size, &w->at, nal)) {
            w->nals--;
            return true;
        }
        if (w->arrays == 0 || w->at + 3 > size)
            return false;
        w->arrays--;
        w->nals = extradata[w->at + 1] << 8 | extradata[w->at + 2];
        w->at += 3;
    }
}

/*
 * avcC (ISO/IEC 14496-15, 5.3.3.1.2): 5 bytes, the number of SPS in 5 bits, these, the number of PPS, these; each has two bytes of
 * length. A walk over the NALs begins with {0}; false at the end.
 */
struct avcc_walk {
    size_t at;
    int lists, nals;      /* lists that were begun; NALs that are left of the last one */
};

static inline bool next_avcc_nal(const uint8_t *extradata, size_t size, struct avcc_walk *w, struct nal *nal)
{
    if (w->at == 0)
        *w = (struct avcc_walk){.at = 5};
    for (;;) {
        if (w->nals > 0 && next_nal(2, extradata, size, &w->at, nal)) {
            w->nals--;
            return true;
        }
        if (w->lists == 2 || w->at >= size)
            return false;
        w->nals = extradata[w->at++] & (w->lists++ == 0 ? 31 : 255);
    }
}

/* Copies a NAL's payload without emulation prevention bytes (00 00 03). */
static inline size_t unescape(const struct nal *nal, uint8_t *out, size_t room)
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

static inline int read_bit(const uint8_t *data, size_t size, size_t *bit)
{
    if (*bit / 8 >= size)
        return 0;
    int value = data[*bit / 8] >> (7 - *bit % 8) & 1;
    ++*bit;
    return value;
}

/* Exp-Golomb ue(v); 2^31 when the data ends first. */
static inline uint32_t read_ue(const uint8_t *data, size_t size, size_t *bit)
{
    int zeros = 0;
    while (*bit < size * 8 && read_bit(data, size, bit) == 0)
        zeros++;
    if (zeros > 30 || *bit >= size * 8 + 1)
        return UINT32_C(1) << 31;
    uint32_t value = 1;
    for (int i = 0; i < zeros; i++)
        value = value << 1 | (uint32_t)read_bit(data, size, bit);
    return value - 1;
}

/* `n` bits, the first one highest; 0 for those past the end. */
static inline uint32_t read_bits(const uint8_t *data, size_t size, size_t *bit, int n)
{
    uint32_t value = 0;
    for (int i = 0; i < n; i++)
        value = value << 1 | (uint32_t)read_bit(data, size, bit);
    return value;
}

/*
 * nal_colours.c: moves *bit over what of an H.264 SPS depends on its profile, from chroma_format_idc up to the scaling lists. Returns
 * separate_colour_plane_flag.
 */
bool nal_skip_high_profile(const uint8_t *sps, size_t size, size_t *bit, int profile);

/* nal_rps.c: bits of profile, tier and level, from `bit` on, of an HEVC SPS with so many temporal layers above the first: H.265 7.3.3. */
size_t nal_profile_bits(const uint8_t *sps, size_t size, size_t bit, uint32_t above);

#endif
