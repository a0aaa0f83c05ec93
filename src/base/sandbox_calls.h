/* sandbox_calls.h - the system calls that a sandbox refuses, for sandbox.c. */
#ifndef BARCODE_BASE_SANDBOX_CALLS_H
#define BARCODE_BASE_SANDBOX_CALLS_H

#include <stdbool.h>

/*
 * Refuses calls that decoding and writing never need, for the calling thread and its later ones;
 * sandbox.h has the list in words. With `gpu`, local sockets may be made and may listen; with
 * `network`, those of TCP and UDP may do all. Returns 0 or an errno value.
 */
int sandbox_refuse_calls(bool gpu, bool network);

/* Returns true if the kernel filters system calls. */
bool sandbox_filters_calls(void);

#endif
