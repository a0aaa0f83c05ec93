/* clock.h - monotonic time and processor time, for progress and stage times. Any thread. */
#ifndef BARCODE_CLOCK_H
#define BARCODE_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds of a clock that never goes back; its zero means nothing. */
int64_t clock_ns(void);

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
