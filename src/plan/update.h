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
 * decision for each film (-v). Reads those outputs, and up to 1 MiB of each such film. Returns
 * false with ERR_INTERRUPTED, or if out of memory. Main thread only.
 */
bool update_leave_out(const struct output_plan *o, struct inputs *in, struct err *e);

/*
 * Returns true with --update if the dump of film `i` exists and the metadata of another output of
 * this run names the film. A restarted run may then replace a dump that an earlier run left.
 */
bool update_knows_dump(const struct plan *plan, const struct inputs *in, size_t i,
                       const struct outputs *list);

/*
 * Returns true with --update if an output of film `i` exists that is to be made again
 * (fingerprint_is_again). All outputs of the film may then be replaced.
 */
bool update_knows_again(const struct plan *plan, const struct inputs *in, size_t i,
                        const struct outputs *list);

#endif
