#include "barcode/base/shared.h"

#include <errno.h>
#include <sys/mman.h>

#include "barcode/base/clock.h"
#include "barcode/base/watch.h"

void *shared_alloc(size_t bytes, struct err *e)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
        return memory;
    err_memory(e, bytes);
    return NULL;
}

void shared_free(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

void shared_lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(lock, &shared);
    pthread_mutexattr_destroy(&shared);
}

void shared_lock(pthread_mutex_t *lock)
{
    int code = pthread_mutex_trylock(lock);
    while (code == EBUSY || code == ETIMEDOUT) {
        struct timespec soon = clock_deadline(100000000);
        code = pthread_mutex_timedlock(lock, &soon);
        if (code == ETIMEDOUT)
            watch_moved(); /* if a film hangs, it is that of the holder */
    }
    if (code == EOWNERDEAD)
        pthread_mutex_consistent(lock);
}
