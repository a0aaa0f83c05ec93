/*
 * frame_cache.h - one film's dealings with the cache of staged frames.
 *
 *   open (before the film) -> look -> source, put ... (-> again) -> end -> close
 *
 * Nothing here fails: what goes wrong is a warning, and the film is decoded. Every function takes
 * NULL, which is a film without a cache. Main thread, but for put.
 */
#ifndef BARCODE_FRAME_CACHE_H
#define BARCODE_FRAME_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/cache/cache_options.h"
#include "barcode/engine/column.h"
#include "barcode/engine/crop.h"
#include "barcode/media/source.h"
#include "barcode/media/decode_counts.h"

#ifdef __cplusplus
extern "C" {
#endif

struct frame_cache;

/*
 * Notes which file the film is, so that a change during the run is noticed. `path` and `o` are lent
 * until frame_cache_close. NULL: no cache is wanted, or the film's file cannot be identified.
 */
struct frame_cache *frame_cache_open(const struct cache_options *o, const char *path);

/*
 * Which decoder would do the film. All decoders agree on intact films; on damaged ones they differ.
 * A GPU does not always notice damage, so a run that demands software gets nothing that a GPU
 * decoded.
 */
enum cache_decoder { CACHE_BY_SOFTWARE, CACHE_BY_GPU, CACHE_BY_SOFTWARE_ALONE };

/* What a run wants. */
struct frame_cache_ask {
    struct source *film;               /* open; lent until frame_cache_close */
    const struct selection *selection; /* decided */
    int width, height;                 /* staged */
    /* what --crop says, in words; lent until frame_cache_close; "" or NULL: off */
    const char *crop;
    /* how HDR and means are worked out, likewise; "" or NULL: as in every SDR film */
    const char *light;
    int threads;
    const char *decode; /* "nvdec", or "any" for those that give the same bytes of a sound film */
    enum cache_decoder decoder;
};

/* Looks for frames that serve, says so with -v, and makes ready to keep those that are decoded. */
void frame_cache_look(struct frame_cache *c, const struct frame_cache_ask *ask);

/* What the frames that serve were cut to: then nobody has to look for bars. False: no frames serve.
 */
bool frame_cache_crop(const struct frame_cache *c, struct crop *crop);

/* What the frames that are to be kept are cut to. Once, before staging. */
void frame_cache_truncate(struct frame_cache *c, const struct crop *crop);

/* What to stage from: `film` itself, or what the cache has of it. */
struct source *frame_cache_source(struct frame_cache *c, struct source *film);

/* True when staged frames are to be put here. */
bool frame_cache_wants(const struct frame_cache *c);

/* A staged frame, rgb[height][width][3]. Any thread. */
void frame_cache_put(struct frame_cache *c, const struct frame_tag *tag, const uint8_t *rgb);

/* What staging is to fill; NULL: nothing. */
struct frame_times *frame_cache_frame_times(struct frame_cache *c);

/*
 * Starts anew, because staging has to: by the sequential plan (counts->contradicted), carefully
 * (damage_found) or without the cache (cache_failed).
 */
void frame_cache_again(struct frame_cache *c, const struct decode_counts *counts);

/*
 * To be called when staging is over and every frame is in its column, before columns_finish. `ok`:
 * staging did all it could; otherwise, if the user interrupted it, the frames so far are kept for
 * the next run. Cuts the cache to its limit.
 */
void frame_cache_end(struct frame_cache *c, struct columns *columns,
                     const struct decode_counts *counts, bool ok);

/* "off", "miss", "partial" or "hit". */
const char *frame_cache_state(const struct frame_cache *c);

/* Sets *c to NULL. */
void frame_cache_close(struct frame_cache **c);

#ifdef __cplusplus
}
#endif
#endif
