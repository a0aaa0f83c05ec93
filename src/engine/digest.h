/* digest.h - a hash of every analysis frame by column, for --verify. */
#ifndef BARCODE_DIGEST_H
#define BARCODE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

struct digest;

struct digest *digest_open(struct err *e);
void digest_free(struct digest **d);

/* Stores the XXH3-64 of `bytes` bytes for a column (< 2^32). Any thread. */
bool digest_put(struct digest *d, uint64_t column, const void *data, size_t bytes, struct err *e);

/* Removes a column. Call it when no thread calls digest_put. */
void digest_drop(struct digest *d, uint64_t column);

/* The result of digest_compare: columns in both digests, how many of them differ, columns in only
 * one, and the first column that differs (0 if none does). */
struct digest_result {
    uint64_t both, different, alone, first_difference;
};
struct digest_result digest_compare(const struct digest *a, const struct digest *b);

#endif
