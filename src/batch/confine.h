/*
 * confine.h - the sandbox of the worker processes (sandbox.h). A worker opens by name what the
 * libraries, the fonts and the GPU's driver need, the frames in the cache, and the files of films
 * in several files. All other files of a run the parent opens for it (film_files.c).
 */
#ifndef BARCODE_BATCH_CONFINE_H
#define BARCODE_BATCH_CONFINE_H

#include "film_process.h"

/*
 * Makes the folder of the cache. Logs at -v what the kernel lacks, or fails with ERR_FAILED if
 * --sandbox=require. Parent, before it forks.
 */
bool confinement_prepare(const struct batch *b, struct err *e);

/*
 * Confines this process to its link, these files, and inherited descriptors that are films or
 * outputs, unless --sandbox=off. Returns false with ERR_FAILED if --sandbox=require and the
 * confinement is incomplete, and logs that at -v otherwise. Worker, before other threads start.
 */
bool confinement_enter(const struct batch *b, const struct worker *w, struct err *e);

#endif
