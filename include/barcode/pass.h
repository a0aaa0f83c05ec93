/*
 * pass.h - one pass over a film: a source stages into an engine while the calling thread is told how far it is.
 */
#ifndef BARCODE_PASS_H
#define BARCODE_PASS_H

#include "barcode/engine.h"
#include "barcode/source.h"
#include "barcode/stage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far a pass is. */
struct pass_state {
    struct stage_progress film;        /* of the film                                   */
    uint64_t columns;                  /* announced so far                              */
    bool done;                         /* the pass ended well: all columns are there    */
};

/* Called on the thread of pass_run, ten times a second and once at the end. */
typedef void pass_tick(void *user, const struct pass_state *state);

struct pass {
    struct source *source;
    struct engine *engine;             /* not begun                                     */
    struct engine_job job;             /* `columns`, `tap`, sizes; `ports` is set here  */
    struct selection selection;        /* decided                                       */
    enum decode_plan plan;
    enum decode_choice decode;
    int threads;
    bool careful;                      /* see source.h                                  */
    pass_tick *tick;                   /* NULL: silent                                  */
    void *tick_user;
    struct timetable *timetable;       /* filled when the source is a film; NULL: not wanted */
};

/* Runs it to the end. Times and counts are added to / put into the two results. Main thread only. */
bool pass_run(const struct pass *p, struct stage_counts *counts, struct stage_times *times, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
