/* clock.h - monotonic time and processor time, for progress and stage times; times as nanoseconds.
 * Any thread. */
#ifndef BARCODE_CLOCK_H
#define BARCODE_CLOCK_H

#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A time, such as a file's, in nanoseconds; its zero is the timespec's. */
static inline int64_t clock_in_ns(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Nanoseconds of a clock that never goes back; its zero means nothing. */
int64_t clock_ns(void);

/* Seconds since clock_ns gave `ns`. */
static inline double clock_since(int64_t ns) { return (double)(clock_ns() - ns) / 1e9; }

/* The time of day that many nanoseconds (0 or more) from now, for pthread_cond_timedwait. */
struct timespec clock_deadline(int64_t ns);

/* Processor nanoseconds that the calling thread has used. */
int64_t clock_thread_ns(void);

/* Peak resident memory of this process in bytes, as the kernel reports it (0 when it does not). */
uint64_t clock_peak_memory(void);

/* Processor seconds of the whole process, user and system together. */
double clock_cpu_seconds(void);

#ifdef __cplusplus
}
#endif
#endif
