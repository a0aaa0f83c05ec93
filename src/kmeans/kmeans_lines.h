/*
 * kmeans_lines.h - allocates complete, aligned cache lines of 64 bytes, a multiple of every vector
 * size. So a vector at any multiple of its size may be loaded and stored, even over the end of an
 * array. Free the memory with free(). Any thread.
 */
#ifndef BARCODE_KMEANS_LINES_H
#define BARCODE_KMEANS_LINES_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static inline size_t kmeans_lines_bytes(size_t bytes) { return (bytes + 63) / 64 * 64; }

/* Allocates `bytes` uninitialized bytes. Returns NULL if out of memory. */
static inline void *kmeans_lines(size_t bytes)
{
    return aligned_alloc(64, kmeans_lines_bytes(bytes));
}

/* Allocates zeroed bytes, up to the end of the last line. Returns NULL if out of memory. */
static inline void *kmeans_lines_zeroed(size_t bytes)
{
    void *p = kmeans_lines(bytes);
    return p ? memset(p, 0, kmeans_lines_bytes(bytes)) : NULL;
}

#endif
