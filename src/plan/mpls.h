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

/*
 * Returns the number of clips in a playlist of `size` bytes, or 0 if it is none. Sets *at to where
 * the first one is described.
 */
size_t mpls_begin(const uint8_t *data, size_t size, size_t *at);

/* Reads the clip that is described at *at, and moves *at to the next. False if it is damaged. */
bool mpls_next(const uint8_t *data, size_t size, size_t *at, struct mpls_item *item);

#endif
