/* cache_admin.h - --cache-stats, --cache-verify and --cache-clear. */
#ifndef BARCODE_CACHE_ADMIN_H
#define BARCODE_CACHE_ADMIN_H

#include <stdio.h>

#include "cache_options.h"

/*
 * Does what the options ask for, in the order verify, clear, stats, and writes the results as text
 * to `out`. Verifying removes damaged entries. Returns false with ERR_FAILED if there is no folder
 * for a cache, or if an entry is damaged or cannot be removed. Also fails if `out` cannot be
 * written. Returns false with ERR_INTERRUPTED if interrupted() becomes true. Main thread only.
 */
bool cache_admin(const struct cache_options *o, FILE *out, struct err *e);

#endif
