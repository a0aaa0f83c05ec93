#include <time.h>

#include "test.h"
#include "barcode/base/clock.h"

TEST(time_goes_on)
{
    int64_t before = clock_ns();
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    int64_t after = clock_ns();
    assert_true(after - before >= 2000000);
}

TEST(sleep_costs_no_processor_time)
{
    int64_t before = clock_thread_ns(), real = clock_ns();
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_true(clock_thread_ns() - before < clock_ns() - real);
}

TEST(work_costs_processor_time)
{
    double process = clock_cpu_seconds();
    int64_t thread = clock_thread_ns();
    volatile unsigned sink = 0;
    while (clock_thread_ns() - thread < 30000000)
        sink = sink + 1;
    assert_true(clock_cpu_seconds() > process);
}

TEST(memory_is_in_bytes) { assert_true(clock_peak_memory() > 1u << 20); }

TEST(a_deadline_is_that_far_away)
{
    static const int64_t far[] = {0, 999999999, 1500000000};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        struct timespec before, after, at;
        clock_gettime(CLOCK_REALTIME, &before);
        at = clock_deadline(far[i]);
        clock_gettime(CLOCK_REALTIME, &after);
        assert_true(at.tv_nsec >= 0 && at.tv_nsec < 1000000000);
        assert_true(clock_in_ns(at) >= clock_in_ns(before) + far[i] &&
                    clock_in_ns(at) <= clock_in_ns(after) + far[i]);
    }
}
