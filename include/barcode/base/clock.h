/* clock.h - monotonic time and CPU time, for the progress line and for timings. Any thread. */
#ifndef BARCODE_CLOCK_H
#define BARCODE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "barcode/base/shared.h"

SHARED_BEGIN

/* Converts a timespec, such as a file's time, to nanoseconds since the same epoch. */
static inline int64_t clock_in_ns(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Returns the nanoseconds of a clock that never goes backwards. Its epoch is arbitrary. */
int64_t clock_ns(void);

/* Returns the seconds since clock_ns returned `ns`. */
static inline double clock_since(int64_t ns) { return (double)(clock_ns() - ns) / 1e9; }

/* Returns the wall-clock time in `ns` (0 or more) nanoseconds, for pthread_cond_timedwait. */
struct timespec clock_deadline(int64_t ns);

/*
 * Initializes a condition whose deadlines are those of clock_steady_deadline: `ns` nanoseconds from
 * now, also if the wall clock is set meanwhile.
 */
void clock_steady_cond(pthread_cond_t *c);
struct timespec clock_steady_deadline(int64_t ns);

/* Returns the microseconds of UTC since 1970, as the machine's clock is set. */
int64_t clock_wall_us(void);

/* Returns the CPU nanoseconds that the calling thread has used. */
int64_t clock_thread_ns(void);

/* Returns the peak resident memory of this process in bytes, or 0 if unknown. */
uint64_t clock_peak_memory(void);

/* Returns the CPU seconds of this process, user and system together. */
double clock_cpu_seconds(void);

SHARED_END
#endif
