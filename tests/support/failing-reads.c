/*
 * failing-reads.c - a library for LD_PRELOAD under which some bytes of a file cannot be read, as on
 * a disk that fails.
 *
 *   FAILING_READS=TEXT   what the file's path contains; it may be a FIFO
 *   FAILING_FROM=N       the first bad byte (0); of a FIFO, counted from the first one read
 *   FAILING_TO=N         the first good byte behind them (none)
 *   FAILING_ERRNO=N      the error (EIO)
 *
 * A read of any of these bytes fails as a whole.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_llong piped; /* bytes of the FIFO that were read */

static long long number(const char *name, long long usual)
{
    const char *text = getenv(name);
    return text ? atoll(text) : usual;
}

static bool is_bad_file(int fd)
{
    char link[64], path[PATH_MAX];
    const char *text = getenv("FAILING_READS");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = text ? readlink(link, path, sizeof path - 1) : -1;
    if (size < 0)
        return false;
    path[size] = 0;
    return strstr(path, text);
}

/* Sets errno and returns true if reading these bytes fails. */
static bool fails(int fd, size_t bytes, long long at)
{
    long long from = number("FAILING_FROM", 0), to = number("FAILING_TO", LLONG_MAX);
    if (!is_bad_file(fd) || at >= to || at + (long long)bytes <= from)
        return false;
    errno = (int)number("FAILING_ERRNO", EIO);
    return true;
}

ssize_t read(int fd, void *to, size_t bytes)
{
    ssize_t (*next)(int, void *, size_t);
    *(void **)&next = dlsym(RTLD_NEXT, "read");
    int before = errno;
    long long at = lseek(fd, 0, SEEK_CUR);
    errno = before;
    bool pipe = at < 0;
    if (fails(fd, bytes, pipe ? atomic_load(&piped) : at))
        return -1;
    ssize_t n = next(fd, to, bytes);
    if (pipe && n > 0 && is_bad_file(fd))
        atomic_fetch_add(&piped, n);
    return n;
}

/* pread and pread64 are one function where files have 64 bits of length. */
#define PREADS(NAME) \
    ssize_t NAME(int fd, void *to, size_t bytes, off_t at) \
    { \
        ssize_t (*next)(int, void *, size_t, off_t); \
        *(void **)&next = dlsym(RTLD_NEXT, #NAME); \
        return fails(fd, bytes, at) ? -1 : next(fd, to, bytes, at); \
    }
PREADS(pread)
PREADS(pread64)
