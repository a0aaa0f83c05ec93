/*
 * pass.h - one pass over a film: a source stages into an engine while the calling thread is told
 * how far it is.
 */
#ifndef BARCODE_PASS_H
#define BARCODE_PASS_H

#include "barcode/base/admission.h"
#include "barcode/engine/engine.h"
#include "barcode/media/decoders.h"
#include "barcode/media/source.h"
#include "barcode/media/decode_counts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far a pass is. */
struct pass_state {
    struct decode_progress film; /* of the film */
    uint64_t columns;            /* done so far */
    bool done;                   /* the pass ended well: all columns are there */
};

/* Called on the thread of pass_run, ten times a second, and once at the end unless the film must be
 * staged anew. */
typedef void pass_tick(void *user, const struct pass_state *state);

/* What pass_run takes; all of it is lent for the call. */
struct pass {
    struct source *source;
    struct engine *engine;      /* not begun */
    struct engine_job job;      /* all but `ports`, which pass_run decides */
    struct selection selection; /* decided */
    enum decode_plan plan;
    enum decode_choice decode;
    int threads;
    bool exact_damage; /* with SOURCE_EXACT_DAMAGE, see source.h */
    pass_tick *tick;   /* NULL: silent */
    void *tick_user;
    struct decoders *decoders; /* of the whole run; NULL: none are kept */
    /* several films are under way: it waits there for its turn. NULL: it is alone */
    struct admission *admission;
    /* such gates, one a worker, films of each of which may be under way with it; 0: one */
    int worker_processes;
    struct frame_times *frame_times; /* filled with SOURCE_HAS_FRAME_TIMES; NULL: not wanted */
};

/*
 * Begins the engine, stages the film into it, finishes it. *counts is overwritten, on failure too;
 * seconds are added to *times. True: every selected frame is in its column, unless
 * decode_must_restart. False: the first failure, of the source or of the engine; the engine can be
 * used again. ERR_INTERRUPTED too while it waits at the admission. Any thread, one at a time an
 * engine.
 */
bool pass_run(const struct pass *p, struct decode_counts *counts, struct decode_times *times,
              struct err *e);

#ifdef __cplusplus
}
#endif
#endif
