/*
 * refused-memory.c - a library for LD_PRELOAD under which a process is refused memory once: the
 * first 64 KiB or more that it wants after it has written a file to the disk (fsync).
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);

static atomic_int synced, refused;

static int refuse(size_t bytes)
{
    if (bytes < 65536 || atomic_load(&synced) == 0 || atomic_fetch_add(&refused, 1) > 0)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes) { return refuse(bytes) ? NULL : __libc_malloc(bytes); }

void *calloc(size_t count, size_t size)
{
    return refuse(count * size) ? NULL : __libc_calloc(count, size);
}

int fsync(int fd)
{
    int (*next)(int);
    void *found = dlsym(RTLD_NEXT, "fsync");
    memcpy(&next, &found, sizeof next); /* ISO C has no conversion for it */
    atomic_fetch_add(&synced, 1);
    return next(fd);
}
