/* shared_sort.cu - CUB's functions for shared_gpu.cu, and the device that is used. */
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "device.h"
#include "shared_gpu.h"

cudaError_t shared_sort(void *scratch, size_t *bytes, const uint64_t *in, uint64_t *out,
                        size_t count)
{
    return cub::DeviceRadixSort::SortKeys(scratch, *bytes, in, out, count);
}

/* Sums have 64 bits because the first value has. */
cudaError_t shared_sum(void *scratch, size_t *bytes, const uint32_t *in, uint64_t *out,
                       size_t count)
{
    return cub::DeviceScan::ExclusiveScan(scratch, *bytes, in, out, cuda::std::plus<>{},
                                          uint64_t{0}, count);
}

bool shared_votes_gpu(const uint64_t *word, size_t n, const struct shared_films *films, size_t most,
                      uint64_t **vote, size_t *votes, struct err *e)
{
    void *context = NULL;
    char name[64];
    return gpu_device_start(0, &context, name, sizeof name, e) &&
           shared_votes_device(word, n, films, most, vote, votes, e);
}
