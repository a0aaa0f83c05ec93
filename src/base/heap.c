#include "barcode/base/heap.h"

#include <malloc.h>
#include <unistd.h>

#include "barcode/base/machine.h"

#ifdef __GLIBC__
/*
 * What each arena may keep, in bytes. glibc has up to eight arenas a core, each with a few threads;
 * it would itself come to keep up to 64 MiB in each, twice the largest block that was freed.
 */
static uint64_t kept_by_each(void)
{
    const uint64_t arenas_a_core = 8, share = 8, most = 64 << 20;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t memory = machine_memory();
    if (cores < 1 || memory == UINT64_MAX)
        return 0;
    uint64_t each = memory / (share * arenas_a_core * (uint64_t)cores);
    return each < most ? each : most;
}
#endif

bool heap_keep(void)
{
#ifdef __GLIBC__
    /* With less, a decoder's pictures of 1080p and 10 bits would go back all the same. */
    const uint64_t least = 16 << 20;
    /* The most that mallopt takes, and what glibc itself would come to: larger blocks are the
     * kernel's. */
    const int block_most = 32 << 20;
    uint64_t each = kept_by_each();
    bool ok = each >= least && mallopt(M_MMAP_THRESHOLD, block_most) &&
              mallopt(M_TRIM_THRESHOLD, (int)each);
    /* A heap begins that much larger: it grows by a call of the kernel's for each block. */
    if (ok)
        (void)mallopt(M_TOP_PAD, (int)(each / 16));
    return ok;
#else
    return false;
#endif
}
