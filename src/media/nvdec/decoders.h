/*
 * decoders.h - a pool of the GPU's decoders, for one film or several: reused from film to film, and
 * never more at work than keep the GPU busy.
 *
 * NVIDIA's driver opens one decoder at a time and closes it as slowly. So a film reuses the
 * decoders that earlier films of the same stream parameters have finished with. Those of the last
 * film are closed after all images are written.
 */
#ifndef BARCODE_DECODERS_H
#define BARCODE_DECODERS_H

#include <stdbool.h>

#include "barcode/base/err.h"

struct decoders;

/*
 * Opens an empty pool, for one film or `several`; the caller frees it with decoders_free. Returns
 * NULL if out of memory. Any thread.
 */
struct decoders *decoders_open(bool several, struct err *e);

/*
 * Closes the pooled decoders; sets *d to NULL. Does nothing if *d is NULL. No film may be decoding.
 * Any thread.
 */
void decoders_free(struct decoders **d);

#endif
