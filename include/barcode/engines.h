/*
 * engines.h - the engines that a run may use, as a list (the GPUs, then the CPU), and which of them a film gets.
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

/* Which devices of a kind, each from 0; one that is named twice is opened twice. */
struct engine_devices {
    int number[ENGINE_PARTS_MOST];
    int count;                       /* 0: none is named, and every one that there is may be used                 */
};

/* One engine of the list. */
struct engine_slot {
    const char *kind;                /* "cpu" or "cuda": what engine_open takes                                   */
    struct engine_devices devices;   /* filled in with those that there are, once that is asked, where none was named */
    struct engine_devices others;    /* engines_share: those that other lists use, and this one where its own fails */
    bool named;                      /* the devices were named: each of them is demanded                          */
    int tried;                       /* of the devices, in their order, so many were opened, or could not be       */
    struct engine *opened;           /* over all that are open; NULL until a film needs it; owned                 */
    bool failed;                     /* none could be opened, or it failed on a film                              */
};

enum { ENGINES_MOST = 2 };

/*
 * In order of preference: the GPUs, then the CPU, or one of these alone. The last one is tried for every film; a film for which it
 * cannot be opened fails. An earlier engine that has failed is not tried again.
 */
struct engines {
    struct engine_slot slot[ENGINES_MOST];
    int count;                       /* 1 or more                                                                 */
    int threads;                     /* clustering threads of an engine, 1 or more                                */
    uint64_t films;                  /* of the run, each taken to be like the one that asks; 0: one. For several, a film for which a GPU is
                                        opened has them all opened                                                */
    struct engines_adding *adding;   /* GPUs on their way; NULL: none                                             */
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
 * staged pixels clustered a second and core (as measured: tests/bench/RESULTS.md), groups of 240 pictures side by side. Cores that
 * are more than the groups help with frame threads, which keep six of ten busy.
 */
double engine_work_seconds(const struct engine_work *w, int threads);

/*
 * True if `threads` cores would take longer than a GPU, its start included, for a run of that many `films` (0: one) like this one. A
 * film of unknown length is worth a GPU.
 */
bool engine_worth_a_gpu(const struct engine_work *w, int threads, uint64_t films);

/*
 * On how many of `gpus` (1 or more) side by side the film is decoded soonest, 1 to `gpus`: as many as have a second of work each, by
 * 10 billion pixels a second and GPU (an H200 decodes 18 of H.264; others have fewer decoders). All, for a film of unknown length.
 */
int engine_worth_gpus(const struct engine_work *w, int gpus);

/*
 * The list for a choice, nothing opened and no driver touched: the GPUs of `devices`, copied, and then the CPU where no GPU is demanded,
 * else the demanded ones alone.
 */
void engines_init(struct engines *g, enum engine_choice choice, const struct engine_devices *devices, int threads);

/*
 * How many devices there are of the list's first kind: those that were named, else all. The driver is asked: 0.1 s, which the first opening then
 * takes less. Nothing is opened. 1 for the CPU, without a driver, and where one that was named is not there: opening them says so.
 */
int engines_devices(struct engines *g);

/*
 * True if the devices of the list's first kind can each be given films of their own: they are of one model, and those that were named can be
 * opened, which is tried. Nothing is open afterwards. False where there is no more than one.
 */
bool engines_can_share(struct engines *g);

/* A list that begins as `of` did, for so many clustering threads, and asks no driver again; nothing of it is open. */
void engines_begin_as(struct engines *g, const struct engines *of, int threads);

/*
 * Several lists deal the devices of their first kind out among them: this one opens the device `which` (0 or more; counted round) and no
 * other, unless that one cannot be opened or fails: then the others, but for one that was named. Nothing is open yet.
 */
void engines_share(struct engines *g, int which);

/*
 * The engine for a film, opened: the first of the list that opens. Where the list ends with the CPU, a GPU that is not open
 * yet is left alone unless the work would keep the cores busy for longer than a GPU takes to start. It stays the list's, until the next
 * call, which may add GPUs to it. NULL when the last one cannot be opened (ERR_ENGINE: it is not there).
 *
 * Of several GPUs it is over those that are open already, all that were named, for a run of several `films` all that there are, else the first one that
 * can be opened; engines_add has more. Those that start together start side by side. Of GPUs that were named each must open; of others
 * those that do are used, and -v tells why one is not.
 */
struct engine *engines_for(struct engines *g, const struct engine_work *w, struct err *e);

/*
 * Begins to open further GPUs for the film that engines_for gave `engine` to, as many as engine_worth_gpus says, and returns: what does
 * not need the engine can be done meanwhile. For a film that will be decoded: one whose frames are in the cache has enough of one GPU.
 */
void engines_add(struct engines *g, const struct engine *engine, const struct engine_work *w);

/* Waits for them. The film's engine from then on: `engine`, or it and all that could be opened in one. No engine of the list is begun. */
struct engine *engines_added(struct engines *g, struct engine *engine);

/*
 * Closes an engine that failed on a film, or of several GPUs the one that did, if that is known; engines_for no longer gives it.
 * Returns for a sentence what does the film again ("the CPU", "the other GPUs"). NULL, with nothing done, if there is nothing else,
 * if the GPUs were named, or if it is not in the list.
 */
const char *engines_give_up(struct engines *g, const struct engine *failed);

/*
 * True if a GPU of the list is open, which a driver takes up to half a second to take back from a process, and nobody has to wait until it has: the next
 * process can have it too.
 */
bool engines_linger(const struct engines *g);

/* Closes those that are open. */
void engines_close(struct engines *g);

#ifdef __cplusplus
}
#endif
#endif
