/*
 * pass.h - one pass over a film: a source decodes into an engine while the calling thread gets the
 * progress.
 */
#ifndef BARCODE_PASS_H
#define BARCODE_PASS_H

#include "base/admission.h"
#include "barcode/engine/engine.h"
#include "media/nvdec/decoders.h"
#include "media/source.h"
#include "media/gop/decode_counts.h"

/* How far a pass is. */
struct pass_state {
    struct decode_progress film; /* of the film */
    uint64_t columns;            /* done so far */
    bool done;                   /* the pass succeeded: all columns exist */
};

/*
 * Called on the thread of pass_run, ten times a second, and once at the end unless the film must be
 * decoded again.
 */
typedef void pass_tick(void *user, const struct pass_state *state);

/* The arguments of pass_run, borrowed for the call. */
struct pass {
    struct source *source;
    struct engine *engine;      /* not begun */
    struct engine_job job;      /* all fields but `ports`, which pass_run decides */
    struct selection selection; /* decided */
    enum decode_plan plan;
    enum decode_choice decode;
    int threads;
    bool exact_damage; /* with SOURCE_EXACT_DAMAGE, see source.h */
    pass_tick *tick;   /* NULL: silent */
    void *tick_user;
    struct decoders *decoders; /* of all films; NULL: no decoder is pooled */
    /* with several films: waits for its turn there. NULL: a single film */
    struct admission *admission;
    /* how many worker processes work at once, each with an admission of its own; 0: one */
    int worker_processes;
    struct sound_job *sound;         /* SOURCE_HAS_SOUND; NULL: not needed */
    struct frame_times *frame_times; /* filled with SOURCE_HAS_FRAME_TIMES; NULL: not needed */
};

/*
 * Begins the engine, decodes the film into it, finishes it. *counts is overwritten, also after a
 * failure; seconds are added to *times. Returns true if each selected frame is in its column,
 * unless decode_must_restart. Returns false on the first error of the source or the engine; the
 * engine can be used again. ERR_INTERRUPTED also while it waits for admission. Any thread, one at a
 * time for an engine.
 */
bool pass_run(const struct pass *p, struct decode_counts *counts, struct decode_times *times,
              struct err *e);

#endif
