/* live.h - barcodes of what is going on: --live. */
#ifndef BARCODE_LIVE_H
#define BARCODE_LIVE_H

#include "base/process_options.h"
#include "engine/engines.h"
#include "live_options.h"
#include "plan/plan.h"

struct live_plan;

/* Returns what the run makes of its streams (day/day.h). `means` as in engine_job. */
struct live_plan live_plan_of(const struct plan *plan, const struct live_run_options *o,
                              const struct light_table *means);

/*
 * Reads the streams that the plan's inputs name until they end, or until a signal; each becomes
 * columns of `o->column_us` of wall-clock time. A worker process that has given up its rights
 * decodes them, and is started again if it crashes. Reports failures. Returns the exit status: 0
 * after SIGTERM or if all streams ended in order (a pipe), 130 after SIGINT.
 *
 * No other thread may be running. Main thread only.
 */
int live_run(const struct plan *plan, const struct live_run_options *o,
             const struct engine_options *engine, const struct process_options *process);

#endif
