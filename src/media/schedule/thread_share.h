/*
 * thread_share.h - on how many threads a chunk is decoded in software.
 *
 * While there are more chunks than cores, each chunk is decoded on one thread: that wastes nothing.
 * A film of 30 s has about five chunks, and at the end of a long film fewer chunks than cores are
 * left. Then a chunk gets threads in proportion to its part of the remaining work, so that the
 * decoders at work end together.
 */
#ifndef BARCODE_SCHEDULE_THREAD_SHARE_H
#define BARCODE_SCHEDULE_THREAD_SHARE_H

#include <stdint.h>

struct thread_share {
    int cores;    /* that the film may use, including those of other chunks */
    uint64_t own; /* work of the chunk, > 0: in bytes, or any other unit */
    /*
     * Work that has not been sent to a decoder yet: of the chunk, of other chunks, of what is not
     * read yet, and of other films that share the cores. At least `own`.
     */
    uint64_t left;
    int most; /* threads that a decoder may have */
};

/* Returns the threads for the chunk, 1 to the smaller of `cores` and `most`. */
int thread_share_count(const struct thread_share *s);

/*
 * Returns the number of threads that BARCODE_FRAME_THREADS sets, for tests and measurements: 1 for
 * "off" (every decoder is single-threaded), else the number in it (for each chunk that may have
 * threads). Returns 0 if the variable is not set, or is set to anything else.
 */
int thread_share_override(void);

#endif
