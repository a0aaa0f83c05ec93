/*
 * decoders.h - the GPU's decoders, which films share: a pool from which they are reused, and a
 * limit on how many work at a time.
 *
 * NVIDIA's driver creates one decoder at a time: 14 take 0.85 s, in which NVDEC decodes 5,000
 * frames of 1080p. So a film reuses the decoders of films with the same stream parameters. The
 * driver also destroys them one at a time. Those of the last films, or of the only one, are
 * destroyed after all images are written.
 */
#ifndef BARCODE_DECODERS_H
#define BARCODE_DECODERS_H

#include <stdbool.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct decoders;

/*
 * Opens an empty pool for one film or `several`. The caller frees it with decoders_free. Returns
 * NULL if out of memory. Any thread.
 */
struct decoders *decoders_open(bool several, struct err *e);

/*
 * Frees the pool and its decoders, and sets *d to NULL. Does nothing if *d is NULL. No film is
 * being decoded. Any thread.
 */
void decoders_free(struct decoders **d);

#ifdef __cplusplus
}
#endif
#endif
