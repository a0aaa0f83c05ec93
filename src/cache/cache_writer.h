/*
 * cache_writer.h - one file of the cache, written while staging runs.
 *
 *   put (any thread): copies the frame --> [todo] --> own threads: residual, zstd, checksum, write
 * --> [free]
 *
 * No thread waits for the disk or for zstd unless all copies are in use. The first failure (a full
 * disk, a folder that went away, the limit) makes the writer give up: later frames are thrown away,
 * and finishing says why.
 */
#ifndef BARCODE_CACHE_WRITER_H
#define BARCODE_CACHE_WRITER_H

#include "cache_entry.h"
#include "barcode/engine/column.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cache_writer;

/* The start of a temporary's name, which is locked (flock) as long as its writer lives. */
#define CACHE_TEMP_START ".new-"

/* A temporary in `folder`, which is there. `threads` compress; `limit` is what the file may grow
 * to. */
struct cache_writer *cache_writer_open(const char *folder, const char *key, int width, int height,
                                       int threads, uint64_t limit, struct err *e);

/* rgb[height][width][3] is copied before this returns. Any thread. */
void cache_writer_put(struct cache_writer *w, const struct frame_tag *tag, const uint8_t *rgb);

/* Puts the frames of an older entry with the same key that were not put yet. No other thread may
 * put any more. */
bool cache_writer_add(struct cache_writer *w, const struct cache_entry *older, struct err *e);

/*
 * Writes the rest and renames the file to folder/name. `facts` gives what is not about frames and
 * blocks; `columns` those that were announced and never came (NULL: they are left out). Frees *w
 * either way; on failure nothing is left.
 */
bool cache_writer_finish(struct cache_writer **w, const struct cache_index *facts,
                         struct columns *columns, const char *name, struct err *e);

/* Throws everything away. NULL is fine. */
void cache_writer_discard(struct cache_writer **w);

/* Packed bytes of frames so far. */
uint64_t cache_writer_bytes(struct cache_writer *w);

#ifdef __cplusplus
}
#endif
#endif
