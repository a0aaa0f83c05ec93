#include "shortage.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An allocation was refused on this thread since shortage_begin. */
static _Thread_local bool refused;

void shortage_begin(void)
{
    refused = false;
}

bool shortage_met(void)
{
    return refused;
}

void shortage_note(void)
{
    refused = true;
}

bool shortage_error(const char *path, const char *doing, struct err *e)
{
    return err_set(e, ERR_FAILED, "out of memory while '%s' was being %s", path, doing);
}

#if defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* A sanitizer's own allocator ends the program where memory is short. */
#if !SANITIZED

/* glibc's own, until the next in line is known: dlsym allocates too. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

/* The next in line: a library of LD_PRELOAD's, or glibc. */
static struct {
    void *(*malloc)(size_t bytes);
    void *(*calloc)(size_t count, size_t bytes);
    void *(*realloc)(void *old, size_t bytes);
    int (*posix_memalign)(void **to, size_t alignment, size_t bytes);
} next;

/*
 * At the first call, which comes before any constructor of this program's: what another allocator is to free has to come from
 * it. dlsym itself may allocate, so that glibc's own serve meanwhile. ISO C has no cast from an object's address to a function's.
 */
static void find_next(void)
{
    static _Thread_local bool finding;
    if (finding)
        return;
    finding = true;
    void *found[4] = {dlsym(RTLD_NEXT, "malloc"), dlsym(RTLD_NEXT, "calloc"), dlsym(RTLD_NEXT, "realloc"),
                      dlsym(RTLD_NEXT, "posix_memalign")};
    _Static_assert(sizeof found == sizeof next, "one pointer a function");
    memcpy(&next, found, sizeof next);
    finding = false;
}

static bool is_found(void)
{
    if (!next.malloc)
        find_next();
    return next.malloc != NULL;
}

static void *checked(void *got, bool wanted)
{
    refused |= !got && wanted;
    return got;
}

void *malloc(size_t bytes)
{
    return checked(is_found() ? next.malloc(bytes) : __libc_malloc(bytes), true);
}

void *calloc(size_t count, size_t bytes)
{
    return checked(is_found() ? next.calloc(count, bytes) : __libc_calloc(count, bytes), true);
}

void *realloc(void *old, size_t bytes)
{
    return checked(is_found() ? next.realloc(old, bytes) : __libc_realloc(old, bytes), bytes > 0);
}

int posix_memalign(void **to, size_t alignment, size_t bytes)
{
    int code = 0;
    if (is_found()) {
        code = next.posix_memalign(to, alignment, bytes);
    } else {
        void *got = __libc_memalign(alignment, bytes);
        code = got ? 0 : ENOMEM;
        *to = got ? got : *to;
    }
    refused |= code == ENOMEM;
    return code;
}
#endif
