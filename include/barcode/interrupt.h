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

/*
 * Catches SIGINT, SIGTERM and SIGHUP once (a second SIGINT or SIGTERM has its default effect, a second SIGHUP none),
 * and ignores SIGPIPE and SIGXFSZ.
 */
void interrupt_install(void);

/* True after the first signal. */
bool interrupted(void);

/* Fills `e` with ERR_INTERRUPTED and a sentence without the film's name, which the caller that knows it puts in front. Returns false. */
bool interrupt_error(struct err *e);

#ifdef __cplusplus
}
#endif
#endif
