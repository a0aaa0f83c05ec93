/*
 * engines.h - the engines that a run may use, as a list, and which of them a film gets.
 *
 * The CPU engine costs nothing to open; a GPU takes up to half a second, so it is opened for the first film that is
 * worth it and kept for those that follow. A list belongs to one thread.
 */
#ifndef BARCODE_ENGINES_H
#define BARCODE_ENGINES_H

#include "barcode/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which processor clusters. */
enum engine_choice { ENGINE_AUTO, ENGINE_CPU, ENGINE_CUDA };

/* One engine of the list. */
struct engine_slot {
    const char *kind;                /* "cpu" or "cuda": what engine_open takes                                   */
    int device;                      /* which of its kind, from 0                                                 */
    struct engine *opened;           /* NULL until a film needs it; owned                                         */
    bool failed;                     /* it could not be opened, or failed on a film                               */
};

enum { ENGINES_MOST = 32 };

/*
 * In order of preference. The last one is tried for every film; a film for which it cannot be opened fails. An earlier engine
 * that has failed is not tried again.
 */
struct engines {
    struct engine_slot slot[ENGINES_MOST];
    int count;                       /* 1 or more                                                                 */
    int threads;                     /* clustering threads of an engine, 1 or more                                */
};

/* What a film asks of an engine; estimates. */
struct engine_work {
    uint64_t frames;                 /* pictures to decode, 0: unknown                 */
    int width, height;               /* of the film                                    */
    uint64_t columns;                /* frames to cluster, 0: none or unknown          */
    int staged_width, staged_height;
};

/* Pixels that a core decodes in software in a second, about (tests/bench/RESULTS.md). */
#define ENGINES_DECODE_RATE 334e6

/*
 * Seconds that `threads` cores would take for the work, roughly: ENGINES_DECODE_RATE pixels decoded and 6.9 million
 * staged pixels clustered a second and core (as measured: tests/bench/RESULTS.md), groups of 240
 * pictures side by side.
 */
double engine_work_seconds(const struct engine_work *w, int threads);

/* True if `threads` cores would take longer than a GPU, its start included. A film of unknown length is worth a GPU. */
bool engine_worth_a_gpu(const struct engine_work *w, int threads);

/* The list for a choice, nothing opened: GPU `device` and then the CPU where none is demanded, else the demanded one alone. */
void engines_init(struct engines *g, enum engine_choice choice, int device, int threads);

/*
 * The engine for a film, opened: the first of the list that opens. Where the list ends with the CPU, a GPU that is not open
 * yet is left alone unless the work would keep the cores busy for longer than a GPU takes to start. It stays the list's.
 * NULL when the last one cannot be opened (ERR_ENGINE: it is not there).
 */
struct engine *engines_for(struct engines *g, const struct engine_work *w, struct err *e);

/*
 * Closes an engine that failed on a film; engines_for no longer gives it. Returns the next engine's name for a sentence ("the
 * CPU"). NULL, with nothing done, if it is the last of the list or not in it.
 */
const char *engines_give_up(struct engines *g, const struct engine *failed);

/* Closes those that are open. */
void engines_close(struct engines *g);

#ifdef __cplusplus
}
#endif
#endif
