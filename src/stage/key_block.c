#include "key_block.h"

#include <unistd.h>

enum { HEAD = 32 };               /* an element's identifier and size, and a block's own head */
#define UNKNOWN UINT64_MAX

struct element {
    uint64_t id, size;            /* size UNKNOWN: its end is not said */
    int64_t data;                 /* where its content begins          */
    const uint8_t *bytes;         /* of the content, so many           */
    size_t count;
};

/* A number of variable length at *at, which moves past it; with its marker for an identifier. UNKNOWN: all its bits are set, or there is none. */
static uint64_t read_number(const uint8_t *bytes, size_t count, size_t *at, bool marked)
{
    if (*at >= count || bytes[*at] == 0)
        return UNKNOWN;
    size_t length = 1;
    while ((bytes[*at] & 0x80 >> (length - 1)) == 0)
        length++;
    if (length > count - *at)
        return UNKNOWN;
    uint64_t value = marked ? bytes[*at] : bytes[*at] & (0xffU >> length), ones = (UINT64_C(1) << (7 * length)) - 1;
    for (size_t i = 1; i < length; i++)
        value = value << 8 | bytes[*at + i];
    *at += length;
    return !marked && value == ones ? UNKNOWN : value;
}

static size_t read_some(int fd, int64_t at, uint8_t bytes[HEAD])
{
    ssize_t got = pread(fd, bytes, HEAD, (off_t)at);
    return got > 0 ? (size_t)got : 0;
}

static bool read_element(int fd, int64_t at, uint8_t bytes[HEAD], struct element *e)
{
    size_t got = read_some(fd, at, bytes), used = 0;
    e->id = read_number(bytes, got, &used, true);
    if (e->id == UNKNOWN || used >= got)
        return false;
    e->size = read_number(bytes, got, &used, false);
    e->data = at + (int64_t)used;
    e->bytes = bytes + used;
    e->count = got - used;
    return e->size == UNKNOWN || e->size < INT64_MAX / 2;
}

/* A block: the track's number, two bytes of time after the cluster's, flags. */
static bool is_block_of(const struct element *e, uint64_t track, uint64_t time, struct key_block *block, bool *single)
{
    enum { LACING = 0x06 };
    size_t used = 0;
    if (read_number(e->bytes, e->count, &used, false) != track || used + 3 > e->count || used + 3 > e->size)
        return false;
    int64_t after = (int16_t)(e->bytes[used] << 8 | e->bytes[used + 1]);
    *single = (e->bytes[used + 2] & LACING) == 0;
    block->at = e->data + (int64_t)used + 3;
    block->size = (size_t)e->size - used - 3;
    return (uint64_t)after == time;
}

bool key_block_track(int fd, int64_t at, uint64_t *track)
{
    uint8_t bytes[HEAD];
    size_t used = 0;
    *track = read_number(bytes, read_some(fd, at, bytes), &used, false);
    return *track != UNKNOWN;
}

bool key_block_find(int fd, int64_t cluster, uint64_t track, int64_t time, struct key_block *block)
{
    enum { CLUSTER = 0x1f43b675, TIMESTAMP = 0xe7, SIMPLE_BLOCK = 0xa3, GROUP = 0xa0, BLOCK = 0xa1, CHILDREN_MOST = 1 << 14 };
    uint8_t bytes[HEAD];
    struct element e;
    *block = (struct key_block){.read = HEAD};
    if (!read_element(fd, cluster, bytes, &e) || e.id != CLUSTER)
        return false;
    int64_t at = e.data, end = e.size == UNKNOWN ? INT64_MAX : e.data + (int64_t)e.size;
    uint64_t begins = 0;          /* a damaged file may say anything */
    for (int i = 0; i < CHILDREN_MOST && at < end; i++) {
        bool single = false;
        block->read += HEAD;
        if (!read_element(fd, at, bytes, &e) || e.id == CLUSTER || e.size == UNKNOWN)
            return false;
        if (e.id == TIMESTAMP && e.size <= 8 && e.size <= e.count) {
            begins = 0;
            for (size_t b = 0; b < e.size; b++)
                begins = begins << 8 | e.bytes[b];
        }
        if ((e.id == SIMPLE_BLOCK || e.id == BLOCK) && is_block_of(&e, track, (uint64_t)time - begins, block, &single))
            return single;
        /* A group's children come as if they were the cluster's. */
        at = e.data + (e.id == GROUP ? 0 : (int64_t)e.size);
    }
    return false;
}
