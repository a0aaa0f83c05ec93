/*
 * cache_writer.h - writes one file of the cache while the film is decoded.
 *
 *   put (any thread): copies the frame
 *   --> [todo] --> threads of the writer: residual, zstd, checksum, write --> [free]
 *
 * cache_writer_put waits for the disk or for zstd only if all copies are in use. After the first
 * failure (a full disk, a missing folder, the limit) the writer discards all later frames, and
 * cache_writer_finish returns the error.
 */
#ifndef BARCODE_CACHE_WRITER_H
#define BARCODE_CACHE_WRITER_H

#include "cache_entry.h"
#include "barcode/engine/column.h"

struct cache_writer;

/* The prefix of a temporary's name. The file is locked (flock) as long as its writer exists. */
#define CACHE_TEMP_START ".new-"

/*
 * Opens a temporary in `folder`, which must exist. Starts up to `threads` compressing threads.
 * `limit` is the maximum size of the file.
 */
struct cache_writer *cache_writer_open(const char *folder, const char *key, int width, int height,
                                       int threads, uint64_t limit, struct err *e);

/* Copies the frame, rgb[height][width][3], before it returns. Any thread. */
void cache_writer_put(struct cache_writer *w, const struct frame_tag *tag, const uint8_t *rgb);

/* Adds the frames that only an older entry of this key has. No frames may be put from then on. */
bool cache_writer_add(struct cache_writer *w, const struct cache_entry *older, struct err *e);

/*
 * Writes the rest and renames the file to folder/name. `facts` has everything but frames and
 * blocks. `columns` gives the columns that were announced but never decoded; NULL omits them. Frees
 * `*w` in any case. On failure no file is left.
 */
bool cache_writer_finish(struct cache_writer **w, const struct cache_index *facts,
                         struct columns *columns, const char *name, struct err *e);

/* Removes the temporary. */
void cache_writer_discard(struct cache_writer **w);

uint64_t cache_writer_bytes(struct cache_writer *w);

#endif
