/*
 * cache_owner.h - whose cache and whose entries may be believed: frames of a stranger could show
 * anything.
 *
 * Those of this user and of root. A folder with the set-group-ID bit that not everybody may write
 * to is shared on purpose: there also entries of its group are believed, and entries can be read by
 * the group.
 */
#ifndef BARCODE_CACHE_OWNER_H
#define BARCODE_CACHE_OWNER_H

#include <stdbool.h>
#include <sys/stat.h>

#include "barcode/base/err.h"

struct cache_owner {
    bool shared; /* with the group of the folder */
    gid_t group;
};

/*
 * Sets `*o` for a folder, which need not exist. Returns false (ERR_FAILED) if another user made the
 * folder, or the link to it, and does not share it with a group of this process.
 */
bool cache_owner_read(struct cache_owner *o, const char *folder, struct err *e);

/* Returns true if a file of the folder may be believed. */
bool cache_owner_trusts(const struct cache_owner *o, const struct stat *file);

/* Returns the permissions of a new file in the folder, of which the group gets 4 or 6. */
mode_t cache_owner_mode(const struct cache_owner *o, mode_t group);

#endif
