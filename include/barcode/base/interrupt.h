/*
 * interrupt.h - Ctrl-C. The first one asks every thread to stop in order, the second one kills. Any
 * thread may ask; the handler is installed by main. A worker process (worker_process.h) hears the
 * first one from its parent, and leaves the second one to it.
 */
#ifndef BARCODE_INTERRUPT_H
#define BARCODE_INTERRUPT_H

#include <stdbool.h>
#include <sys/types.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Catches SIGINT, SIGTERM and SIGHUP once (a second SIGINT or SIGTERM removes the doomed files and
 * has its default effect, a second SIGHUP none, nor has the same signal within 0.3 s: timeout(1)
 * sends it twice), and ignores SIGPIPE and SIGXFSZ.
 */
void interrupt_install(void);

/* Puts something in the place of a closed stdin, stdout or stderr, so that no file gets its number.
 * First of all in main. */
void interrupt_open_standard(void);

/* True after the first signal. */
bool interrupted(void);

/* Fills `e` with ERR_INTERRUPTED and a sentence without the film's name; the caller that knows the
 * name adds it. Returns false. */
bool interrupt_error(struct err *e);

/* The same for an output that was being written, with its name. Returns false. */
bool interrupt_output(const char *path, struct err *e);

/*
 * Forks a worker. What this process may be told by a signal until interrupt_forget_worker is passed
 * on to it. Returns what fork does: 0 in the worker, which dies when its parent does; -1 with
 * errno, also when so many workers run. No other thread may run. Main thread only.
 */
enum { INTERRUPT_WORKERS_MOST = 32 };
pid_t interrupt_fork(void);

/* In the parent: that worker is gone, and its number may soon be another process's. */
void interrupt_forget_worker(pid_t gone);

/*
 * From here on the second signal, which kills, first removes the temporary at `path`; so does
 * interrupt_remove_doomed in the worker's parent. Returns a number for interrupt_spare; -1 and does
 * nothing before interrupt_install, when too many files are doomed already, or when memory was
 * short.
 */
int interrupt_doom(const char *path);

/* From here on the file is not removed. -1 is fine. Does not return when the second signal has
 * come. */
void interrupt_spare(int number);

/* In the parent of a worker that is gone, where no other thread runs: removes the temporaries that
 * this process left. */
void interrupt_remove_doomed(pid_t owner);

#ifdef __cplusplus
}
#endif
#endif
