/*
 * scheduler.h - the rules of decoding one film: which backends are used, with how many workers;
 * which worker takes which chunk, and on how many threads it decodes the chunk.
 */
#ifndef BARCODE_SCHEDULE_SCHEDULER_H
#define BARCODE_SCHEDULE_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode_pass.h"
#include "media/gop/chunk.h"
#include "barcode/base/err.h"
#include "media/film.h"
#include "media/source.h"

/*
 * Returns the number of threads that may decode the film, 1 to `threads`. Their decoders fit into
 * half of `memory` (bytes), so that frames of a gigabyte do not take a core's worth of memory each.
 */
int scheduler_max_threads(const struct film *film, int threads, uint64_t memory);

/* Returns the machine's memory in bytes, or this film's part if several films are under way. */
uint64_t scheduler_memory(const struct decode_job *job);

/*
 * Chooses the backends of the pass and the number of their workers, and opens the device. The first
 * of `backends` decodes on the cores, the others on devices; NULL ends the array. Where no device
 * can be used, software decodes the film. Returns false if the demanded device does not exist.
 */
bool scheduler_choose_workers(struct decode_pass *s, const struct decoder_backend *const *backends,
                              struct err *e);

/* Estimates the work of decoding a chunk, in bytes of packets. */
size_t scheduler_estimate_work(const struct decode_pass *s, const struct chunk *chunk);

/*
 * Takes a chunk from the queue for a worker of `backend`, and sets chunk->threads. Waits for a
 * chunk. Beside device workers, a worker on the cores waits until it may take one (may_share).
 * Returns false if no chunk is left for this worker. A worker's thread.
 */
bool scheduler_next_chunk(struct decode_pass *s, const struct decoder_backend *backend,
                          struct chunk **chunk);

/* What a worker must know of its chunk after the chunk is freed. */
struct taken_chunk {
    size_t bytes;
    uint64_t frames; /* displayed frames that are covered once the chunk is done */
    const struct decoder_backend *backend;
    int threads;
    int64_t ns; /* when the worker took the chunk (clock_ns) */
};

/* Returns the facts of a chunk that scheduler_next_chunk returned. */
struct taken_chunk scheduler_taken(const struct chunk *chunk);

/* Returns the chunk's bytes and cores to the pass: its worker is done with it. */
void scheduler_chunk_done(struct decode_pass *s, const struct taken_chunk *chunk);

/* Counts one worker fewer on the device and one more on the cores: the device refused a worker. */
void scheduler_leave_device(struct decode_pass *s);

/*
 * ---- on how many threads a chunk is decoded in software; exposed for its test ----
 *
 * While there are more chunks than cores, each chunk is decoded on one thread: that wastes nothing.
 * A film of 30 s has about five chunks, and at the end of a long film fewer chunks than cores are
 * left. Then a chunk gets threads in proportion to its part of the remaining work, so that the
 * decoders at work end together.
 */

struct thread_share {
    int cores;           /* that the film may use, including those of other chunks */
    uint64_t chunk_work; /* work of the chunk, > 0: in bytes, or any other unit */
    /*
     * Work that has not been sent to a decoder yet: of the chunk, of other chunks, of what is not
     * read yet, and of other films that share the cores. At least `chunk_work`.
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
