/*
 * render.h - one film from its name to its pictures: open, decide, stage, cluster, paint, write.
 */
#ifndef BARCODE_RENDER_H
#define BARCODE_RENDER_H

#include "barcode/cli/inputs.h"
#include "barcode/cli/options.h"
#include "barcode/engine/engines.h"
#include "barcode/media/decoders.h"
#include "barcode/output/report_log.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Film `film` is done by `share` (0..1), with so many frames so far. Any thread. */
typedef void render_tick(void *user, size_t film, double share, uint64_t frames);

struct render {
    const struct options *options;
    const struct inputs *inputs;
    /* lent for the call, used for one film after another: a film worker's own */
    struct engines *engines;
    int threads;                   /* decided, 1 or more; of this worker */
    int workers;                   /* that divide the machine; 0: one */
    struct report_log *report_log; /* --report, opened by films.h: one line per film; NULL: none */
    render_tick *tick;             /* of several films: is told how far each is; NULL: one film */
    void *tick_user;
    /* of several films under way: which one decodes; NULL: one at a time */
    struct admission *admission;
    struct decoders *decoders; /* the GPU's that are kept; NULL: none */
    bool again; /* an earlier worker of this run had the film, and may have written outputs of it */
    struct admission *probe_admission; /* the same for crop detection; shared by several films */
};

/*
 * Renders film `i` of the inputs. Writes nothing unless everything that was asked of the film
 * succeeded up to writing. Warnings are logged. Stops with ERR_INTERRUPTED when interrupted() turns
 * true before that. Any thread, with its own engines.
 */
bool render_film(const struct render *r, size_t i, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
