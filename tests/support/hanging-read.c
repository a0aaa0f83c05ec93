/*
 * hanging-read.c - a library for LD_PRELOAD under which reads of a certain file never return, as
 * those of a dead network share, or crash, as a decoder may that meets its bytes.
 *
 *   HANGING_READ=NAME   the last part of the file's name
 *   HANGING_FROM=BYTE   the offset from which on reads hang (0)
 *   CRASHING_READ=NAME  the last part of the name of a file whose reads crash
 *
 * Only a forked process does, as barcode's worker is: its parent, which lists the films, looks at
 * files too.
 */
#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pid_t loaded;

__attribute__((constructor)) static void note_process(void) { loaded = getpid(); }

static void hang_at(int fd, off_t at)
{
    char link[32], path[PATH_MAX];
    const char *name = getenv("HANGING_READ"), *from = getenv("HANGING_FROM"),
               *crashing = getenv("CRASHING_READ");
    if ((!name && !crashing) || getpid() == loaded)
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return;
    path[length] = '\0';
    const char *slash = strrchr(path, '/');
    if (crashing && slash && strcmp(slash + 1, crashing) == 0)
        raise(SIGSEGV);
    while (name && slash && strcmp(slash + 1, name) == 0 &&
           at >= (from ? strtol(from, NULL, 10) : 0))
        pause();
}

ssize_t read(int fd, void *to, size_t bytes)
{
    ssize_t (*next)(int, void *, size_t);
    *(void **)&next = dlsym(RTLD_NEXT, "read");
    hang_at(fd, lseek(fd, 0, SEEK_CUR));
    return next(fd, to, bytes);
}

/* pread and pread64 are one function where files have 64 bits of length. */
#define PREADS(NAME) \
    ssize_t NAME(int fd, void *to, size_t bytes, off_t at) \
    { \
        ssize_t (*next)(int, void *, size_t, off_t); \
        *(void **)&next = dlsym(RTLD_NEXT, #NAME); \
        hang_at(fd, at); \
        return next(fd, to, bytes, at); \
    }
PREADS(pread)
PREADS(pread64)
