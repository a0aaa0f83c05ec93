/*
 * kmeans_lines.h - memory in whole cache lines of 64 bytes, which a vector of any instruction set
 * divides: a vector may be loaded and stored wherever one begins, over the end of an array too.
 * Freed by free(). Any thread.
 */
#ifndef BARCODE_KMEANS_LINES_H
#define BARCODE_KMEANS_LINES_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static inline size_t kmeans_lines_bytes(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Room for `bytes` bytes, with anything in it. NULL when memory runs out. */
static inline void *kmeans_lines(size_t bytes)
{
    return aligned_alloc(64, kmeans_lines_bytes(bytes));
}

/* The same, zeroed to the end of its last line. */
static inline void *kmeans_lines_zeroed(size_t bytes)
{
    void *p = kmeans_lines(bytes);
    return p ? memset(p, 0, kmeans_lines_bytes(bytes)) : NULL;
}

#endif
