/*
 * worker.h - a thread that decodes runs.
 */
#ifndef BARCODE_DECODE_WORKER_H
#define BARCODE_DECODE_WORKER_H

#include <stdbool.h>

#include "media/gop/chunk.h"
#include "media/schedule/decode_pass.h"
#include "barcode/base/err.h"

/* libavcodec on the cores. */
extern const struct decoder_backend software_backend;

void *decode_worker_main(void *pass);

/* One software worker without a thread, for the caller's: decodes what a chunk still wants. */
struct decode_worker;
struct decode_worker *decode_worker_new(struct decode_pass *s, struct err *e);
bool decode_worker_decode(struct decode_worker *s, struct chunk *chunk, struct err *e);
/* Adds its counts to the staging's, frees it; NULL is fine. */
void decode_worker_free(struct decode_worker **s);

#endif
