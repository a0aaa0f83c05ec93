#include "heap.h"

#include <malloc.h>
#include <unistd.h>

#include "limits.h"

#ifdef __GLIBC__
/*
 * Returns how many bytes each arena may keep. glibc has up to eight arenas a core. By default each
 * keeps up to twice the largest freed block, at most 64 MiB.
 */
static uint64_t kept_by_each(void)
{
    const uint64_t arenas_a_core = 8, share = 8, most = 64 << 20;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t memory = limits_memory();
    if (cores < 1 || memory == UINT64_MAX)
        return 0;
    uint64_t each = memory / (share * arenas_a_core * (uint64_t)cores);
    return each < most ? each : most;
}
#endif

bool heap_keep(void)
{
#ifdef __GLIBC__
    /* Below this, the 10-bit frames of a 1080p decoder would still be returned to the kernel. */
    const uint64_t least = 16 << 20;
    /*
     * The largest value that mallopt accepts, and the maximum of glibc's dynamic threshold. Larger
     * blocks are always mapped.
     */
    const int block_most = 32 << 20;
    uint64_t each = kept_by_each();
    bool ok = each >= least && mallopt(M_MMAP_THRESHOLD, block_most) &&
              mallopt(M_TRIM_THRESHOLD, (int)each);
    /* Grow each heap in larger steps, because each step is a system call. */
    if (ok)
        (void)mallopt(M_TOP_PAD, (int)(each / 16));
    return ok;
#else
    return false;
#endif
}
