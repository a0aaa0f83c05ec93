/* fuzz_mpls.c - the playlist of a Blu-ray. */
#include <string.h>

#include "plan/inputs_list.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mpls_item item;
    size_t at = 0, count = mpls_begin(data, size, &at);
    for (size_t i = 0; i < count && mpls_next(data, size, &at, &item); i++)
        fuzz_demand(at <= size && item.end_us > item.start_us && item.start_us >= 0 &&
                    strspn(item.name, "0123456789") == 5);
    return 0;
}
