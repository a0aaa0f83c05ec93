/*
 * nal_bytes.h - for tests: packets put together byte by byte, and what packet_scan says of them.
 * Behind cmocka.h.
 */
#ifndef BARCODE_TESTS_NAL_BYTES_H
#define BARCODE_TESTS_NAL_BYTES_H

#include <stdlib.h>
#include <string.h>

#include "media/bitstream/packet_scan.h"

/* A packet under construction. */
struct bytes {
    uint8_t at[4096];
    size_t n;
};

static inline void put(struct bytes *b, const void *data, size_t n)
{
    memcpy(b->at + b->n, data, n);
    b->n += n;
}

#define PUT(b, ...) put((b), (const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__})

/* One NAL, behind a start code (length_size 0) or a length. */
static inline void nal(struct bytes *b, int length_size, const void *data, size_t n)
{
    if (length_size == 0)
        PUT(b, 0, 0, 1);
    for (int i = length_size - 1; i >= 0; i--)
        PUT(b, (uint8_t)(n >> (8 * i)));
    put(b, data, n);
}

#define NAL(b, size, ...) \
    nal((b), (size), (const uint8_t[]){__VA_ARGS__}, sizeof(const uint8_t[]){__VA_ARGS__})

/* The packet is scanned from a block of its exact size, so that the address sanitizer sees a read
 * behind it. */
static inline struct packet_info scan(enum bitstream kind, int length_size, const struct bytes *b)
{
    struct packet_info info;
    uint8_t *copy = malloc(b->n);
    assert_non_null(copy);
    memcpy(copy, b->at, b->n);
    packet_scan(kind, length_size, copy, b->n, &info);
    free(copy);
    return info;
}

#endif
