#include "barcode/heap.h"

#include <malloc.h>
#include <unistd.h>

#ifdef __GLIBC__
/*
 * What each arena may keep, in bytes. glibc has up to eight arenas a core, each with a few threads; it would itself come to keep up to 64 MiB
 * in each, twice the largest block that was freed.
 */
static long kept_by_each(void)
{
    enum { ARENAS_A_CORE = 8, SHARE = 8 };
    const long most = 64L << 20;
    long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    if (cores < 1 || pages < 1 || bytes < 1)
        return 0;
    long each = pages / (SHARE * ARENAS_A_CORE * cores) * bytes;
    return each < most ? each : most;
}
#endif

bool heap_keep(void)
{
#ifdef __GLIBC__
    /* With less, a picture of 1080p of 10 bits would be returned at once. */
    const long least = 16L << 20;
    long each = kept_by_each();
    /* Larger blocks are the kernel's as before: half of a heap, 32 MiB, is what mallopt takes at most. */
    bool fine = each >= least && mallopt(M_MMAP_THRESHOLD, (int)(each / 2)) && mallopt(M_TRIM_THRESHOLD, (int)each);
    /* Or else a heap grows by a page at a time, each a call of the kernel's. */
    if (fine)
        (void)mallopt(M_TOP_PAD, (int)(each / 16));
    return fine;
#else
    return false;
#endif
}
