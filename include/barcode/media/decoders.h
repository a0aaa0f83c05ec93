/*
 * decoders.h - the GPU's decoders of a run over one film or many: kept from film to film, and no
 * more of them at work than the GPU has use for.
 *
 * NVIDIA's driver makes one decoder at a time, 14 in 0.85 s with the GPU's context, in which NVDEC
 * decodes 5,000 pictures of 1080p. So a film takes over those that films of the same stream
 * parameters before it are done with. The driver takes them back one at a time, too, 14 in 0.4 s:
 * those of the last films, or of the only one, go when all pictures are written.
 */
#ifndef BARCODE_DECODERS_H
#define BARCODE_DECODERS_H

#include <stdbool.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct decoders;

/* None yet, for one film or `several`. The caller's, decoders_free. NULL: memory. Any thread. */
struct decoders *decoders_open(bool several, struct err *e);

/* Frees those that are kept; sets *d to NULL. NULL is fine. No film is being staged. Any thread. */
void decoders_free(struct decoders **d);

#ifdef __cplusplus
}
#endif
#endif
