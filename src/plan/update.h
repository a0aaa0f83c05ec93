/*
 * update.h - --update: skips films whose outputs all exist and are up to date.
 *
 * An output counts if it is a complete file that barcode made after the last change of the film.
 * Its metadata must name this film (film_id.h) and the same options (options_fingerprint.h). A dump
 * has no metadata: it counts if its size matches the metadata of another output of the film.
 * Stdout, pipes and devices never count. With --strict, neither does an image of a film that was
 * decoded only in part.
 */
#ifndef BARCODE_UPDATE_H
#define BARCODE_UPDATE_H

#include "outputs.h"

/*
 * With --update, sets the duty of every film whose outputs exist to INPUT_LEFT_OUT, and logs the
 * decision for each film (-v). Reads those outputs, and up to 1 MiB of each such film.
 *
 * Sets output.overwrite of a dump if the metadata of another output of this run names the film: a
 * restarted run may replace what an earlier one left. Sets that of all outputs of a film if one of
 * them is to be made again (fingerprint_is_again).
 *
 * Returns false with ERR_INTERRUPTED, or if out of memory. Main thread only.
 */
bool update_leave_out(struct output_plan *o, struct inputs *in, struct err *e);

#endif
