/* kmeans_sort.cu - CUB's radix sort, in a file of its own because it compiles slowly. */
#include <cub/device/device_radix_sort.cuh>

#include "kmeans_job.h"

cudaError_t sort_keys(void *scratch, size_t *bytes, const uint32_t *in, uint32_t *out, int count,
                      int bits, cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortKeys(scratch, *bytes, in, out, count, 0, bits, stream);
}
