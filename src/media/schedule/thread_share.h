/*
 * thread_share.h - on how many threads one run is decoded.
 *
 * While there are runs enough, each is decoded on one thread: that wastes nothing. A film of 30 s
 * has five runs or so, and of a long film the last runs are fewer than the cores. Then a run gets
 * threads in proportion to its part of all the decoding that is left, so that the decoders at work
 * end together.
 */
#ifndef BARCODE_SCHEDULE_THREAD_SHARE_H
#define BARCODE_SCHEDULE_THREAD_SHARE_H

#include <stdint.h>

struct share {
    int cores;    /* that the film may use, other runs' included */
    uint64_t own; /* what the run takes, > 0: in bytes, or any other unit */
    /*
     * what takes all that no decoder has got yet, of the run, of other runs, of what is not read
     * yet, and of other films that share the cores: at least `own`
     */
    uint64_t left;
    int most; /* threads that a decoder may have */
};

/* Threads for the run, from 1 to the smaller of `cores` and `most`; 1 where these are less. */
int share_threads(const struct share *s);

/*
 * What the environment's BARCODE_FRAME_THREADS says, for tests and measurements: "off" gives 1
 * (every decoder of a run is single-threaded), a number gives it (of every run that may have
 * threads, whatever there is to do). 0: nothing, or something else.
 */
int thread_share_override(void);

#endif
