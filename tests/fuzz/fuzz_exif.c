/* fuzz_exif.c - when a photograph was taken, of any bytes. */
#include "media/bitstream/exif.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int64_t most_us = INT64_C(253402300801000000), day_us = INT64_C(86400000000);
    struct exif x = exif_read(data, size);
    fuzz_demand(x.has_time ? x.time_us >= 0 && x.time_us < most_us : x.time_us == 0);
    fuzz_demand(x.offset_us > -day_us && x.offset_us < day_us);
    fuzz_demand(x.orientation.quarter_turns >= 0 && x.orientation.quarter_turns < 4);
    return 0;
}
