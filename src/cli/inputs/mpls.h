/* mpls.h - reads the playlist of a Blu-ray: untrusted bytes. Any thread. */
#ifndef BARCODE_INPUTS_MPLS_H
#define BARCODE_INPUTS_MPLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A clip, and the section of it that is played, in microseconds. */
struct mpls_item {
    char name[16]; /* "00001.m2ts" */
    int64_t start_us, end_us;
};

/* Returns the number of clips in a playlist of `size` bytes, or 0 if it is none. */
size_t mpls_count(const uint8_t *data, size_t size);

/* Reads clip `i`, less than mpls_count. Returns false if it is damaged. */
bool mpls_item(const uint8_t *data, size_t size, size_t i, struct mpls_item *item);

#endif
