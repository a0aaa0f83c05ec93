/*
 * source_cache.h - frames of the cache as a source, alone or beside the film that the rest is
 * decoded from.
 *
 * Several threads read, check and unpack blocks, each with its own way into the engine. Nothing
 * that does not match its checksum is put; then counts->cache_failed says that the film must be
 * staged anew, into new columns.
 */
#ifndef BARCODE_SOURCE_CACHE_H
#define BARCODE_SOURCE_CACHE_H

#include "cache_store.h"
#include "barcode/media/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * `film` and `found` (HIT, HIT_OTHER or PARTIAL, with its entry) are lent until source_close, and
 * for PARTIAL the film is read as well. NULL: no memory.
 */
struct source *source_cache_open(struct source *film, const struct cache_found *found,
                                 struct err *e);

/* How many frames came from the cache. Once staging is over. */
uint64_t source_cache_frames(const struct source *s);

/* What was wrong with the entry when counts->cache_failed; "" otherwise. Once staging is over. */
const char *source_cache_broken(const struct source *s);

#ifdef __cplusplus
}
#endif
#endif
