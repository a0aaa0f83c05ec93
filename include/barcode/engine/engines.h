/*
 * engines.h - the engines that a run may use, as a list (the GPUs, then the CPU), and which of them
 * a film gets.
 *
 * The CPU engine costs nothing to open; a GPU takes up to half a second, so it is opened for the
 * first film that is worth it and kept for those that follow. A list belongs to one thread.
 */
#ifndef BARCODE_ENGINES_H
#define BARCODE_ENGINES_H

#include "barcode/engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which processor clusters. */
enum engine_choice { ENGINE_AUTO, ENGINE_CPU, ENGINE_CUDA };

/* Which devices of a kind, each from 0; one that is named twice is used by two workers
 * (worker_process.h). */
enum { ENGINE_DEVICES_MOST = 32 };
struct engine_devices {
    int number[ENGINE_DEVICES_MOST];
    int count; /* 0: none is named, and every one that there is may be used */
};

/* One engine of the list. */
struct engine_slot {
    const char *kind; /* "cpu" or "cuda": what engine_open takes */
    /*
     * in the order in which they are tried; where none was named, all that there are, once that is
     * asked
     */
    struct engine_devices devices;
    bool named;            /* the devices were named: each of them must exist */
    int next;              /* devices before this one could not be opened, or failed on a film */
    struct engine *opened; /* on devices.number[next]; NULL until a film needs it; owned */
    bool failed;           /* none could be opened, or the last one failed on a film */
};

enum { ENGINES_MOST = 2 };

/*
 * In order of preference: the GPUs, then the CPU, or one of these alone. The last one is tried for
 * every film; a film for which it cannot be opened fails. An earlier engine that has failed is not
 * tried again.
 */
struct engines {
    struct engine_slot slot[ENGINES_MOST];
    int count;      /* 1 or more */
    int threads;    /* clustering threads of an engine, 1 or more */
    uint64_t films; /* of the run, each taken to be like the one that asks; 0: one */
};

/* What a film asks of an engine; estimates. */
struct engine_work {
    uint64_t frames;   /* pictures to decode, 0: unknown */
    int width, height; /* of the film */
    uint64_t columns;  /* frames to cluster, 0: none or unknown */
    int analysis_width, analysis_height;
};

/* Pixels that a core decodes in software in a second, about. */
#define ENGINES_DECODE_RATE 334e6

/*
 * Seconds that `threads` cores would take for the work, roughly: ENGINES_DECODE_RATE pixels decoded
 * and 6.9 million staged pixels clustered a second and core, groups of 240 pictures side by side.
 * Cores that are more than the groups help with frame threads, which keep six of ten busy.
 */
double engine_work_seconds(const struct engine_work *w, int threads);

/*
 * True if `threads` cores would take longer than a GPU, its start included, for a run of that many
 * `films` (0: one) like this one. A film of unknown length is worth a GPU.
 */
bool engine_worth_a_gpu(const struct engine_work *w, int threads, uint64_t films);

/*
 * The list for a choice, nothing opened and no driver touched: the GPUs of `devices`, copied, and
 * then the CPU where no GPU is demanded, else the demanded ones alone. A number in the
 * environment's BARCODE_GPUS, for tests: of the CPU alone there are so many.
 */
void engines_init(struct engines *g, enum engine_choice choice,
                  const struct engine_devices *devices, int threads);

/*
 * Returns how many devices of the list's first kind there can be, 1 to ENGINE_DEVICES_MOST, without
 * the driver, which no process may start before it forks: those that were named, else as many as
 * the system has and CUDA_VISIBLE_DEVICES names. engines_devices may tell fewer.
 */
int engines_devices_at_most(const struct engines *g);

/*
 * Returns how many devices there are of the list's first kind: those that were named, else all. The
 * driver is asked: 0.1 s, which the first opening then takes less. Nothing is opened. 1 for the CPU
 * and without a driver.
 */
int engines_devices(struct engines *g);

/* Begins a list as `of` began, for so many clustering threads. It asks no driver again; nothing of
 * it is open. */
void engines_begin_as(struct engines *g, const struct engines *of, int threads);

/*
 * Turns the devices of the list's first kind round, so that device `first` (0 or more, counted
 * round) is tried first and those before it last. Nothing is open yet.
 */
void engines_turn(struct engines *g, int first);

/*
 * Returns the engine for a film, opened: the first of the list that opens, on the first device of
 * its kind that opens. Where the list ends with the CPU, a GPU that is not open yet is left alone
 * unless the work would keep the cores busy for longer than a GPU takes to start. The engine stays
 * the list's. Returns NULL when the last one cannot be opened, or when a device that was named does
 * not exist (ERR_ENGINE). -v tells why a device is not used.
 */
struct engine *engines_for(struct engines *g, const struct engine_work *w, struct err *e);

/*
 * Closes an engine that failed on a film; engines_for no longer gives its device. Returns for a
 * sentence what does the film again ("the CPU", "another GPU"). NULL, with nothing done, if there
 * is nothing else, or if the engine is not in the list.
 */
const char *engines_give_up(struct engines *g, const struct engine *failed);

/*
 * True if a GPU of the list is open, which a driver takes up to half a second to take back from a
 * process, and nobody has to wait until it has: the next process can have it too.
 */
bool engines_linger(const struct engines *g);

/* Closes those that are open. */
void engines_close(struct engines *g);

#ifdef __cplusplus
}
#endif
#endif
