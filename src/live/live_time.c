#include "live_time.h"

bool live_time_is_valid(int64_t time_us)
{
    const int64_t first_s = INT64_C(-62135596800), end_s = INT64_C(253402300800);
    return time_us >= first_s * 1000000 && time_us < end_s * 1000000;
}

int64_t live_number(int64_t time_us, int64_t step_us)
{
    return time_us / step_us - (time_us % step_us < 0);
}

int live_retry_seconds(int failed)
{
    enum { DOUBLED = 5, MOST = 30 };
    return failed <= 0 ? 0 : failed > DOUBLED ? MOST : 1 << (failed - 1);
}

int64_t live_clock_jump(struct live_drift *d, int64_t wall_us, int64_t steady_us)
{
    const int64_t least_us = 500000;
    int64_t offset = wall_us - steady_us, jump = d->known ? offset - d->offset_us : 0;
    *d = (struct live_drift){.known = true, .offset_us = offset};
    return jump >= least_us || jump <= -least_us ? jump : 0;
}
