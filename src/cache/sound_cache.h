/* sound_cache.h - keeps a film's sound (film_sound.h) in the cache, as an entry of its own. */
#ifndef BARCODE_SOUND_CACHE_H
#define BARCODE_SOUND_CACHE_H

#include <stdbool.h>

#include "base/film_id.h"
#include "cache_options.h"
#include "sound/film_sound.h"

/*
 * Reads the sound of the film's file, or of all `parts` (NULL: one file), which the caller frees
 * with film_sound_free. `video` is --stream, `stream` is --sound-stream; -1: the usual one. The
 * sound depends on both: it is that of the pictures' program. Returns false, and leaves *out empty,
 * if the cache is off or does not have it, with --refresh, or if the film was modified since. Any
 * thread.
 */
bool sound_cache_load(const struct cache_options *o, const char *path,
                      const struct film_parts *parts, int video, int stream,
                      struct film_sound *out);

/*
 * Stores a sound, also that of a film without any. The caller has checked that the film did not
 * change while it was read (film_stamp). A failure is logged as a warning. Then evicts entries down
 * to the limit. Any thread.
 */
void sound_cache_save(const struct cache_options *o, const char *path,
                      const struct film_parts *parts, int video, int stream,
                      const struct film_sound *s);

#endif
