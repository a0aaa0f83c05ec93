/* job.h - the job of one film: open, decode, assess, hand to the sinks of its outputs. */
#ifndef BARCODE_JOB_H
#define BARCODE_JOB_H

#include "engine/engines.h"
#include "media/source.h"
#include "output/report.h"
#include "plan/outputs.h"

/* What became of a film, for the report of the run (run_files.h). Plain numbers and texts. */
struct job_result {
    double seconds;  /* without waiting for other films */
    int64_t columns; /* < 0: none */
    int warnings;    /* 0..REPORT_WARNINGS */
    char warning[REPORT_WARNINGS][REPORT_WARNING];
};

/* Of a film that was not opened, or whose worker process ended. */
extern const struct job_result job_no_result;

/* What the films of a run have in common, and those of a film worker. */
struct job_context {
    const struct plan *plan;
    const struct inputs *inputs;
    const struct output_plan *outputs;
    /* borrowed for the call and reused from film to film; each film worker has its own */
    struct engines *engines;
    int threads;      /* 1 or more; of this process */
    int workers;      /* the worker processes that share the machine; 0: only one */
    bool at_terminal; /* the run has one film, and somebody watches its progress */
    bool in_summary;  /* outputs are logged at -v alone: the run has a summary, in a file */
    /* decides which of several films decodes; NULL: one film at a time */
    struct admission *admission;
    struct decoders *decoders; /* pooled decoders of a device; NULL: none are pooled */
    bool alone;                /* no other film of this process is in progress */
    /* as `admission`, for crop detection; shared by several films */
    struct admission *probe_admission;
};

/*
 * Renders film `i` of the inputs and sets `*result`. Writes no output before everything else of the
 * film has succeeded. Logs warnings, but not the failure. Returns
 * false with ERR_INTERRUPTED if interrupted() becomes true before the outputs are written. Any
 * thread, with its own engines.
 */
bool job_run(const struct job_context *c, size_t i, struct job_result *result, struct err *e);

/*
 * Returns true if film `i`, which failed with `e`, must be rendered again alone: memory ran out,
 * and other films were in progress.
 */
bool job_again_alone(const struct job_context *c, size_t i, const struct err *e);

#endif
