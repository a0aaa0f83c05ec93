/*
 * previews.h - previews of a film for media servers: the frames on the screen at 0, P, 2P, ...
 * (selection.h), scaled as they arrive, and encoded as JPEG.
 *
 *     open -> put (any threads, any order) -> finish -> sheet, single ... -> free
 *
 * A preview shows the complete frame with square pixels. It is made from an analysis frame, so it
 * is no sharper than that. A preview whose frame is missing shows the one before it.
 *
 * Memory: the JPEGs, and the pixels of sheets that are not full yet. Frames arrive nearly in order,
 * so these are one or two.
 */
#ifndef BARCODE_PREVIEWS_H
#define BARCODE_PREVIEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"
#include "media/film.h"
#include "jpeg.h"

enum {
    PREVIEWS_MOST = 100000,
    PREVIEWS_WIDTH = 320,            /* the default of Jellyfin */
    PREVIEWS_INTERVAL_US = 10000000, /* the same */
    PREVIEWS_WIDTH_MOST = 1600,      /* ten of them fit into a JPEG */
    PREVIEWS_ACROSS = 10,            /* previews per row of a sheet, and rows per sheet */
    PREVIEWS_QUALITY = 90            /* the default of Jellyfin */
};

/* --trickplay-width and --trickplay-interval. */
struct previews_rule {
    int width; /* even, 2..PREVIEWS_WIDTH_MOST */
    int64_t interval_us;
};

/*
 * Returns the even height of a preview of that width, for the film's shape on the screen: 2 to
 * PREVIEWS_WIDTH_MOST. Pure; any thread.
 */
int previews_height(const struct film *film, int width);

struct previews;

/*
 * Opens a set for analysis frames of from_width x from_height, with previews of width x height.
 * `sheets` and `singles`: which JPEGs are made. Returns NULL if out of memory.
 */
struct previews *previews_open(int from_width, int from_height, int width, int height, bool sheets,
                               bool singles, struct err *e);

/*
 * Offers an analysis frame, rgb[from_height][from_width][3]. Ignores it if it is no preview.
 * Returns false if out of memory, or if there would be more than PREVIEWS_MOST. Any thread.
 */
bool previews_put(struct previews *p, const struct frame_tag *tag, const uint8_t *rgb,
                  struct err *e);

/*
 * Encodes what is not encoded yet. May be called several times. One thread, while no thread calls
 * previews_put. Returns false if out of memory, or if there is no preview.
 */
bool previews_finish(struct previews *p, struct err *e);

/* The rest is valid after previews_finish. */

/* Returns the number of previews, at least 1. */
size_t previews_count(const struct previews *p);

/*
 * Returns the sheets, full squares of PREVIEWS_ACROSS x PREVIEWS_ACROSS previews, row by row. Sets
 * *count to their number. In the last sheet unused places are black.
 */
const struct jpeg *previews_sheets(const struct previews *p, size_t *count);

/* Returns the JPEG of preview `i`. */
const struct jpeg *previews_single(const struct previews *p, size_t i);

/* Frees the set and sets *p to NULL. Does nothing if *p is NULL. */
void previews_free(struct previews **p);

#endif
