/*
 * cache_entry.h - reads one file of the cache. Everything in its index (cache_index.h) is checked
 * before use. An open entry stays readable when its file is removed or replaced.
 */
#ifndef BARCODE_CACHE_ENTRY_H
#define BARCODE_CACHE_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "cache_index.h"

enum entry_state {
    ENTRY_GOOD,
    ENTRY_ABSENT,     /* no such file, not readable for this user, or out of memory */
    ENTRY_UNREADABLE, /* the disk or network fails: the entry may be good */
    ENTRY_OTHER,      /* of another version of barcode: ignored */
    ENTRY_BROKEN      /* truncated, damaged, or no entry at all */
};

struct cache_entry {
    int fd;
    uint64_t bytes; /* size of the file */
    char *key;      /* the text of its key */
    struct cache_index index;
};

/*
 * Opens an entry, not a link to one, and checks everything but the blocks. Returns NULL, with the
 * reason in `*state` and `e`, on failure. The caller frees the entry with cache_entry_close. Any
 * thread.
 */
struct cache_entry *cache_entry_open(const char *path, enum entry_state *state, struct err *e);

/* As cache_entry_open, for an open file. Takes ownership of `fd`, also on failure. */
struct cache_entry *cache_entry_open_fd(int fd, enum entry_state *state, struct err *e);

/*
 * Reads only the text of the key, at most `room` bytes with its terminating zero. Verifies no
 * checksum. Returns false if the file is not an entry of this version or `room` is too small.
 */
bool cache_entry_peek_key(const char *path, char *text, size_t room);

void cache_entry_close(struct cache_entry **entry);

/* Reads frames. Each thread needs its own. */
struct cache_entry_reader;

struct cache_entry_reader *cache_entry_reader_open(const struct cache_entry *entry, struct err *e);

/*
 * Reads a block (< index.blocks) and verifies its checksum. Returns false with ERR_INPUT if the
 * block is damaged, and with ERR_FAILED if it cannot be read or memory ran out.
 */
bool cache_entry_reader_block(struct cache_entry_reader *r, uint64_t block, struct err *e);

/*
 * Returns frame `n` of the last block read, rgb[height][width][3]. The memory belongs to the reader
 * and is valid until its next call.
 */
const uint8_t *cache_entry_reader_frame(struct cache_entry_reader *r, uint32_t n);

void cache_entry_reader_close(struct cache_entry_reader **r);

/* Reads every block, and fails like cache_entry_reader_block. */
bool cache_entry_check(const struct cache_entry *entry, struct err *e);

/* Returns the block that contains the frame at `place`. */
uint64_t cache_entry_block_of(const struct cache_entry *entry, uint64_t place);

#endif
