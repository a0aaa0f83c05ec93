/*
 * frame_cache.h - reads and writes the cached analysis frames of one film, and its sound.
 *
 *   open (before the film) -> look -> source, put ... (-> again) -> end -> close
 *
 * No function fails: an error is logged as a warning, and the film is decoded. Every function
 * accepts NULL for a film without a cache. Main thread, except for frame_cache_put.
 */
#ifndef BARCODE_FRAME_CACHE_H
#define BARCODE_FRAME_CACHE_H

#include "base/film_id.h"
#include "cache_options.h"
#include "barcode/engine/column.h"
#include "barcode/engine/crop.h"
#include "media/source.h"
#include "media/gop/decode_counts.h"
#include "shots/shots.h"
#include "sound/film_sound.h"

struct frame_cache;

/*
 * Checks whose folder the cache is, once for all films. If another user made it, logs a warning and
 * turns the cache off. With -v logs how many entries of other users are ignored. Main thread,
 * before the films.
 */
void frame_cache_check_folder(struct cache_options *o);

/*
 * Records the identity of the film's file, or of all `parts` (NULL: one file), so that a later
 * change is noticed. The arguments are borrowed until frame_cache_close. Returns NULL if the cache
 * is off, if the file cannot be identified, or if out of memory.
 */
struct frame_cache *frame_cache_open(const struct cache_options *o, const char *path,
                                     const struct film_parts *parts);

/*
 * The decoder that would decode the film. All decoders agree on intact films but may differ on
 * damaged ones. A GPU does not detect all damage, so CACHE_BY_SOFTWARE_ALONE (--decode cpu) never
 * gets frames that a GPU decoded.
 */
enum cache_decoder { CACHE_BY_SOFTWARE, CACHE_BY_GPU, CACHE_BY_SOFTWARE_ALONE };

/* The frames that are looked up. */
struct frame_cache_ask {
    struct source *film;               /* open; borrowed until frame_cache_close */
    const struct selection *selection; /* complete */
    int width, height;                 /* of the analysis frames */
    /* the text of --crop; borrowed until frame_cache_close; "" or NULL: off */
    const char *crop;
    /* the text of tone mapping and averaging, borrowed likewise; "" or NULL: SDR's default */
    const char *light;
    int threads;
    /* a device's decode_word, or "any": decoders that give the same bytes for an intact film */
    const char *decode;
    enum cache_decoder decoder;
};

/* Looks the frames up, logs the result, and prepares to store others. Copies `*ask`. */
void frame_cache_look(struct frame_cache *c, const struct frame_cache_ask *ask);

/* Sets `*crop` to that of the cached frames. Returns false if there are none. */
bool frame_cache_crop(const struct frame_cache *c, struct crop *crop);

/* Sets the crop of the frames that will be stored, once, before decoding. */
void frame_cache_set_crop(struct frame_cache *c, const struct crop *crop);

/* Returns the source to decode: a source of cached frames, or `film` itself. */
struct source *frame_cache_source(struct frame_cache *c, struct source *film);

bool frame_cache_wants(const struct frame_cache *c);

/* Stores an analysis frame, rgb[height][width][3]. Any thread. */
void frame_cache_put(struct frame_cache *c, const struct frame_tag *tag, const uint8_t *rgb);

/* Returns the frame times that the decode pass fills, or NULL. */
struct frame_times *frame_cache_frame_times(struct frame_cache *c);

/*
 * Restarts with an empty entry because the decode pass restarts: sequentially
 * (counts->contradicted), with exact_damage (counts->damage_found), or without the cached frames
 * (counts->cache_failed).
 */
void frame_cache_again(struct frame_cache *c, const struct decode_counts *counts);

/*
 * Ends the cache's part of the film. Call it after the decode pass, when every frame is in its
 * column, and before columns_finish. If `ok`, the film was decoded to its end and all frames are
 * stored. If not, and the user interrupted, the frames so far are stored for the next time. Then
 * evicts entries down to the limit.
 */
void frame_cache_end(struct frame_cache *c, struct columns *columns,
                     const struct decode_counts *counts, bool ok);

/* Returns "off", "miss", "partial" or "hit". */
const char *frame_cache_state(const struct frame_cache *c);

void frame_cache_close(struct frame_cache **c);

/* ---- A film's sound (film_sound.h), an entry of its own: track_cache.c ---- */

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

/* ---- A film's scan frames (shots.h), an entry of its own: track_cache.c ---- */

/*
 * Reads the scan of the film from start_us to end_us (--start, --end). `ask` is that of
 * frame_cache_look, but size and selection do not matter. The caller frees *out with
 * film_scan_free. Returns false, and leaves *out empty, as sound_cache_load does.
 */
bool scan_cache_load(const struct cache_options *o, const char *path,
                     const struct film_parts *parts, const struct frame_cache_ask *ask,
                     int64_t start_us, int64_t end_us, struct film_scan *out);

/* Stores the scan of an intact film. Otherwise as sound_cache_save. */
void scan_cache_save(const struct cache_options *o, const char *path,
                     const struct film_parts *parts, const struct frame_cache_ask *ask,
                     int64_t start_us, int64_t end_us, const struct film_scan *s);

#endif
