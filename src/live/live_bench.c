#include "live_bench.h"

#include <math.h>

void live_bench_add(struct live_bench *b, int64_t us)
{
    int64_t step = us < 0 ? 0 : us / LIVE_BENCH_STEP_US;
    b->count[step < LIVE_BENCH_STEPS ? step : LIVE_BENCH_STEPS]++;
    b->frames++;
    if (us > 0 && (uint64_t)us > b->most_us)
        b->most_us = (uint64_t)us;
}

uint64_t live_bench_percentile(const struct live_bench *b, double percent)
{
    uint64_t wanted = (uint64_t)ceil((double)b->frames * percent / 100), seen = 0, us = 0;
    for (int i = 0; i <= LIVE_BENCH_STEPS && seen < wanted; i++) {
        seen += b->count[i];
        us = (uint64_t)(i + 1) * LIVE_BENCH_STEP_US;
    }
    return us < b->most_us ? us : b->most_us;
}
