/*
 * cache_entry.h - one file of the cache, read. What cache_index.h says is checked before it is
 * believed; an entry that was opened stays readable when its file is removed or replaced.
 */
#ifndef BARCODE_CACHE_ENTRY_H
#define BARCODE_CACHE_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "cache_index.h"

#ifdef __cplusplus
extern "C" {
#endif

enum entry_state {
    ENTRY_GOOD,
    ENTRY_ABSENT, /* no such file, or it cannot be read */
    ENTRY_OTHER,  /* of another version of barcode: not for us */
    ENTRY_BROKEN  /* truncated, changed or foreign */
};

struct cache_entry {
    int fd;
    uint64_t bytes; /* of the file */
    char *key;      /* its key's text */
    struct cache_index index;
};

/* Opens and checks all but the blocks. NULL with the reason in *state and `e`. Any thread; the
 * caller's, cache_entry_close. */
struct cache_entry *cache_entry_open(const char *path, enum entry_state *state, struct err *e);

/* The same for an open file, which it takes (on failure too). */
struct cache_entry *cache_entry_open_fd(int fd, enum entry_state *state, struct err *e);

/* The key's text alone, at most `room` bytes with its zero; false when it is no entry of ours.
 * Nothing is checked. */
bool cache_entry_peek_key(const char *path, char *text, size_t room);

void cache_entry_close(struct cache_entry **entry);

/* One thread's way to the pixels. */
struct cache_entry_reader;

struct cache_entry_reader *cache_entry_reader_open(const struct cache_entry *entry, struct err *e);

/* Reads and checks a block (< index.blocks). False: it is not what was written. */
bool cache_entry_reader_block(struct cache_entry_reader *r, uint64_t block, struct err *e);

/* Frame `n` of the block that was read last, rgb[height][width][3]; the reader's, until its next
 * call. */
const uint8_t *cache_entry_reader_frame(struct cache_entry_reader *r, uint32_t n);

void cache_entry_reader_close(struct cache_entry_reader **r);

/* Reads every block. False: one is broken. */
bool cache_entry_check(const struct cache_entry *entry, struct err *e);

/* The block that holds a frame's place. */
uint64_t cache_entry_block_of(const struct cache_entry *entry, uint64_t place);

#ifdef __cplusplus
}
#endif
#endif
