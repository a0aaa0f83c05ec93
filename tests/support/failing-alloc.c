/*
 * failing-alloc.c - a library for LD_PRELOAD under which large allocations fail, as they do where memory is short.
 *
 *   FAILING_ALLOC=K     the K-th large allocation fails (1 is the first); "K+": it and every one after it
 *   FAILING_ALLOC_LEAST bytes that count as large, default 65536
 *   FAILING_ALLOC_SEEN  a file that is made when one has failed: without it K was beyond the last one
 *
 * A realloc counts when what it asks for is large. The order of allocations on several threads is chance.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* glibc's own, which these functions stand before. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static atomic_ulong large;
static unsigned long first, least = 65536;
static bool all_after;
static const char *seen;

__attribute__((constructor)) static void read_orders(void)
{
    const char *k = getenv("FAILING_ALLOC"), *size = getenv("FAILING_ALLOC_LEAST");
    char *end = NULL;
    if (size)
        least = strtoul(size, NULL, 10);
    seen = getenv("FAILING_ALLOC_SEEN");
    first = k ? strtoul(k, &end, 10) : 0;
    all_after = end && *end == '+';
}

static bool fails(size_t bytes)
{
    if (first == 0 || bytes < least)
        return false;
    unsigned long n = atomic_fetch_add(&large, 1) + 1;
    if (n != first && !(all_after && n > first))
        return false;
    int fd = n == first && seen ? open(seen, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0)
        close(fd);
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes)
{
    return fails(bytes) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    size_t all;
    return !__builtin_mul_overflow(count, bytes, &all) && fails(all) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return fails(bytes) ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return fails(bytes) ? NULL : __libc_memalign(alignment, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
    return fails(bytes) ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void **to, size_t alignment, size_t bytes)
{
    void *memory = fails(bytes) ? NULL : __libc_memalign(alignment, bytes);
    if (!memory)
        return ENOMEM;
    *to = memory;
    return 0;
}
