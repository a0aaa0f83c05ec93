
#include "test.h"
#include "batch/batch_options.h"
#include "batch/film_workers.h"

static const uint64_t gib = (uint64_t)1 << 30;

TEST(lanes_by_cores)
{
    assert_int_equal(film_worker_count(1, 16 * gib), 3);
    assert_int_equal(film_worker_count(5, UINT64_MAX), 5);
    assert_int_equal(film_worker_count(64, 16 * gib), 8);
    assert_int_equal(film_worker_count(64, 2 * gib), 8);
    assert_int_equal(film_worker_count(64, gib), 4);
    assert_int_equal(film_worker_count(2, gib / 2), 2);
    assert_int_equal(film_worker_count(2, gib / 8), 1);
}

/* One for four cores, where there is memory for them and each can have a film worker. */
TEST(probes_by_cores)
{
    assert_int_equal(max_concurrent_probes(1, 3, 4 * gib), 1);
    assert_int_equal(max_concurrent_probes(8, 8, 64 * gib), 2);
    assert_int_equal(max_concurrent_probes(16, 11, 64 * gib), 4);
    assert_int_equal(max_concurrent_probes(16, 2, 64 * gib), 2);
    assert_int_equal(max_concurrent_probes(16, 1, 64 * gib), 1);
    assert_int_equal(max_concurrent_probes(64, 11, UINT64_MAX), 11);
    assert_int_equal(max_concurrent_probes(512, BATCH_JOBS_MOST, UINT64_MAX), 16);
}

/* Short memory leaves fewer, but one. */
TEST(probes_by_memory)
{
    assert_int_equal(max_concurrent_probes(16, 11, 13 * gib), 3);
    assert_int_equal(max_concurrent_probes(16, 11, 8 * gib), 2);
    assert_int_equal(max_concurrent_probes(64, 11, 1 * gib), 1);
    assert_int_equal(max_concurrent_probes(2, 3, 0), 1);
}
