/*
 * cache_index.h - what an entry of the cache knows of its frames: the part after the pixels, in
 * memory and as bytes.
 *
 * The file, numbers as in wire.h:
 *
 *     "barcodef"  u32 ENTRY_VERSION  u32 length of the key    ENTRY_HEAD bytes
 *     the key's text (cache_key.h)
 *     blocks: one or more frames' residuals (residual.h), packed (pack.h); they follow one another
 * without a gap the index (this header) u64 where the index begins  u64 its length ENTRY_TAIL bytes
 *     XXH3-128 of head and key, of the index, and of the 48 bytes before
 *
 * Every byte is under a checksum: a block's is in the index. The index: size, where the film lay
 * and its name, flags, what staging counted, what pictures were cut to, blocks (packed bytes,
 * frames, checksum), columns in order (distance to the one before, repeat, frame, time, status,
 * place among the blocks' frames), and the frame times.
 */
#ifndef BARCODE_CACHE_INDEX_H
#define BARCODE_CACHE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache_key.h"
#include "barcode/base/err.h"
#include "barcode/base/wire.h"
#include "barcode/engine/column.h"
#include "barcode/engine/frame.h"
#include "barcode/engine/crop.h"
#include "barcode/media/decode_counts.h"
#include "barcode/media/frame_times.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ENTRY_VERSION = 4,
    ENTRY_HEAD = 16,
    ENTRY_TAIL = 64,
    ENTRY_FILM_BYTES = 64,   /* of the film's name, its zero included */
    ENTRY_BLOCK_FRAMES = 64, /* small frames are packed together: this many, */
    /* or this many bytes before they are packed; one frame may always be */
    ENTRY_BLOCK_BYTES = 1 << 18
};

struct index_block {
    uint64_t offset;     /* in the file */
    uint64_t bytes;      /* packed */
    uint64_t first;      /* place of its first frame among all */
    uint32_t frames;     /* 1..ENTRY_BLOCK_FRAMES */
    struct hash128 hash; /* of the packed bytes */
};

struct index_frame {
    struct frame_tag tag;
    enum column_status status; /* MISSING: announced, but never decoded; no place */
    uint64_t place;            /* among all blocks' frames */
};

/* Frames by column, and so by frame number, ascending. */
struct cache_index {
    int width, height;
    bool partial; /* staging was interrupted: some frames, no end */
    /* staged in one piece after a contradiction: good for its own selection only */
    bool exact_only;
    struct cache_place film;
    char name[ENTRY_FILM_BYTES]; /* of the film, when it was written: for people only */
    struct decode_counts counts;
    struct crop crop;
    struct index_block *block;
    uint64_t blocks;
    struct index_frame *frame;
    uint64_t frames;
    struct frame_times *frame_times; /* may be NULL while encoding */
};

/* Frames in a full block of this size of picture. */
uint32_t cache_index_block_frames(int width, int height);

/* True if nothing was damaged, lost or done twice: the frames are good for other selections and for
 * copies of the film, too. */
bool cache_index_is_clean(const struct cache_index *x);

/* The frame of that number; NULL when it is not there, or MISSING. */
const struct index_frame *cache_index_find(const struct cache_index *x, uint64_t frame);

/* Puts frames in the order of their places, so that a walk over them reads each block once. `frame`
 * may be NULL for none. */
void cache_index_sort_by_place(struct index_frame *frame, size_t frames);

void cache_index_encode(const struct cache_index *x, struct wire_out *o);

/*
 * From bytes that may be anything. The blocks must fill the file from `begin` to `end`. False
 * (ERR_FAILED): they are no index, or memory ran out; `x` is then empty.
 */
bool cache_index_decode(struct cache_index *x, const uint8_t *data, size_t bytes, uint64_t begin,
                        uint64_t end, struct err *e);

/* Frees what it holds and empties it. */
void cache_index_free(struct cache_index *x);

#ifdef __cplusplus
}
#endif
#endif
