#include "barcode/base/clock.h"

#include <sys/resource.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return clock_in_ns(t);
}

int64_t clock_ns(void) { return read_clock(CLOCK_MONOTONIC); }

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
}

struct timespec clock_deadline(int64_t ns) { return timespec_of(read_clock(CLOCK_REALTIME) + ns); }

void clock_steady_cond(pthread_cond_t *c)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attributes);
    pthread_condattr_destroy(&attributes);
}

struct timespec clock_steady_deadline(int64_t ns) { return timespec_of(clock_ns() + ns); }

int64_t clock_wall_us(void) { return read_clock(CLOCK_REALTIME) / 1000; }

int64_t clock_thread_ns(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

uint64_t clock_peak_memory(void)
{
    struct rusage use;
    if (getrusage(RUSAGE_SELF, &use) != 0)
        return 0;
    return (uint64_t)use.ru_maxrss * 1024;
}

double clock_cpu_seconds(void)
{
    struct rusage use;
    if (getrusage(RUSAGE_SELF, &use) != 0)
        return 0;
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}
