/*
 * source_cache.h - a source of cached frames, alone or combined with the film, from which the
 * missing frames are decoded.
 *
 * Several threads read, verify and decompress blocks, each with its own engine port. Frames of a
 * block whose checksum does not match are not used: counts->cache_failed then means that the caller
 * must decode the film again into new columns.
 */
#ifndef BARCODE_SOURCE_CACHE_H
#define BARCODE_SOURCE_CACHE_H

#include "cache_store.h"
#include "media/source.h"

/* Borrows `film` and `found` (with its entry) until source_close. PARTIAL reads the film too. */
struct source *source_cache_open(struct source *film, const struct cache_found *found,
                                 struct err *e);

/* Returns how many frames came from the cache. Call it after the decode pass. */
uint64_t source_cache_frames(const struct source *s);

/*
 * Returns the error of the entry if counts->cache_failed, otherwise an empty one: ERR_INPUT if the
 * entry is damaged. The source owns it. Call it after the decode pass.
 */
const struct err *source_cache_broken(const struct source *s);

#endif
