/*
 * failed_films.h - which films have failed by their own fault with the same options and program, so
 * that --update does not try them each time. A list in the folder of the cache. Main thread only.
 */
#ifndef BARCODE_CACHE_FAILED_FILMS_H
#define BARCODE_CACHE_FAILED_FILMS_H

#include "base/film_id.h"
#include "cache_options.h"

/* A film that is sought in the list. All is borrowed. */
struct failed_film {
    const char *path;
    const struct film_parts *parts;
    uint64_t options; /* hash of those that decide whether it can be read */
};

/* Returns true if the film is in the list, and its files were not modified since. */
bool failed_films_have(const struct cache_options *o, const struct failed_film *f);

/* Adds the film, or takes it out of the list. Without a cache, or if that fails, does nothing. */
void failed_films_set(const struct cache_options *o, const struct failed_film *f, bool failed);

#endif
