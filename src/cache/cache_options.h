/* cache_options.h - the options of the frame cache, from the command line and the environment. */
#ifndef BARCODE_CACHE_OPTIONS_H
#define BARCODE_CACHE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/option.h"

/* No --cache-limit: cache_limit_default chooses the limit when the folder is known. */
#define CACHE_LIMIT_AUTO UINT64_MAX

/* Files of an index of films' sound (barcode find): evicted and cleared as entries are. */
#define CACHE_INDEX_ENDING ".landmarks"

/* The list of failed_films.h: evicted and cleared, too. */
#define CACHE_FAILED_FILMS "failed-films"

struct cache_options {
    const char *folder; /* --cache; NULL: the environment names it; "-": no cache */
    uint64_t limit;     /* bytes of all entries together, or CACHE_LIMIT_AUTO */
    bool off, refresh;  /* --no-cache; --refresh: write entries, but read none */
    bool temporary;     /* a folder that is removed after the run, and not announced */
    /* --cache-stats, --cache-clear, --cache-verify: done instead of a film */
    bool stats, clear, verify;
};

extern const struct option_table cache_options;

/* The options of a command line without cache options. */
extern const struct cache_options cache_options_default;

/*
 * Returns the limit without --cache-limit: 10 GiB or a tenth of the free space, whichever is less.
 * The cache's own bytes count as free, so a cache does not lower its own limit by growing.
 */
uint64_t cache_limit_default(uint64_t free_bytes, uint64_t cache_bytes);

bool cache_options_action(const struct cache_options *o);

/*
 * Writes the path of the cache's folder to `folder`: --cache, else $BARCODE_CACHE, else
 * $XDG_CACHE_HOME/barcode, else ~/.cache/barcode. The folder need not exist. Returns false if none
 * of these gives a folder, if "-" turns the cache off, or if the path is too long.
 */
bool cache_options_folder(const struct cache_options *o, char *folder, size_t room);

/*
 * Does what --cache-verify, --cache-clear and --cache-stats ask for, in the order verify, clear,
 * stats, and writes the results as text to `out`. Verifying removes damaged entries. Returns false
 * with ERR_FAILED if there is no folder for a cache, or if an entry is damaged or cannot be
 * removed. Also fails if `out` cannot be written. Returns false with ERR_INTERRUPTED if
 * interrupted() becomes true. Main thread only.
 */
bool cache_admin(const struct cache_options *o, FILE *out, struct err *e);

#endif
