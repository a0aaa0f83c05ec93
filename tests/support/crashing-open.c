/*
 * crashing-open.c - a library for LD_PRELOAD under which whoever opens a certain file crashes, as a
 * decoder may that meets its bytes.
 *
 *   CRASHING_OPEN=NAME   the last part of the file's name
 *
 * Only a forked process does, as barcode's worker is: its parent, which lists the films, looks at
 * files too. With O_PATH, as for the rules of a sandbox, nothing is read.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pid_t loaded;

__attribute__((constructor)) static void note_process(void) { loaded = getpid(); }

static void crash_at(const char *path)
{
    const char *name = getenv("CRASHING_OPEN"), *slash = strrchr(path, '/');
    if (name && strcmp(slash ? slash + 1 : path, name) == 0 && getpid() != loaded)
        raise(SIGSEGV);
}

/* open and open64 are one function where files have 64 bits of length. */
#define OPENS(NAME) \
    int NAME(const char *path, int flags, ...) \
    { \
        va_list args; \
        va_start(args, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0; \
        va_end(args); \
        int (*next)(const char *, int, ...); \
        *(void **)&next = dlsym(RTLD_NEXT, #NAME); \
        if (!(flags & O_PATH)) \
            crash_at(path); \
        return next(path, flags, mode); \
    }
OPENS(open)
OPENS(open64)

/* What open becomes in a program with _FORTIFY_SOURCE. */
#define CHECKED_OPENS(NAME) \
    int NAME(const char *path, int flags); \
    int NAME(const char *path, int flags) \
    { \
        int (*next)(const char *, int); \
        *(void **)&next = dlsym(RTLD_NEXT, #NAME); \
        if (!(flags & O_PATH)) \
            crash_at(path); \
        return next(path, flags); \
    }
CHECKED_OPENS(__open_2)
CHECKED_OPENS(__open64_2)
