/*
 * latch.h - something that happens once, and threads that wait for it.
 *
 * What was written before latch_release can be read after latch_wait.
 */
#ifndef BARCODE_LATCH_H
#define BARCODE_LATCH_H

#include <stdbool.h>

#include "barcode/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct latch;

/* Closed; the caller's until latch_free. NULL: memory, on `e`. */
struct latch *latch_new(struct err *e);

/* It has happened, or (not `good`) failed. Any thread; once more does nothing. */
void latch_release(struct latch *l, bool good);

/* Returns once it has happened, or (false) failed. Any thread, several at once; costs nothing from then on. */
bool latch_wait(struct latch *l);

/* Nobody waits any more. NULL is fine; sets *l to NULL. */
void latch_free(struct latch **l);

#ifdef __cplusplus
}
#endif
#endif
