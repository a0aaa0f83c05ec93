/*
 * live_engine.h - analyses single frames with an engine, at once. Streams whose analysis frames
 * have one size share an engine, so a GPU takes the frames that are there in one launch.
 */
#ifndef BARCODE_LIVE_LIVE_ENGINE_H
#define BARCODE_LIVE_LIVE_ENGINE_H

#include "plan/options.h"
#include "engine/engines.h"
#include "live_record.h"

/* All engines of the process. Any thread. */
struct live_engines;

/*
 * `list` and `light` are borrowed. `means`: as in engine_job. `ports`: streams. Returns NULL if out
 * of memory.
 */
struct live_engines *live_engines_open(const struct options *o, struct engines *list,
                                       struct light *light, const struct light_table *means,
                                       int ports, struct err *e);

/* Frees *g and sets it to NULL; all analysers must be closed. Does nothing if *g is NULL. */
void live_engines_close(struct live_engines **g);

/* Analyses the frames of one stream. One thread. */
struct live_analyser;

/*
 * Opens an analyser for analysis frames of this size, and an engine if no stream has one for it.
 * Fails as engines_for does.
 */
struct live_analyser *live_analyser_open(struct live_engines *g, int width, int height,
                                         struct err *e);

/* Returns the engine's description. */
const char *live_analyser_detail(const struct live_analyser *a);

/*
 * Analyses a frame and waits for the result, which stays valid until the next call: its status is
 * MISSING if no pixel is visible. `number` seeds k-means, as a film's frame number does. *sum gets
 * the frame's sums. Fails if the engine does, or does not answer.
 */
const struct column *live_analyse(struct live_analyser *a, const struct frame_view *view,
                                  int64_t number, bool damaged, struct live_average *sum,
                                  struct err *e);

/* Closes the analyser and sets *a to NULL. Does nothing if *a is NULL. */
void live_analyser_close(struct live_analyser **a);

#endif
