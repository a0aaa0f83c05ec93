/*
 * live_child.h - a child process that writes files from a snapshot of this process, which fork(2)
 * makes: a column never waits for a picture. One child at a time. Main thread of a process that has
 * no other.
 */
#ifndef BARCODE_LIVE_LIVE_CHILD_H
#define BARCODE_LIVE_LIVE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Waits for the child before, and forks. Returns 0 in the child, which must end with _exit, runs
 * with low priority, and has only the standard streams open. Returns -1 if it cannot fork.
 */
pid_t live_child_start(void);

/* Returns true while the child runs. Once it has ended, sets `*seconds` to its processor time. */
bool live_child_runs(double *seconds);

/*
 * Waits for the child, if there is one. Kills it after 30 s, or after 3 s if this process was
 * interrupted, because its disk hangs.
 */
void live_child_wait(void);

/* Closes all descriptors that are close-on-exec, except `keep` (-1: none). In a forked process. */
void live_child_close_all(int keep);

#endif
