/*
 * confine.h - the sandbox of the worker processes (sandbox.h): which files the films, the outputs,
 * the cache, the libraries and the GPU's driver need.
 *
 * A worker reads the films of the queue and their parts. It may read the folder of a playlist and
 * below, because the playlist names files there. It writes below the folders of the outputs, where
 * it can read only outputs that existed at its start. The parent makes folders that are missing,
 * because a rule needs a folder.
 */
#ifndef BARCODE_BATCH_CONFINE_H
#define BARCODE_BATCH_CONFINE_H

#include "barcode/render/render.h"

struct confinement;

/*
 * Makes the folders of outputs and cache. Logs at -v what the kernel lacks, or fails with
 * ERR_FAILED if --sandbox=require. Returns NULL on failure. Parent, before it forks.
 */
struct confinement *confinement_open(const struct render *r, struct err *e);

/*
 * Confines this process, unless --sandbox=off. Returns false with ERR_FAILED if --sandbox=require
 * and the confinement is incomplete, and logs that at -v otherwise. Before other threads start.
 */
bool confinement_enter(const struct render *r, struct err *e);

/*
 * Frees `*c` and sets it to NULL. With `remove`, which is for the parent, removes the folders that
 * were made and are still empty.
 */
void confinement_close(struct confinement **c, bool remove);

#endif
