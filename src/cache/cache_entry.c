#include "cache_entry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "pack.h"

static const char magic[] = "barcodef";
/* In memory a hostile index is up to 24 times larger. A frame has about 10 bytes. */
#define INDEX_BYTES_MAX ((uint64_t)64 << 20)

/* ---- Opening ---- */

/* Returns the state of an entry of which a read has failed with errno; 0: it is too short. */
static enum entry_state state_of(int error)
{
    if (error == 0)
        return ENTRY_BROKEN;
    return error != ENOMEM && file_is_fault(error) ? ENTRY_UNREADABLE : ENTRY_ABSENT;
}

/*
 * Reads header and key. The caller frees `*key`. `*hash` is the hash of these bytes, for comparison
 * with the tail's first checksum.
 */
static enum entry_state read_key(int fd, char **key, size_t *length, struct hash128 *hash)
{
    uint8_t head[ENTRY_HEAD];
    *key = NULL;
    if (!file_read_at(fd, head, sizeof head, 0))
        return state_of(errno);
    struct wire_in in = wire_read(head + 8, sizeof head - 8);
    uint32_t version = wire_u32(&in), bytes = wire_u32(&in);
    if (memcmp(head, magic, 8) != 0)
        return ENTRY_BROKEN;
    if (version != ENTRY_VERSION)
        return ENTRY_OTHER;
    if (bytes < 1 || bytes >= CACHE_KEY_BYTES)
        return ENTRY_BROKEN;
    uint8_t *whole = malloc(ENTRY_HEAD + bytes + 1);
    if (!whole)
        return ENTRY_ABSENT;
    memcpy(whole, head, ENTRY_HEAD);
    errno = 0;
    if (!file_read_at(fd, whole + ENTRY_HEAD, bytes, ENTRY_HEAD) ||
        memchr(whole + ENTRY_HEAD, 0, bytes)) {
        enum entry_state state = state_of(errno);
        free(whole);
        return state;
    }
    *hash = hash_128(whole, ENTRY_HEAD + bytes);
    memmove(whole, whole + ENTRY_HEAD, bytes);
    whole[bytes] = 0;
    *key = (char *)whole;
    *length = bytes;
    return ENTRY_GOOD;
}

static bool read_index(struct cache_entry *c, size_t key_length, struct hash128 key_hash,
                       struct err *e)
{
    uint8_t tail[ENTRY_TAIL];
    uint64_t begin = ENTRY_HEAD + key_length;
    if (c->bytes < begin + ENTRY_TAIL ||
        !file_read_at(c->fd, tail, sizeof tail, c->bytes - ENTRY_TAIL))
        return err_set(e, ERR_FAILED, "%s", errno ? strerror(errno) : "it is truncated");
    struct wire_in in = wire_read(tail, sizeof tail);
    uint64_t at = wire_u64(&in), bytes = wire_u64(&in);
    struct hash128 stored_key_hash = wire_hash(&in), index_hash = wire_hash(&in),
                   tail_hash = wire_hash(&in);
    if (!hash_same(tail_hash, hash_128(tail, ENTRY_TAIL - 16)))
        return err_set(e, ERR_FAILED, "its last bytes are not those of an entry");
    if (!hash_same(stored_key_hash, key_hash))
        return err_set(e, ERR_FAILED, "its key does not match its checksum");
    if (at < begin || at > c->bytes - ENTRY_TAIL || bytes != c->bytes - ENTRY_TAIL - at ||
        bytes > INDEX_BYTES_MAX)
        return err_set(e, ERR_FAILED, "its length does not match its index");
    uint8_t *data = malloc((size_t)bytes + 1);
    if (!data)
        return err_memory(e, (size_t)bytes);
    bool ok = false;
    if (!file_read_at(c->fd, data, (size_t)bytes, at))
        err_set(e, ERR_FAILED, "%s", errno ? strerror(errno) : "it is truncated");
    else if (!hash_same(index_hash, hash_128(data, (size_t)bytes)))
        err_set(e, ERR_FAILED, "its index does not match its checksum");
    else
        ok = cache_index_decode(&c->index, data, (size_t)bytes, begin, at, e);
    free(data);
    return ok;
}

struct cache_entry *cache_entry_open_fd(int fd, enum entry_state *state, struct err *e)
{
    struct cache_entry *c = calloc(1, sizeof *c);
    struct stat st;
    size_t length = 0;
    struct hash128 hash = {0, 0};
    *state = ENTRY_ABSENT;
    if (!c) {
        close(fd);
        err_memory(e, sizeof *c);
        return NULL;
    }
    c->fd = fd;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (ok) {
        c->bytes = (uint64_t)st.st_size;
        *state = read_key(fd, &c->key, &length, &hash);
        ok = *state == ENTRY_GOOD;
    }
    if (*state == ENTRY_OTHER)
        err_set(e, ERR_FAILED, "another version of barcode wrote it");
    else if (*state == ENTRY_UNREADABLE)
        err_set(e, ERR_FAILED, "%s", strerror(errno));
    else if (!ok)
        err_set(e, ERR_FAILED, "it is not an entry");
    errno = 0;
    if (ok && !read_index(c, length, hash, e)) {
        *state = state_of(errno); /* also ENOMEM: the entry may be good */
        ok = false;
    }
    if (!ok)
        cache_entry_close(&c);
    return c;
}

