/* render.h - renders one film: opens, probes, decodes, clusters, paints, writes. */
#ifndef BARCODE_RENDER_H
#define BARCODE_RENDER_H

#include "barcode/cli/inputs.h"
#include "barcode/cli/options.h"
#include "barcode/engine/engines.h"
#include "barcode/media/decoders.h"
#include "barcode/output/report_log.h"
#include "barcode/output/table.h"

/*
 * Receives the progress of film `film`: its finished share (0..1) and its frame count so far. Any
 * thread.
 */
typedef void render_tick(void *user, size_t film, double share, uint64_t frames);

struct render {
    const struct options *options;
    const struct inputs *inputs;
    /* borrowed for the call and reused from film to film; each film worker has its own */
    struct engines *engines;
    int threads;                   /* 1 or more; of this process */
    int workers;                   /* the worker processes that share the machine; 0: only one */
    struct report_log *report_log; /* --report, opened by films.c: a line per film; NULL: none */
    struct table *table;           /* --csv FILE of several films, opened by films.c; NULL: none */
    /* called with the progress of each of several films; NULL: a single film */
    render_tick *tick;
    void *tick_user;
    /* decides which of several films decodes; NULL: one film at a time */
    struct admission *admission;
    struct decoders *decoders; /* pooled decoders of a device; NULL: none are pooled */
    bool again;                /* the film was rendered before, and outputs of it may exist */
    bool alone;                /* no other film of this process is in progress */
    /* as `admission`, for crop detection; shared by several films */
    struct admission *probe_admission;
};

/*
 * Renders film `i` of the inputs. Writes no output before everything else of the film has
 * succeeded. Logs warnings. Returns false with ERR_INTERRUPTED if interrupted() becomes true before
 * the outputs are written. Any thread, with its own engines.
 */
bool render_film(const struct render *r, size_t i, struct err *e);

/*
 * Returns true if film `i`, which failed with `e`, must be rendered again alone: memory ran out,
 * and other films were in progress. --report has no line of it yet.
 */
bool render_again_alone(const struct render *r, size_t i, const struct err *e);

#endif
