/*
 * cache_options.h - what the command line and the environment say about the frame cache.
 */
#ifndef BARCODE_CACHE_OPTIONS_H
#define BARCODE_CACHE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* No --cache-limit: cache_limit_default decides, which needs the folder. */
#define CACHE_LIMIT_AUTO UINT64_MAX

struct cache_options {
    const char *folder;        /* --cache; NULL: from the environment; "-": no cache */
    uint64_t limit;            /* bytes of all entries together, or CACHE_LIMIT_AUTO */
    bool off, refresh;         /* --no-cache; --refresh: write, but do not look */
    bool stats, clear, verify; /* what to do instead of a film */
};

/* The options' keys in the command line's table, in this order. */
enum cache_option {
    CACHE_OPTION_FOLDER = 1024,
    CACHE_OPTION_OFF,
    CACHE_OPTION_REFRESH,
    CACHE_OPTION_LIMIT,
    CACHE_OPTION_STATS,
    CACHE_OPTION_VERIFY,
    CACHE_OPTION_CLEAR,
    CACHE_OPTION_END
};

/* No option given: CACHE_LIMIT_AUTO, and the folder from the environment. */
struct cache_options cache_options_default(void);

/*
 * Returns the limit without --cache-limit: 10 GiB or a tenth of the free space, whichever is less.
 * The bytes that the cache holds count as free, so a cache does not lower its own limit by growing.
 */
uint64_t cache_limit_default(uint64_t free_bytes, uint64_t cache_bytes);

/* One option and its value (NULL where it has none), which is kept. ERR_USAGE. */
bool cache_options_set(struct cache_options *o, int option, const char *value, struct err *e);

/* True if the options ask for something to be done with the cache itself, without a film. */
bool cache_options_action(const struct cache_options *o);

/* "500", "64K", "3.5G", also followed by B or iB; K, M, G, T are powers of 1024. False: not a size.
 */
bool cache_options_size(const char *text, uint64_t *bytes);

/*
 * The cache's folder: --cache, else $BARCODE_CACHE, else $XDG_CACHE_HOME/barcode, else
 * ~/.cache/barcode. It need not exist. False: none of these gives a folder, "-" asks for no cache,
 * or the folder's name is too long.
 */
bool cache_options_folder(const struct cache_options *o, char *folder, size_t room);

#ifdef __cplusplus
}
#endif
#endif
