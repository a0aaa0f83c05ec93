#include "thread_share.h"

#include <stdlib.h>
#include <string.h>

/*
 * More threads than cores by so much: a decoder's threads wait for one another, for a picture's
 * rows that the next one refers to, and a run that goes through a single thread has a core that it
 * does not share.
 */
enum { PER_CORE = 5, CORES = 4 };

int share_threads(const struct share *s)
{
    int most = s->cores < s->most ? s->cores : s->most;
    double part = s->left > s->own ? (double)s->own / (double)s->left : 1;
    int threads = (int)(part * s->cores * PER_CORE / CORES + 0.5);
    threads = threads < most ? threads : most;
    return threads < 1 ? 1 : threads;
}

int thread_share_override(void)
{
    enum { MOST = 16 };
    const char *told = getenv("BARCODE_FRAME_THREADS");
    if (!told)
        return 0;
    if (strcmp(told, "off") == 0)
        return 1;
    char *end;
    long threads = strtol(told, &end, 10);
    return *told && !*end && threads >= 1 && threads <= MOST ? (int)threads : 0;
}
