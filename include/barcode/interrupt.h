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
 * Catches SIGINT, SIGTERM and SIGHUP once (a second SIGINT or SIGTERM removes the doomed files and has its default effect, a
 * second SIGHUP none), and ignores SIGPIPE and SIGXFSZ.
 */
void interrupt_install(void);

/* True after the first signal. */
bool interrupted(void);

/* Fills `e` with ERR_INTERRUPTED and a sentence without the film's name, which the caller that knows it puts in front. Returns false. */
bool interrupt_error(struct err *e);

/* The same of an output that was being written, by its name. Returns false. */
bool interrupt_output(const char *path, struct err *e);

/*
 * From here on the second signal, which kills, removes the file at `path` first: a temporary. The string is lent until
 * interrupt_spare, which takes the number that this returns. Where too many are doomed already it is -1, and nothing happens.
 */
int interrupt_doom(const char *path);

/* The file is not to be removed any more. -1 is fine. Does not return when the second signal has come. */
void interrupt_spare(int number);

#ifdef __cplusplus
}
#endif
#endif
