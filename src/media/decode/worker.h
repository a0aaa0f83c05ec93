/* worker.h - a thread that decodes chunks in software. */
#ifndef BARCODE_DECODE_WORKER_H
#define BARCODE_DECODE_WORKER_H

#include <stdbool.h>

#include "media/gop/chunk.h"
#include "media/schedule/decode_pass.h"
#include "barcode/base/err.h"

/* libavcodec on the cores. */
extern const struct decoder_backend software_backend;

/* Implements worker_main (struct decoder_backend). */
void *decode_worker_main(void *pass);

/*
 * A software worker without a thread of its own: the caller's. decode_worker_decode decodes what is
 * selected in the chunk and not done.
 */
struct decode_worker;
struct decode_worker *decode_worker_new(struct decode_pass *s, struct err *e);
bool decode_worker_decode(struct decode_worker *s, struct chunk *chunk, struct err *e);
/*
 * Adds the worker's counts to the pass, frees it and sets *s to NULL. Does nothing if *s is NULL.
 */
void decode_worker_free(struct decode_worker **s);

#endif
