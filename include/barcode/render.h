/*
 * render.h - one film from its name to its pictures: open, decide, stage, cluster, paint, write.
 */
#ifndef BARCODE_RENDER_H
#define BARCODE_RENDER_H

#include "barcode/engines.h"
#include "barcode/inputs.h"
#include "barcode/options.h"

#ifdef __cplusplus
extern "C" {
#endif

struct render {
    const struct options *options;
    const struct inputs *inputs;
    struct engines *engines;     /* lent for the call, used for one film after another       */
    int threads;                 /* decided, 1 or more                                       */
};

/*
 * Renders film `i` of the inputs. Writes nothing unless everything that was asked of the film succeeded up
 * to writing. Warnings are logged. Stops with ERR_INTERRUPTED when interrupted() turns true before that. Main thread only.
 */
bool render_film(const struct render *r, size_t i, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
