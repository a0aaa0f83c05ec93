#include "thread_share.h"

#include <stdlib.h>
#include <string.h>

/*
 * Threads per core. There are more threads than cores because a decoder's threads wait for one
 * another: for the rows of a frame to which the next frame refers. A chunk on a single thread does
 * not share its core.
 */
enum { THREADS = 5, PER_CORES = 4 };

int thread_share_count(const struct thread_share *s)
{
    int most = s->cores < s->most ? s->cores : s->most;
    double part = s->left > s->own ? (double)s->own / (double)s->left : 1;
    int threads = (int)(part * s->cores * THREADS / PER_CORES + 0.5);
    threads = threads < most ? threads : most;
    return threads < 1 ? 1 : threads;
}

int thread_share_override(void)
{
    enum { MOST = 16 };
    const char *value = getenv("BARCODE_FRAME_THREADS");
    if (!value)
        return 0;
    if (strcmp(value, "off") == 0)
        return 1;
    char *end;
    long threads = strtol(value, &end, 10);
    return *value && !*end && threads >= 1 && threads <= MOST ? (int)threads : 0;
}
