/*
 * cache_key.h - the key of a cache entry: readable text that determines the entry's frames.
 *
 * A film is identified by its size, its modification time and a fingerprint of some of its bytes.
 * Its name does not count, so a moved or renamed film keeps its entries. The key has everything
 * that can change a byte of an analysis frame.
 */
#ifndef BARCODE_CACHE_KEY_H
#define BARCODE_CACHE_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "base/film_id.h"
#include "base/hash.h"
#include "base/version.h"
#include "media/film.h"
#include "media/select/selection.h"

/* Where a film's file was last seen: not its identity, but enough to detect a modification. */
struct cache_place {
    uint64_t device, inode, path; /* path: a hash of the absolute path */
    int64_t changed_ns;           /* ctime */
};

struct cache_film {
    uint64_t size;
    int64_t modified_ns;
    struct hash128 fingerprint;
    struct cache_place place;
};

/*
 * Identifies the film: the file `path`, or all its `parts` if they are not NULL. May wait some
 * milliseconds for a file that was just modified. Fails if the file has no identity (a pipe, a
 * device, unreadable), or if its modification time cannot distinguish the next change from the last
 * one.
 */
bool cache_film_read(const char *path, const struct film_parts *parts, struct cache_film *id,
                     struct err *e);

/* Returns true if no file of the film has changed since `*id` was read. */
bool cache_film_holds(const char *path, const struct film_parts *parts,
                      const struct cache_film *id);

/*
 * Returns true if the file is at the same place but its ctime differs: a program may have restored
 * its modification time. A renamed film is at another place.
 */
bool cache_place_suspect(const struct cache_place *seen, const struct cache_place *now);

/* Returns true if it is the same unmodified file, under any name; a copy is another. */
bool cache_place_same(const struct cache_place *seen, const struct cache_place *now);

enum { CACHE_KEY_BYTES = 2048, CACHE_NAME_BYTES = 64 };

struct cache_key {
    /* "name=value" lines: the first `base` bytes describe film and size, the rest the selection */
    char text[CACHE_KEY_BYTES];
    size_t base;
    /* the entry's file name; entries with the same base share its first CACHE_NAME_BASE digits */
    char name[CACHE_NAME_BYTES];
};

enum { CACHE_NAME_BASE = 16 }; /* digits of the name that are a hash of the base */

/*
 * Makes the key. `crop` is the text of --crop, "" or NULL if off; "auto" suffices for crop
 * detection, because its result depends only on the film. `light` is the text of tone mapping and
 * averaging, or "" or NULL. `decode` names the allowed decoders if they can change a byte of an
 * intact film. Returns false if the text is too long, as cache_key_make_sound does.
 */
bool cache_key_make(struct cache_key *key, const struct cache_film *id, const struct film *film,
                    const struct selection *rule, int width, int height, const char *crop,
                    const char *light, const char *decode);

/*
 * Makes the key of the film's sound, which is independent of its frames. With `file` it is that of
 * this file alone, and not of its copies. `video` is --stream, `stream` is --sound-stream.
 */
bool cache_key_make_sound(struct cache_key *key, const struct cache_film *id, bool file, int video,
                          int stream);

/* Sets `*line` to the first line of `text` that differs. Returns its length; 0: all are equal. */
size_t cache_key_difference(const char *text, const char *other, const char **line);

bool cache_key_is_name(const char *name);

#endif
