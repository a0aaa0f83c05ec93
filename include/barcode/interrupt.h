/*
 * interrupt.h - Ctrl-C. The first one asks every thread to stop in order, the
 * second one kills. Any thread may ask; the handler is installed by main.
 */
#ifndef BARCODE_INTERRUPT_H
#define BARCODE_INTERRUPT_H

#include <stdbool.h>

#include "barcode/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Catches SIGINT and SIGTERM once (a second one has its default effect), and ignores SIGPIPE. */
void interrupt_install(void);

/* True after the first Ctrl-C. */
bool interrupted(void);

/* Fills `e` with the sentence and ERR_INTERRUPTED. Returns false. */
bool interrupt_error(struct err *e);

#ifdef __cplusplus
}
#endif
#endif
