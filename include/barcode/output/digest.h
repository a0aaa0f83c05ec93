/*
 * digest.h - a fingerprint of every staged frame by column, for --verify.
 */
#ifndef BARCODE_DIGEST_H
#define BARCODE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct digest;

struct digest *digest_open(struct err *e);

/* Notes XXH3-64 of `bytes` bytes for a column (< 2^32). Any thread. */
bool digest_put(struct digest *d, uint64_t column, const void *data, size_t bytes, struct err *e);

/* Forgets a column. */
void digest_drop(struct digest *d, uint64_t column);

/* Compares two, once all writers are done: columns in both, of those different, columns in one
 * only. */
struct digest_result {
    uint64_t both, different, alone, first_difference;
};
struct digest_result digest_compare(const struct digest *a, const struct digest *b);

void digest_free(struct digest **d);

#ifdef __cplusplus
}
#endif
#endif
