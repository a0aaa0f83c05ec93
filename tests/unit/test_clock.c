#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <time.h>

#include "barcode/clock.h"

static void time_goes_on(void **state)
{
    (void)state;
    int64_t before = clock_ns();
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    int64_t after = clock_ns();
    assert_true(after - before >= 2000000);
}

static void sleep_costs_no_processor_time(void **state)
{
    (void)state;
    int64_t before = clock_thread_ns(), real = clock_ns();
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    assert_true(clock_thread_ns() - before < clock_ns() - real);
}

static void work_costs_processor_time(void **state)
{
    (void)state;
    double process = clock_cpu_seconds();
    int64_t thread = clock_thread_ns();
    volatile unsigned sink = 0;
    while (clock_thread_ns() - thread < 30000000)
        sink = sink + 1;
    assert_true(clock_cpu_seconds() > process);
}

static void memory_is_in_bytes(void **state)
{
    (void)state;
    assert_true(clock_peak_memory() > 1u << 20);
}

static void a_deadline_is_that_far_away(void **state)
{
    (void)state;
    static const int64_t far[] = {0, 999999999, 1500000000};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        struct timespec before, after, at;
        clock_gettime(CLOCK_REALTIME, &before);
        at = clock_deadline(far[i]);
        clock_gettime(CLOCK_REALTIME, &after);
        assert_true(at.tv_nsec >= 0 && at.tv_nsec < 1000000000);
        assert_true(clock_in_ns(at) >= clock_in_ns(before) + far[i] && clock_in_ns(at) <= clock_in_ns(after) + far[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_goes_on),
        cmocka_unit_test(sleep_costs_no_processor_time),
        cmocka_unit_test(work_costs_processor_time),
        cmocka_unit_test(memory_is_in_bytes),
        cmocka_unit_test(a_deadline_is_that_far_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
