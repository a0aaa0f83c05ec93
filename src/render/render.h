/* render.h - renders one film: opens, probes, decodes, clusters, paints, writes. */
#ifndef BARCODE_RENDER_H
#define BARCODE_RENDER_H

#include "plan/inputs.h"
#include "plan/options.h"
#include "engine/engines.h"
#include "media/source.h"
#include "output/report.h"

/* What became of a film, for the report of the run (report_log.h). Plain numbers and texts. */
struct film_result {
    bool written;    /* all its outputs exist */
    double seconds;  /* without waiting for other films */
    int64_t columns; /* < 0: none */
    int warnings;    /* 0..REPORT_WARNINGS */
    char warning[REPORT_WARNINGS][REPORT_WARNING];
};

/* Of a film that was not opened, or whose worker process ended. */
extern const struct film_result film_no_result;

struct render {
    const struct options *options;
    const struct inputs *inputs;
    /* borrowed for the call and reused from film to film; each film worker has its own */
    struct engines *engines;
    int threads;       /* 1 or more; of this process */
    int workers;       /* the worker processes that share the machine; 0: only one */
    bool at_terminal;  /* the run has one film, and somebody watches its progress */
    const char *table; /* the path of --csv FILE of several films, for messages; NULL: none */
    /* decides which of several films decodes; NULL: one film at a time */
    struct admission *admission;
    struct decoders *decoders; /* pooled decoders of a device; NULL: none are pooled */
    bool again;                /* the film was rendered before, and outputs of it may exist */
    bool alone;                /* no other film of this process is in progress */
    /* as `admission`, for crop detection; shared by several films */
    struct admission *probe_admission;
};

/*
 * Renders film `i` of the inputs, and sets `*result`. Writes no output before everything else of
 * the film has succeeded. Logs warnings, but not the failure. Returns false with ERR_INTERRUPTED if
 * interrupted() becomes true before the outputs are written. Any thread, with its own engines.
 */
bool render_film(const struct render *r, size_t i, struct film_result *result, struct err *e);

/*
 * Returns true if film `i`, which failed with `e`, must be rendered again alone: memory ran out,
 * and other films were in progress.
 */
bool render_again_alone(const struct render *r, size_t i, const struct err *e);

#endif
