/*
 * bad-reads.c - a library for LD_PRELOAD under which some bytes of a file cannot be read.
 *
 *   FAILING_READS=TEXT   the file's path contains it: reads fail, as on a bad disk; also of a FIFO
 *   FAILING_FROM=N       the first bad byte (0); of a FIFO, counted from the first one read
 *   FAILING_TO=N         the first good byte behind them (none)
 *   FAILING_ERRNO=N      the error (EIO); a read of any of these bytes fails as a whole
 *   HANGING_READ=NAME    the last part of the file's path: reads never return, as of a dead share
 *   HANGING_FROM=N       the offset from which on reads hang (0)
 *   CRASHING_READ=NAME   the last part of the file's path: reads crash, as a decoder may
 *
 * Only a forked process hangs or crashes, as barcode's worker is: its parent, which lists the
 * films, looks at files too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_llong piped; /* bytes of the FIFO that were read */
static pid_t loaded;

__attribute__((constructor)) static void note_process(void) { loaded = getpid(); }

static long long number(const char *name, long long usual)
{
    const char *text = getenv(name);
    return text ? atoll(text) : usual;
}

/* Returns whether the file's path has what the variable says, anywhere or as its last part. */
static bool is_named(int fd, const char *variable, bool as_last_part)
{
    char link[64], path[PATH_MAX];
    const char *text = getenv(variable);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = text ? readlink(link, path, sizeof path - 1) : -1;
    if (size < 0)
        return false;
    path[size] = 0;
    if (!as_last_part)
        return strstr(path, text);
    const char *slash = strrchr(path, '/');
    return slash && strcmp(slash + 1, text) == 0;
}

/* Sets errno and returns true if reading these bytes fails. */
static bool fails(int fd, size_t bytes, long long at)
{
    if (getpid() != loaded && is_named(fd, "CRASHING_READ", true))
        raise(SIGSEGV);
    while (getpid() != loaded && at >= number("HANGING_FROM", 0) &&
           is_named(fd, "HANGING_READ", true))
        pause();
    long long from = number("FAILING_FROM", 0), to = number("FAILING_TO", LLONG_MAX);
    if (at >= to || at + (long long)bytes <= from || !is_named(fd, "FAILING_READS", false))
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
    if (pipe && n > 0 && is_named(fd, "FAILING_READS", false))
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