struct cache_entry *cache_entry_open(const char *path, enum entry_state *state, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd >= 0)
        return cache_entry_open_fd(fd, state, e);
    *state = state_of(errno);
    err_set(e, ERR_FAILED, "%s", strerror(errno));
    return NULL;
}

bool cache_entry_peek_key(const char *path, char *text, size_t room)
{
    char *key;
    size_t length;
    struct hash128 hash;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool ok = read_key(fd, &key, &length, &hash) == ENTRY_GOOD && length < room;
    if (ok)
        memcpy(text, key, length + 1);
    free(key);
    close(fd);
    return ok;
}

void cache_entry_close(struct cache_entry **entry)
{
    struct cache_entry *c = *entry;
    if (!c)
        return;
    close(c->fd);
    free(c->key);
    cache_index_free(&c->index);
    free(c);
    *entry = NULL;
}

/* ---- Frames ---- */

struct cache_entry_reader {
    const struct cache_entry *entry;
    struct cache_packer *cache_packer;
    size_t frame_bytes;
    uint8_t *packed, *residual, *scratch, *rgb;
};

struct cache_entry_reader *cache_entry_reader_open(const struct cache_entry *entry, struct err *e)
{
    const struct cache_index *x = &entry->index;
    struct cache_entry_reader *r = err_calloc(1, sizeof *r, e);
    if (!r)
        return NULL;
    size_t block = 0, packed = 0;
    r->entry = entry;
    r->frame_bytes = (size_t)x->width * (size_t)x->height * 3;
    for (uint64_t i = 0; i < x->blocks; i++) {
        block = x->block[i].frames * r->frame_bytes > block ? x->block[i].frames * r->frame_bytes
                                                            : block;
        packed = x->block[i].bytes > packed ? (size_t)x->block[i].bytes : packed;
    }
    r->cache_packer = cache_packer_open(e);
    r->packed = malloc(packed + 1);
    r->residual = malloc(block + 1);
    r->scratch = malloc(r->frame_bytes);
    r->rgb = malloc(r->frame_bytes);
    if (r->cache_packer && r->packed && r->residual && r->scratch && r->rgb)
        return r;
    err_memory(e, packed + block + 2 * r->frame_bytes);
    cache_entry_reader_close(&r);
    return NULL;
}

bool cache_entry_reader_block(struct cache_entry_reader *r, uint64_t block, struct err *e)
{
    const struct index_block *b = &r->entry->index.block[block];
    if (!file_read_at(r->entry->fd, r->packed, (size_t)b->bytes, b->offset))
        return errno ? err_set(e, ERR_FAILED, "%s", strerror(errno))
                     : err_set(e, ERR_INPUT, "it is truncated");
    if (!hash_same(hash_128(r->packed, (size_t)b->bytes), b->hash))
        return err_set(e, ERR_INPUT, "a block does not match its checksum");
    return cache_unpack(r->cache_packer, r->packed, (size_t)b->bytes, r->residual,
                        b->frames * r->frame_bytes, e);
}

const uint8_t *cache_entry_reader_frame(struct cache_entry_reader *r, uint32_t n)
{
    const struct cache_index *x = &r->entry->index;
    cache_residual_undo(r->residual + n * r->frame_bytes, x->width, x->height, r->scratch, r->rgb);
    return r->rgb;
}

void cache_entry_reader_close(struct cache_entry_reader **reader)
{
    struct cache_entry_reader *r = *reader;
    if (!r)
        return;
    cache_packer_free(&r->cache_packer);
    free(r->packed);
    free(r->residual);
    free(r->scratch);
    free(r->rgb);
    free(r);
    *reader = NULL;
}

bool cache_entry_check(const struct cache_entry *entry, struct err *e)
{
    struct cache_entry_reader *r = cache_entry_reader_open(entry, e);
    bool ok = r != NULL;
    for (uint64_t i = 0; i < entry->index.blocks && ok; i++)
        ok = cache_entry_reader_block(r, i, e);
    cache_entry_reader_close(&r);
    return ok;
}

uint64_t cache_entry_block_of(const struct cache_entry *entry, uint64_t place)
{
    const struct cache_index *x = &entry->index;
    uint64_t low = 0, high = x->blocks;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (x->block[middle].first <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}
