/*
 * spot_check.h - tells a film from another one of the same size, modification time and fingerprint:
 * by bytes at places that are random, and stored in the cache entry alone. Anybody knows the places
 * of the fingerprint (film_id.h), and could make a film that differs only elsewhere.
 *
 * A copied or moved film has the same bytes, so it keeps its entries.
 */
#ifndef BARCODE_SPOT_CHECK_H
#define BARCODE_SPOT_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/film_id.h"

enum { SPOT_CHECK_BYTES = 24 };

/*
 * Reads up to 1 MiB of the film, the file `path` or all its `parts`, and writes what
 * spot_check_holds needs. Returns false if the film cannot be read, or if out of memory. Any
 * thread.
 */
bool spot_check_make(const char *path, const struct film_parts *parts,
                     uint8_t check[SPOT_CHECK_BYTES]);

/* Returns true if the film has these bytes at these places. `check` is untrusted. Any thread. */
bool spot_check_holds(const char *path, const struct film_parts *parts, const uint8_t *check,
                      size_t bytes);

#endif
