/*
 * fuzz_cache.c - an entry of the cache, read from any bytes at all.
 *
 * Byte 0 says how: 0 as they are; else the rest is an entry whose checksums are made right first,
 * so that what lies behind them is reached too; 2 the rest is four bytes, how long its blocks are,
 * and an index alone. What opens must be safe to read through and to walk.
 */
#include "cache/cache_entry.h"
#include "fuzz.h"

enum { PIXELS_MAX = 1 << 20 };

static bool seen(void *user, const struct frame_tag *tag)
{
    fuzz_demand(tag->repeat > 0);
    const struct index_frame *f = cache_index_find(user, tag->frame);
    fuzz_demand(!f || (f->tag.frame == tag->frame && f->status != COLUMN_MISSING));
    return true;
}

static void walk(const struct cache_index *x)
{
    static const struct selection rule[] = {
        {.kind = SELECT_EVERY, .every = 3, .end_us = INT64_MAX},
        {.kind = SELECT_INTERVAL, .interval_us = 500000, .start_us = 1000000, .end_us = 900000000},
        {.kind = SELECT_COLUMNS, .columns = 100, .end_us = 60000000},
    };
    struct frame_times_walked w;
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++)
        frame_times_walk(x->frame_times, &rule[i], seen, (void *)x, &w);
    uint64_t places =
        x->blocks > 0 ? x->block[x->blocks - 1].first + x->block[x->blocks - 1].frames : 0;
    for (uint64_t i = 0; i < x->frames; i++) {
        fuzz_demand(x->frame[i].status == COLUMN_MISSING || x->frame[i].place < places);
        fuzz_demand(i == 0 || (x->frame[i].tag.column > x->frame[i - 1].tag.column &&
                               x->frame[i].tag.frame > x->frame[i - 1].tag.frame));
    }
}

static void read_pixels(const struct cache_entry *c)
{
    const struct cache_index *x = &c->index;
    if ((size_t)x->width * (size_t)x->height > PIXELS_MAX)
        return; /* true of real ones, and of no use here */
    struct cache_entry_reader *r = cache_entry_reader_open(c, NULL);
    fuzz_demand(r != NULL);
    for (uint64_t i = 0; i < x->blocks; i++)
        if (cache_entry_reader_block(r, i, NULL))
            for (uint32_t n = 0; n < x->block[i].frames; n++)
                fuzz_demand(cache_entry_reader_frame(r, n) != NULL);
    cache_entry_reader_close(&r);
}

static void open_bytes(const uint8_t *data, size_t size)
{
    enum entry_state state;
    struct err e = ERR_INIT;
    struct cache_entry *c = cache_entry_open_fd(fuzz_file(data, size), &state, &e);
    fuzz_demand((c != NULL) == (state == ENTRY_GOOD) && (c == NULL) == (e.code != ERR_NONE));
    if (c) {
        fuzz_demand(strlen(c->key) < CACHE_KEY_BYTES);
        walk(&c->index);
        read_pixels(c);
    }
    cache_entry_close(&c);
}

static uint64_t word_at(const uint8_t *at, size_t bytes)
{
    struct wire_in in = wire_read(at, bytes);
    return bytes == 8 ? wire_u64(&in) : wire_u32(&in);
}

static void put_hash(uint8_t *at, const uint8_t *data, size_t bytes)
{
    struct wire_out o = {0};
    wire_put_hash(&o, hash_128(data, bytes));
    fuzz_demand(!o.failed);
    memcpy(at, o.data, 16);
    wire_free(&o);
}

/* Makes the three checksums of head, index and tail right, and the index as long as it can be. */
static void sign(uint8_t *data, size_t size)
{
    if (size < ENTRY_HEAD + ENTRY_TAIL)
        return;
    uint8_t *tail = data + size - ENTRY_TAIL;
    uint64_t key = word_at(data + 12, 4), at = word_at(tail, 8);
    memcpy(data, "barcodef\1\0\0\0", 12);
    if (ENTRY_HEAD + key <= size - ENTRY_TAIL)
        put_hash(tail + 16, data, (size_t)(ENTRY_HEAD + key));
    if (at <= size - ENTRY_TAIL)
        put_hash(tail + 32, data + at, (size_t)(size - ENTRY_TAIL - at));
    put_hash(tail + 48, tail, 48);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 3 == 2) {
        struct cache_index x;
        if (size >= 5 &&
            cache_index_decode(&x, data + 5, size - 5, 100, 100 + word_at(data + 1, 4), NULL)) {
            walk(&x);
            cache_index_free(&x);
        }
        return 0;
    }
    uint8_t *copy = fuzz_copy(data + 1, size - 1);
    if (data[0] % 3 == 1)
        sign(copy, size - 1);
    open_bytes(copy, size - 1);
    free(copy);
    return 0;
}
