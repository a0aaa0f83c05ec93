/*
 * refused-memory.c - a library for LD_PRELOAD under which a process is refused memory once: the
 * first 64 KiB or more that it wants after it has renamed a file.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);

static atomic_int renamed, refused;

static int refuse(size_t bytes)
{
    if (bytes < 65536 || atomic_load(&renamed) == 0 || atomic_fetch_add(&refused, 1) > 0)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes) { return refuse(bytes) ? NULL : __libc_malloc(bytes); }

void *calloc(size_t count, size_t size)
{
    return refuse(count * size) ? NULL : __libc_calloc(count, size);
}

int rename(const char *from, const char *to)
{
    int (*next)(const char *, const char *);
    void *found = dlsym(RTLD_NEXT, "rename");
    memcpy(&next, &found, sizeof next); /* ISO C has no conversion for it */
    atomic_fetch_add(&renamed, 1);
    return next(from, to);
}
