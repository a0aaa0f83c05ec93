/*
 * engines.h - which engine a film gets, and the engines that are open.
 *
 * The CPU engine costs nothing to open; a GPU takes up to half a second, so it is opened for the first film that is
 * worth it and kept for those that follow. Main thread only.
 */
#ifndef BARCODE_ENGINES_H
#define BARCODE_ENGINES_H

#include "barcode/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which processor clusters. */
enum engine_choice { ENGINE_AUTO, ENGINE_CPU, ENGINE_CUDA };

struct engines {
    enum engine_choice choice;
    struct engine_config config;
    struct engine *cpu, *cuda;       /* NULL until they are needed; owned              */
    bool cuda_failed;                /* tried without success: not again               */
};

/* What a film asks of an engine; estimates. */
struct engine_work {
    uint64_t frames;                 /* pictures to decode, 0: unknown                 */
    int width, height;               /* of the film                                    */
    uint64_t columns;                /* frames to cluster, 0: none or unknown          */
    int staged_width, staged_height;
};

/*
 * Seconds that `threads` cores would take for the work, roughly: 334 million pixels decoded and 6.9 million
 * staged pixels clustered a second and core (as measured: research/h200-probe.md, tests/bench/RESULTS.md), groups of 240
 * pictures side by side.
 */
double engine_work_seconds(const struct engine_work *w, int threads);

/* True if `threads` cores would take longer than a GPU, its start included. A film of unknown length is worth a GPU. */
bool engine_worth_a_gpu(const struct engine_work *w, int threads);

/*
 * The engine for a film. The demanded one, or with ENGINE_AUTO the GPU when one is there and the work would
 * keep the cores busy for longer than a GPU takes to start. NULL (ERR_ENGINE) when the demanded one is not there.
 * It stays the engines'.
 */
struct engine *engines_for(struct engines *g, const struct engine_work *w, struct err *e);

/* The GPU failed on a film: with ENGINE_AUTO true, and engines_for gives the CPU engine from now on. */
bool engines_give_up_cuda(struct engines *g);

void engines_close(struct engines *g);

#ifdef __cplusplus
}
#endif
#endif
