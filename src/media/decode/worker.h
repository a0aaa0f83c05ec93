/*
 * worker.h - a thread that decodes runs.
 */
#ifndef BARCODE_DECODE_WORKER_H
#define BARCODE_DECODE_WORKER_H

#include <stdbool.h>

#include "media/gop/chunk.h"
#include "media/schedule/decode_pass.h"
#include "barcode/base/err.h"

void *session_main(void *staging);

/* One software session without a thread, for the caller's: decodes what a run still wants. */
struct session;
struct session *session_new(struct staging *s, struct err *e);
bool session_decode(struct session *s, struct run *run, struct err *e);
/* Adds its counts to the staging's, frees it; NULL is fine. */
void session_free(struct session **s);

#endif
