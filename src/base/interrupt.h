/*
 * interrupt.h - Ctrl-C. The first signal asks every thread to stop cleanly; the second one kills
 * the worker processes, or this process if it has none. main installs the handler; any thread may
 * query it. A worker process (worker.h) receives the first signal from its parent and ignores the
 * second.
 */
#ifndef BARCODE_INTERRUPT_H
#define BARCODE_INTERRUPT_H

#include <sys/types.h>

#include "barcode/base/err.h"

/*
 * Installs a handler for SIGINT, SIGTERM and SIGHUP, and ignores SIGPIPE and SIGXFSZ. A second
 * SIGINT or SIGTERM kills the workers, whose parent then ends in order; a third one, or one without
 * workers, has its default effect. A second SIGHUP has no effect. Nor has the same signal within
 * 0.3 s, because timeout(1) sends each signal twice.
 */
void interrupt_install(void);

/* Ends the process by SIGPIPE, as programs end whose reader has gone. Main thread. */
void interrupt_end_by_pipe(void);

/* Opens /dev/null for closed standard streams, before another file gets their descriptors. */
void interrupt_open_standard(void);

/* Returns true after a signal, or if the film must end (watch.h). Counts as its progress. */
bool interrupted(void);

/* As interrupted(), but does not count as progress. For code that waits for the film's input. */
bool interrupt_pending(void);

/*
 * Lets this process write its outputs after a signal: interrupted() is false from now on. A further
 * signal kills as before. Main thread.
 */
void interrupt_finish(void);

/* Returns the first signal, or 0 if there was none. Main thread. */
int interrupt_signal(void);

/* Sets ERR_INTERRUPTED; the caller prepends the name of the film. Returns false. */
bool interrupt_error(struct err *e);

/* Sets ERR_INTERRUPTED for an output that was being written, with its name. Returns false. */
bool interrupt_output(const char *path, struct err *e);

/*
 * Forks a worker. Caught signals are forwarded to the worker until interrupt_forget_worker. Returns
 * 0 in the worker, which is killed when its parent dies. Returns -1 with errno on failure, also if
 * INTERRUPT_WORKERS_MOST workers exist. No other thread may run. Main thread only.
 */
enum { INTERRUPT_WORKERS_MOST = 32 };
pid_t interrupt_fork(void);

/* Stops forwarding signals to a worker that has exited: its pid may be reused. In the parent. */
void interrupt_forget_worker(pid_t gone);

/*
 * Returns a descriptor for poll (POLLIN) that becomes readable with the first signal. Returns -1
 * after that, and if interrupt_install was not called. Parent of workers.
 */
int interrupt_descriptor(void);

#endif
