/*
 * update.h - --update: which films need not be done, because all of their outputs are there
 * already.
 *
 * An output is there if it is a whole file that says it was made by barcode, of this very film
 * (film_id.h) and by the same recipe (options_fingerprint.h), and if the film was not written to
 * since. A dump says nothing: it counts if its size is what the film's picture says. What goes to
 * stdout, a pipe or a device is never there. With --strict, nor is a picture of a film that decoded
 * only in part.
 */
#ifndef BARCODE_UPDATE_H
#define BARCODE_UPDATE_H

#include "barcode/cli/inputs.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * With --update: turns the duty of every film whose outputs are there into INPUT_LEFT_OUT, and says
 * of each with -v what was found. Reads those outputs, and up to 1 MiB of each such film. False:
 * ERR_INTERRUPTED, or memory. Main thread.
 */
bool update_leave_out(const struct options *o, struct inputs *in, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
