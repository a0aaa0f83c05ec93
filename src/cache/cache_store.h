/*
 * cache_store.h - the cache's folder: which entry serves a run, and which one has to go.
 *
 * Any number of processes may use one folder. Entries appear by rename and are never changed; a
 * process that has one open keeps it when it is replaced or removed. Only evicting locks the
 * folder; a process that finds it locked does not evict.
 */
#ifndef BARCODE_CACHE_STORE_H
#define BARCODE_CACHE_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cache_entry.h"
#include "cache_key.h"
#include "barcode/cache/cache_options.h"
#include "barcode/cache/frame_cache.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CACHE_PATH_BYTES = 4096 };

struct cache_store {
    char folder[CACHE_PATH_BYTES - 256];
    uint64_t limit;
};

/* False: no cache is wanted, or there is no folder for one. */
bool cache_store_open(struct cache_store *s, const struct cache_options *o);

/*
 * Makes the folder (0700) and the tag by which backup programs know a cache. The process that makes
 * the tag logs that there is a cache (LOG_INFO), so a folder is announced once.
 */
bool cache_store_make(const struct cache_store *s, struct err *e);

enum cache_answer {
    CACHE_MISS,
    /* some frames need not be decoded; the film must be read to walk its selection */
    CACHE_PARTIAL,
    CACHE_HIT, /* the entry was written for this selection */
    /* for another one, whose frames hold all that this one wants: walk its frame times */
    CACHE_HIT_OTHER
};

struct cache_found {
    enum cache_answer answer;
    struct cache_entry *entry; /* the caller's (cache_entry_close); NULL on a miss */
    char why[320];             /* for -v */
};

/*
 * What serves the key best. An entry that is broken is removed, with a warning. `place` is the
 * film's: one that was touched since an entry was written is not trusted. What was staged of a
 * damaged film serves that very file alone.
 *
 * `rule` NULL: the key is that of other frames than the run's, of the exact ones where key frames
 * are wanted. Then they serve one by one, by number and time (CACHE_PARTIAL), never as what was
 * selected.
 */
struct cache_found cache_store_find(const struct cache_store *s, const struct cache_key *key,
                                    const struct cache_place *place, const struct selection *rule,
                                    enum cache_decoder decoder);

/* Warns about a broken entry and removes it, unless another file has taken its name since. */
void cache_store_remove(const struct cache_store *s, const struct cache_entry *entry,
                        const char *why);

/* Removes the least recently used entries until the rest is within the limit, `keep` (a name) last;
 * and what dead writers left. */
void cache_store_crop(const struct cache_store *s, const char *keep);

/* Calls `visit` for every entry of the folder (and with `temps` for writers' temporaries). False:
 * there is no such folder. */
typedef void cache_visit(void *user, const char *path, const char *name, const struct stat *st);
bool cache_store_each(const struct cache_store *s, bool temps, cache_visit *visit, void *user);

#ifdef __cplusplus
}
#endif
#endif
