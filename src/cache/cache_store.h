/*
 * cache_store.h - the cache's folder: finds the entry for a film and evicts entries.
 *
 * Any number of processes may use one folder. Entries appear by rename and never change; an open
 * entry stays readable when it is replaced or removed. Only eviction locks the folder, and a
 * process that finds it locked does not evict.
 */
#ifndef BARCODE_CACHE_STORE_H
#define BARCODE_CACHE_STORE_H

#include <sys/stat.h>

#include "barcode/base/err.h"
#include "cache_entry.h"
#include "cache_options.h"
#include "frame_cache.h"
#include "media/source.h"

enum { CACHE_PATH_BYTES = 4096 };

/*
 * Whose cache and whose entries may be believed: frames of a stranger could show anything.
 *
 * Those of this user and of root. A folder with the set-group-ID bit that not everybody may write
 * to is shared on purpose: there also entries of its group are believed, and entries can be read by
 * the group.
 */
struct cache_owner {
    bool shared; /* with the group of the folder */
    gid_t group;
};

/*
 * Sets `*o` for a folder, which need not exist. Returns false (ERR_FAILED) if another user made the
 * folder, or the link to it, and does not share it with a group of this process.
 */
bool cache_owner_read(struct cache_owner *o, const char *folder, struct err *e);

bool cache_owner_trusts(const struct cache_owner *o, const struct stat *file);

/* Returns the permissions of a new file in the folder, of which the group gets 4 or 6. */
mode_t cache_owner_mode(const struct cache_owner *o, mode_t group);

struct cache_store {
    char folder[CACHE_PATH_BYTES - 256];
    uint64_t limit;
    bool temporary; /* cache_options.temporary */
    struct cache_owner owner;
};

/* Sets folder, owner and limit. False without a cache; with an error if the folder is another's. */
bool cache_store_open(struct cache_store *s, const struct cache_options *o, struct err *e);

/* Opens the entry at `path`, in the folder. Another user's and a link count as absent. */
struct cache_entry *cache_store_entry(const struct cache_store *s, const char *path,
                                      enum entry_state *state, struct err *e);

/* Opens folder/name, and removes a damaged entry with a warning. Returns NULL if there is none. */
struct cache_entry *cache_store_named(const struct cache_store *s, const char *name);

/* Sets the entry's time of use, by which entries are evicted. */
void cache_store_used(const struct cache_entry *entry);

/*
 * Makes the folder (0700) and its CACHEDIR.TAG, by which backup programs recognize a cache. The
 * process that makes the tag logs that there is a cache (LOG_INFO), so each folder is announced
 * once.
 */
bool cache_store_make(const struct cache_store *s, struct err *e);

enum cache_answer {
    CACHE_MISS,
    /* some frames are cached; the film is read, and the other frames are decoded */
    CACHE_PARTIAL,
    CACHE_HIT, /* the entry has this selection */
    /* the entry has another selection that includes all frames of this one: walk its frame times */
    CACHE_HIT_OTHER
};

struct cache_found {
    enum cache_answer answer;
    struct cache_entry *entry; /* the caller frees it with cache_entry_close; NULL on a miss */
    char why[320];             /* the reason, for -v */
};

/*
 * Returns the best entry for the key. A damaged entry is removed with a warning. `place` is that of
 * the film: an entry is ignored if the film was modified after it was written. Frames of a damaged
 * film are returned only for that same file.
 *
 * If `rule` is NULL, the key is that of other frames: exact ones for a selection of key frames.
 * Such frames are used one by one, by number and time (CACHE_PARTIAL), never as a whole selection.
 */
struct cache_found cache_store_find(const struct cache_store *s, const struct cache_key *key,
                                    const struct cache_place *place, const struct selection *rule,
                                    enum cache_decoder decoder);

/* Warns about an entry, and removes a damaged one, unless another file has its name by now. */
void cache_store_reject(const struct cache_store *s, const struct cache_entry *entry, bool damaged,
                        const char *why);

/*
 * Evicts the least recently used entries until the rest is within the limit. Never evicts the entry
 * named `keep`. Also removes temporaries of processes that no longer exist.
 */
void cache_store_evict(const struct cache_store *s, const char *keep);

struct cache_file {
    const char *path, *name; /* of the folder's file, and within the folder */
    struct stat st;
};

/*
 * Calls `visit` for every entry of the folder, and with `temps` also for temporaries and for
 * files of an index of sound. Passes over those of other users (cache_owner_trusts). Returns false
 * if there is no such folder.
 */
typedef void cache_visit(void *user, const struct cache_file *file);
bool cache_store_each(const struct cache_store *s, bool temps, cache_visit *visit, void *user);

/* Returns how many files cache_store_each passes over because they belong to other users. */
uint64_t cache_store_foreign(const struct cache_store *s);

/*
 * ---- A source of cached frames: source_cache.c ----
 *
 * It is used alone or combined with the film, from which the missing frames are decoded. Several
 * threads read, verify and decompress blocks, each with its own engine port. Frames of a block
 * whose checksum does not match are not used: counts->cache_failed then means that the caller must
 * decode the film again into new columns.
 */

/* Borrows `film` and `found` (with its entry) until source_close. PARTIAL reads the film too. */
struct source *source_cache_open(struct source *film, const struct cache_found *found,
                                 struct err *e);

/* Returns how many frames came from the cache. Call it after the decode pass. */
uint64_t source_cache_frames(const struct source *s);

/*
 * Returns the error of the entry if counts->cache_failed, otherwise an empty one: ERR_INPUT if the
 * entry is damaged. The source owns it. Call it after the decode pass.
 */
const struct err *source_cache_broken(const struct source *s);

#endif
