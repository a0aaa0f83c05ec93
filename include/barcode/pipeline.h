/*
 * pipeline.h - one pass: a source stages into an engine while the main thread shows progress.
 */
#ifndef BARCODE_PIPELINE_H
#define BARCODE_PIPELINE_H

#include "barcode/engine.h"
#include "barcode/progress.h"
#include "barcode/report.h"
#include "barcode/source.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pass {
    struct source *source;
    struct engine *engine;             /* not begun                                     */
    struct engine_job job;             /* `columns`, `tap`, sizes; `ports` is set here  */
    struct selection selection;        /* decided                                       */
    enum decode_plan plan;
    enum decode_choice decode;
    int threads;
    bool careful;                      /* see source.h                                  */
    struct progress *progress;         /* NULL: silent                                  */
    uint64_t columns_total;            /* estimate for the progress line, 0 unknown     */
    struct timetable *timetable;       /* filled when the source is a film; NULL: not wanted */
};

/* Runs it to the end. Times and counts are added to / put into the two results. Main thread only. */
bool pass_run(const struct pass *p, struct stage_counts *counts, struct stage_times *times, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
