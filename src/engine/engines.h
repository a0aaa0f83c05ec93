/*
 * engines.h - the list of engines that a run may use (the GPUs, then the CPU), and the choice of
 * one for each film.
 *
 * The CPU engine opens instantly; a GPU takes up to half a second. So a GPU is opened for the first
 * film large enough to benefit from it and stays open for later films. One thread a list.
 */
#ifndef BARCODE_ENGINES_H
#define BARCODE_ENGINES_H

#include <pthread.h>

#include "barcode/engine/engine.h"

/* The processor that clusters. */
enum engine_choice { ENGINE_AUTO, ENGINE_CPU, ENGINE_CUDA };

/* Device numbers of one kind, from 0. One that is listed twice is used by two workers. */
enum { ENGINE_DEVICES_MOST = 32 };
struct engine_devices {
    int number[ENGINE_DEVICES_MOST];
    int count; /* 0: none is specified, and all may be used */
};

/* --engine */
struct engine_options {
    enum engine_choice choice;
    struct engine_devices devices; /* the GPUs that it names */
};

extern const struct option_table engine_options;

/* One engine of the list. */
struct engine_slot {
    const char *kind; /* "cpu" or "cuda", for engine_open */
    /* in the order of preference; if none was specified, all devices, once counted */
    struct engine_devices devices;
    bool named; /* the user specified the devices: each of them must exist */
    /* index of the device to use: earlier ones could not be opened or failed on a film */
    int next;
    struct engine *opened; /* opened on devices.number[next]; owned. NULL until a film needs it */
    bool failed;           /* no device could be opened, or the last one failed on a film */
};

enum { ENGINES_MOST = 2 };

/*
 * In order of preference: the GPUs, then the CPU, or one of these alone. The last engine is tried
 * for every film, and a film fails if it cannot be opened. An earlier engine that failed is not
 * tried again.
 */
struct engines {
    struct engine_slot slot[ENGINES_MOST];
    int count;        /* 1 or more */
    int threads;      /* clustering threads of an engine, 1 or more */
    uint64_t films;   /* films of the run, each assumed to be like the current one; 0: one */
    uint64_t bytes;   /* mean size of their files; 0: unknown */
    pthread_t thread; /* opens the first engine while `opening` (engines_open_early) */
    bool opening;
};

/* Estimated work of a film. */
struct engine_work {
    uint64_t frames;   /* frames to decode; 0: unknown, or none if there is sound */
    int width, height; /* of the film's frames */
    uint64_t columns;  /* frames to cluster; 0: none or unknown */
    int analysis_width, analysis_height;
    double sound_seconds; /* length of the sound of a film without pictures; 0: unknown or none */
};

/* Estimated pixels that a core decodes in software per second. */
#define ENGINES_DECODE_RATE 334e6

/*
 * Estimates the seconds that `threads` cores need for the work. Assumes that a core decodes
 * ENGINES_DECODE_RATE pixels a second and clusters 6.9 million. GOPs of 240 frames are decoded in
 * parallel. If there are more cores than GOPs, frame threads keep six of ten cores busy. The
 * spectrum of two hours of sound takes a core a second.
 */
double engine_work_seconds(const struct engine_work *w, int threads);

/*
 * Returns true if `threads` cores would take longer for `films` (0: one) films like this one than a
 * GPU including its initialization. Returns true for a film of unknown length.
 */
bool engine_worth_a_gpu(const struct engine_work *w, int threads, uint64_t films);

/*
 * Initializes the list for a choice; opens nothing and does not load the driver. The list has the
 * GPUs of `devices` (copied), then the CPU unless `choice` requires a GPU. For tests, the
 * environment variable BARCODE_GPUS sets the number of CPU engines if the list has only the CPU.
 */
void engines_init(struct engines *g, enum engine_choice choice,
                  const struct engine_devices *devices, int threads);

/* Returns true if GPUs are in the list, whether the machine has any or not. */
bool engines_have_gpu(const struct engines *g);

/*
 * Returns an upper bound for engines_devices, 1 to ENGINE_DEVICES_MOST. Does not load the driver,
 * which no process may do before it forks. Counts the specified devices, or else those of the
 * system that CUDA_VISIBLE_DEVICES allows.
 */
int engines_devices_at_most(const struct engines *g);

/*
 * Returns the number of devices of the list's first kind: the specified ones, or all. Loads the
 * driver (about 0.1 s) but opens no device. Returns 1 for the CPU (unless BARCODE_GPUS is set) and
 * without a driver.
 */
int engines_devices(struct engines *g);

/* Initializes a list with the contents of `of`, for `threads` clustering threads. Opens nothing. */
void engines_begin_as(struct engines *g, const struct engines *of, int threads);

/*
 * Rotates the devices of the list's first kind: device `first` (0 or more, modulo the count) is
 * tried first and the ones before it last. Nothing may be open.
 */
void engines_turn(struct engines *g, int first);

/*
 * Begins to open a GPU if the next film is sure to need one: the list has no CPU, or films are so
 * large that they keep any cores busy for a second. A thread does it while the film is opened and
 * probed. Until engines_for, engines_linger or engines_close no other function may use the list.
 * Does nothing without a GPU, and reports nothing: engines_for does.
 */
void engines_open_early(struct engines *g);

/*
 * Returns an open engine for a film: the first of the list that opens, on the first of its devices
 * that opens. If the list ends with the CPU, a GPU is only opened for work that keeps the cores
 * busy for longer than the GPU takes to start. The engine stays the list's. Returns NULL if the
 * last engine cannot be opened, or if a specified device does not exist (ERR_ENGINE). -v logs why a
 * device is not used.
 */
struct engine *engines_for(struct engines *g, const struct engine_work *w, struct err *e);

/*
 * Closes an engine that failed on a film; engines_for no longer returns its device. Returns what
 * processes the film again, for a message ("the CPU", "another GPU"). Returns NULL and does nothing
 * if nothing else is left, or if the engine is not in the list.
 */
const char *engines_give_up(struct engines *g, const struct engine *failed);

/*
 * Returns true if a GPU is open that other processes can use too. The driver takes up to half a
 * second to release it from a process, and nobody has to wait for that.
 */
bool engines_linger(struct engines *g);

void engines_close(struct engines *g);

#endif
