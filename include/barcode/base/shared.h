/*
 * shared.h - memory and locks that a process has together with those that it forks.
 */
#ifndef BARCODE_SHARED_H
#define BARCODE_SHARED_H

#include <pthread.h>
#include <stddef.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns zeroed memory that processes forked later share. NULL when memory runs out. Any thread.
 */
void *shared_alloc(size_t bytes, struct err *e);

/* Frees memory of shared_alloc in this process. NULL is fine. */
void shared_free(void *memory, size_t bytes);

/* Makes a lock in such memory. */
void shared_lock_init(pthread_mutex_t *lock);

/*
 * Takes such a lock. A process that held it may have been killed: what the lock guards must make
 * sense after every single assignment. pthread_mutex_unlock releases it.
 */
void shared_lock(pthread_mutex_t *lock);

#ifdef __cplusplus
}
#endif
#endif
