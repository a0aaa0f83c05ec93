/*
 * source.h - where staged frames come from. One table: a film through libav, a
 * synthetic film of known colours, later cached frames.
 */
#ifndef BARCODE_SOURCE_H
#define BARCODE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/engine.h"
#include "barcode/err.h"
#include "barcode/film.h"
#include "barcode/selection.h"
#include "barcode/stage.h"
#include "barcode/timetable.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Who decodes. */
enum decode_choice {
    DECODE_AUTO,         /* NVDEC and software side by side where the engine is on a GPU; else software */
    DECODE_CPU,          /* software alone                                                              */
    DECODE_NVDEC         /* NVDEC alone, for the codecs that it knows                                   */
};

enum decode_plan {
    DECODE_PARALLEL,     /* runs of GOPs on one session a core; sequential where that is not exact */
    DECODE_SEQUENTIAL    /* one decoder, every picture: what --verify compares with                */
};

struct stage_job {
    struct selection selection;   /* decided: every >= 1, or a real end for SELECT_COLUMNS  */
    enum decode_plan plan;
    enum decode_choice decode;
    int threads;                  /* cores to decode on, 1 or more                          */
    bool careful;                 /* a decoder over everything shows damage the same every time, on one core */
    struct engine *engine;        /* begun                                                  */
    struct columns *columns;      /* selected frames are announced here (frame, time) before they decode */
    struct timetable *timetable;  /* filled by a film that is read; NULL: not wanted        */
    frame_have *have;             /* selected frames that are there; a film may put them all the same. NULL: none */
    void *have_user;
};

/* Read by the main thread for the progress line while staging runs. */
struct stage_progress {
    uint64_t frames;     /* film frames covered so far      */
    uint64_t bytes;      /* of the file read so far         */
    uint64_t total_bytes;/* 0 when unknown                  */
};

struct source;

struct source_ops {
    const char *name;
    bool (*stage)(struct source *s, const struct stage_job *job, struct stage_counts *counts,
                  struct stage_times *times, struct err *e);
    void (*progress)(struct source *s, struct stage_progress *p);
    bool (*measure)(struct source *s, struct err *e);
    void (*close)(struct source **s);
};

/* Private data of an implementation begins with this. */
struct source {
    const struct source_ops *ops;
    struct film film;
};

/* Opens a film: "synth:..." is the synthetic one, everything else goes to libav. ERR_INPUT on failure. */
struct source *source_open(const char *path, struct err *e);

/*
 * Puts every selected frame into the engine; waits for the last one to be put. May be called again
 * (from the film's start). A film that decodes in part is success: counts say what is missing. So is
 * counts->contradicted, which only DECODE_PARALLEL gives: what came is wrong, and the caller must stage the film
 * again with DECODE_SEQUENTIAL, into new columns. And so is counts->damage_found, which `careful` prevents: the film is
 * damaged where one decoder went over all of it, and must be staged again with `careful`, likewise.
 * Stops with ERR_INTERRUPTED when interrupted() turns true.
 */
bool source_stage(struct source *s, const struct stage_job *job, struct stage_counts *counts,
                  struct stage_times *times, struct err *e);

/* Any thread, while source_stage runs, and afterwards: then what the last staging covered. */
void source_progress(struct source *s, struct stage_progress *p);

/* Counts displayed frames and the film's length by reading it without decoding, into s->film: no guess any more. */
bool source_measure(struct source *s, struct err *e);

/* Frees all; sets *s to NULL. NULL is fine. */
void source_close(struct source **s);

struct source *source_film_open(const char *path, struct err *e);
struct source *source_synth_open(const char *spec, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
