/* shared.h - memory and locks shared with forked processes. */
#ifndef BARCODE_SHARED_H
#define BARCODE_SHARED_H

#include <pthread.h>
#include <stddef.h>

#include "barcode/base/err.h"

/* Returns zeroed memory that processes forked later share, or NULL if out of memory. Any thread. */
void *shared_alloc(size_t bytes, struct err *e);

/* Unmaps memory of shared_alloc in this process. Does nothing if NULL. */
void shared_free(void *memory, size_t bytes);

/* Initializes a lock in shared memory. */
void shared_lock_init(pthread_mutex_t *lock);

/*
 * Acquires a shared lock; pthread_mutex_unlock releases it. The previous holder may have been
 * killed while it held the lock. So the guarded data must be consistent after every single
 * assignment.
 */
void shared_lock(pthread_mutex_t *lock);

#endif
