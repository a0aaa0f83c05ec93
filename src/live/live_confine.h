/* live_confine.h - the sandbox of the process that decodes streams (sandbox.h). */
#ifndef BARCODE_LIVE_LIVE_CONFINE_H
#define BARCODE_LIVE_LIVE_CONFINE_H

#include "plan/options.h"

/*
 * Makes the folder of the outputs, and what the sandbox needs. Fails with ERR_FAILED if it cannot
 * be made or written, or if --sandbox=require and the kernel lacks a part. Parent, before it forks.
 */
bool live_confine_prepare(const struct options *o, struct err *e);

/* Removes the folders that live_confine_prepare made, as far as they are empty. Parent, last. */
void live_confine_tidy(const struct options *o);

/*
 * Limits the memory of this process and confines it, unless --sandbox=off. It reads devices and
 * folders among the inputs, and reaches the network if an input is a URL. It has no right in the
 * folder of the outputs. Of the descriptors it keeps `link`, and stdin if that is an input.
 * Returns false if --sandbox=require and the confinement is incomplete. Before other threads start.
 */
bool live_confine_enter(const struct options *o, int link, struct err *e);

#endif
