/*
 * few-threads.c - a library for LD_PRELOAD under which a process may have no more than FEW_THREADS
 * threads beside its first one, as where a container limits them. (A limit of the user's binds
 * nobody who is root.)
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static atomic_int alive;

struct begun {
    void *(*main)(void *);
    void *argument;
};

static void *count_out(void *argument)
{
    struct begun b = *(struct begun *)argument;
    free(argument);
    void *result = b.main(b.argument);
    atomic_fetch_sub(&alive, 1);
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*main)(void *),
                   void *argument)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *found = dlsym(RTLD_NEXT, "pthread_create");
    memcpy(&next, &found, sizeof next); /* ISO C has no conversion for it */
    const char *most = getenv("FEW_THREADS");
    struct begun *b = malloc(sizeof *b);
    bool may = atomic_fetch_add(&alive, 1) < (most ? atoi(most) : 1 << 20);
    if (b)
        *b = (struct begun){main, argument};
    int code = b && may ? next(thread, attr, count_out, b) : EAGAIN;
    if (code != 0) {
        atomic_fetch_sub(&alive, 1);
        free(b);
    }
    return code;
}
