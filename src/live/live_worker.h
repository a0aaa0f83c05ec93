/* live_worker.h - the process that decodes the streams of --live. */
#ifndef BARCODE_LIVE_LIVE_WORKER_H
#define BARCODE_LIVE_LIVE_WORKER_H

#include "base/worker.h"
#include "live_channel.h"

/* What the process gets from its parent by fork. */
struct live_worker {
    const struct options *options;
    struct engines *engines;
    struct light *light;
    const struct light_table *means;
    /* [options.inputs]; link, watch and engines are set here. Those without a source have ended */
    struct live_channel_setup *stream;
};

/*
 * Gives up the rights of this process, and reads all streams until the parent sends LIVE_STOP.
 * Announces the exit status to the parent: 0, or that of a failure before the streams were started,
 * which it reports. Ends the process.
 */
_Noreturn void live_worker_run(const struct live_worker *l, struct worker *w);

#endif
