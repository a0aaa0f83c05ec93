/*
 * live_bench.h - how late columns are: from a frame's last byte to its column being painted and in
 * the feed. Constant memory for any number of frames. One thread.
 */
#ifndef BARCODE_LIVE_LIVE_BENCH_H
#define BARCODE_LIVE_LIVE_BENCH_H

#include <stdint.h>

/* Steps of 0.1 ms up to 1 s; longer ones count as 1 s. */
enum { LIVE_BENCH_STEP_US = 100, LIVE_BENCH_STEPS = 10000 };

/* Begins as zeros. */
struct live_bench {
    uint32_t count[LIVE_BENCH_STEPS + 1];
    uint64_t frames, most_us;
};

void live_bench_add(struct live_bench *b, int64_t us);

/* Returns the microseconds within which `percent` (0..100) of the frames were: the upper end of a
 * step. 0 without frames. */
uint64_t live_bench_percentile(const struct live_bench *b, double percent);

#endif
