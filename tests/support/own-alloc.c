/*
 * own-alloc.c - a library for LD_PRELOAD that is an allocator of its own, as jemalloc is: it ends the program with status 99
 * when that frees what came from another. Blocks lie one after another in one mapping, and are never used again.
 */
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEAD = 16 };
static const size_t room = (size_t)16 << 30;
static _Atomic(uint8_t *) arena;
static atomic_size_t used;

static uint8_t *begin(void)
{
    uint8_t *there = atomic_load(&arena);
    if (there)
        return there;
    uint8_t *mine = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mine == MAP_FAILED)
        _exit(98);
    if (atomic_compare_exchange_strong(&arena, &there, mine))
        return mine;
    munmap(mine, room);
    return there;
}

/* The block's size stands right before it. */
static void *take(size_t alignment, size_t bytes)
{
    uint8_t *base = begin();
    alignment = alignment < HEAD ? HEAD : alignment;
    size_t whole = (bytes + HEAD + alignment + HEAD - 1) / HEAD * HEAD;
    size_t at = bytes < room ? atomic_fetch_add(&used, whole) : room;
    if (at + whole > room)
        return NULL;
    uintptr_t place = ((uintptr_t)base + at + HEAD + alignment - 1) / alignment * alignment;
    memcpy((uint8_t *)place - sizeof bytes, &bytes, sizeof bytes);
    return (void *)place;
}

static size_t size_of(const void *block)
{
    const uint8_t *p = block;
    size_t bytes;
    if (p < begin() || p >= begin() + room) {
        static const char text[] = "own-alloc: a block of another allocator\n";
        if (write(2, text, sizeof text - 1) < 0)
            _exit(98);
        _exit(99);
    }
    memcpy(&bytes, p - sizeof bytes, sizeof bytes);
    return bytes;
}

void *malloc(size_t bytes)
{
    return take(HEAD, bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return take(HEAD, count * bytes);      /* the mapping is zeros */
}

void *realloc(void *old, size_t bytes)
{
    size_t had = old ? size_of(old) : 0;
    void *block = take(HEAD, bytes);
    if (block && old)
        memcpy(block, old, had < bytes ? had : bytes);
    return block;
}

void free(void *block)
{
    if (block)
        size_of(block);
}

void *memalign(size_t alignment, size_t bytes)
{
    return take(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return take(alignment, bytes);
}

int posix_memalign(void **to, size_t alignment, size_t bytes)
{
    *to = take(alignment, bytes);
    return *to ? 0 : 12;
}

size_t malloc_usable_size(void *block)
{
    return block ? size_of(block) : 0;
}
