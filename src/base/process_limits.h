/*
 * process_limits.h - keeps a worker process within its part of the memory (limits.h).
 *
 * The process cannot allocate much more than its part: an allocation is refused, and its film
 * fails. But a refused allocation may also be that of another film in the process. So the parent
 * kills a process that uses its whole part, and renders its films again, one by one.
 */
#ifndef BARCODE_PROCESS_LIMITS_H
#define BARCODE_PROCESS_LIMITS_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Limits this process to `memory` bytes, and by a fifth more that it allocates and does not use.
 * What is not writable does not count, so CUDA may reserve address space. Call it before the
 * process has threads, whose stacks get smaller.
 */
void process_limits_set(uint64_t memory);

/* Makes the kernel kill this process before others when the machine runs out of memory. */
void process_limits_kill_first(void);

/* Returns how many bytes a process has allocated and used; 0 without /proc. Any thread. */
uint64_t process_limits_used(pid_t process);

#endif
