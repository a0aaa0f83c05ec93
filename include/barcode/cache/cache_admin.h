/*
 * cache_admin.h - --cache-stats, --cache-verify and --cache-clear.
 */
#ifndef BARCODE_CACHE_ADMIN_H
#define BARCODE_CACHE_ADMIN_H

#include <stdio.h>

#include "barcode/cache/cache_options.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Does what was asked for, in the order verify, clear, stats, with the answers as lines of text to
 * `out`. ERR_FAILED: there is no folder for a cache, an entry was damaged (it is removed), one
 * cannot be removed, or `out` cannot be written. ERR_INTERRUPTED when interrupted() turned true.
 * Main thread only.
 */
bool cache_admin(const struct cache_options *o, FILE *out, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
