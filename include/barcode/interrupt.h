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

/* Fills `e` with ERR_INTERRUPTED and a sentence without the film's name; the caller that knows the name adds it. Returns false. */
bool interrupt_error(struct err *e);

/* The same for an output that was being written, with its name. Returns false. */
bool interrupt_output(const char *path, struct err *e);

/*
 * From here on the second signal, which kills, first removes the temporary at `path`. The string is lent until interrupt_spare,
 * which takes the number that this returns. Returns -1 and does nothing when too many files are doomed already.
 */
int interrupt_doom(const char *path);

/* From here on the file is not removed. -1 is fine. Does not return when the second signal has come. */
void interrupt_spare(int number);

#ifdef __cplusplus
}
#endif
#endif
