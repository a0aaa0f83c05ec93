/*
 * cache_key.h - which frames an entry of the cache holds, as text that can be read and compared.
 *
 * A film is known by size, time of change and a fingerprint of some of its bytes, never by its
 * name: one that was moved or renamed is the same film. Everything that can change a staged byte is
 * in the key.
 */
#ifndef BARCODE_CACHE_KEY_H
#define BARCODE_CACHE_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/base/hash.h"
#include "barcode/base/version.h"
#include "barcode/media/film.h"
#include "barcode/media/selection.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a film's file was last seen: not its identity, but enough to notice that it was written to.
 */
struct cache_place {
    uint64_t device, inode, path; /* path: a hash of the whole name */
    int64_t changed_ns;           /* ctime */
};

struct cache_film {
    uint64_t size;
    int64_t modified_ns;
    struct hash128 fingerprint;
    struct cache_place place;
};

/*
 * Identifies the file. False: it has no identity (a pipe, a device, unreadable), or it is so young
 * that the file system's clock could not tell the next change from the last. Waits for some
 * milliseconds if that helps.
 */
bool cache_film_read(const char *path, struct cache_film *id, struct err *e);

/* True when the file has not been touched since. */
bool cache_film_holds(const char *path, const struct cache_film *id);

/*
 * True if the file is at the same place but was touched, though its time of change is the old one:
 * a program may have put that time back. (A renamed film is at another place.)
 */
bool cache_place_suspect(const struct cache_place *seen, const struct cache_place *now);

/*
 * True if it is the very file that was seen, untouched since, whatever its name is now. Stricter
 * than a film's identity, which a copy shares.
 */
bool cache_place_same(const struct cache_place *seen, const struct cache_place *now);

enum { CACHE_KEY_BYTES = 2048, CACHE_NAME_BYTES = 64 };

struct cache_key {
    /* "name=value" lines: `base` bytes of film and size, then the selection */
    char text[CACHE_KEY_BYTES];
    size_t base;
    char name[CACHE_NAME_BYTES]; /* the entry's file name: entries of the same base begin alike */
};

enum { CACHE_NAME_BASE = 16 }; /* digits of the name that stand for the base */

/*
 * `crop` is what pictures are cut to, in words, "" or NULL for nothing: "auto" stands for what is
 * found, which is a matter of the film alone. `light` is how HDR and means are worked out,
 * likewise. `decode` names the decoders that may take part, where that can change a byte of an
 * intact film. False when the text is too long.
 */
bool cache_key_make(struct cache_key *key, const struct cache_film *id, const struct film *film,
                    const struct selection *rule, int width, int height, const char *crop,
                    const char *light, const char *decode);

/* "NAME=VALUE" of the first line in which the two differ, as it is in `text`. Returns its length;
 * 0: they are equal. */
size_t cache_key_difference(const char *text, const char *other, const char **line);

/* True for a name that cache_key_make gives. */
bool cache_key_is_name(const char *name);

#ifdef __cplusplus
}
#endif
#endif
