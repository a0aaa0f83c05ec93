/*
 * thumbs.h - small pictures of a film's frames on sheets of JPEG: thumbnails and previews.
 *
 * Thumbnails are selected analysis frames, downscaled as they arrive.
 *
 *     open -> put (any threads, any order) -> sheets ... -> free
 *
 * The frames of every S-th column are kept, from column 0. S is the smallest power of two with
 * which at most `most` frames are kept. So the selection is evenly spaced, independent of the order
 * of the frames, and needs no knowledge of the number of columns. Once there are `most` columns, at
 * least half of `most` are kept. Memory: most * width * height * 3 bytes, 43 MB with THUMBS_MOST
 * and the size of thumbs_size.
 */
#ifndef BARCODE_THUMBS_H
#define BARCODE_THUMBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/crop.h"
#include "barcode/engine/frame.h"
#include "images.h"
#include "media/film.h"
#include "output/report.h"

enum {
    THUMBS_MOST = 1000,
    THUMBS_SIDE = 160,          /* of a thumbnail, at most */
    THUMBS_PERIOD_US = 1000000, /* of --thumbnails: more than one a second serve no player */
    THUMBS_PIXELS = 160 * 90,   /* of a thumbnail, at most */
    /* of all sheets together; less than 6 MB as base64 */
    THUMBS_BYTES = 4000000,
    THUMBS_ACROSS = 10 /* pictures per row of a sheet, and rows per sheet */
};

/*
 * Returns the size of a film's thumbnails for display. Their pixels are square, whatever the film's
 * sample aspect ratio and the analysis size are. For a film with bars the size is that of the
 * tightest crop rectangle; frames with another rectangle are scaled to it. No side exceeds the
 * longer side of an analysis frame. Sides are even, unless they are 1, so that thumbnails of a
 * sheet share no chroma samples. Pure; any thread.
 */
void thumbs_size(const struct film *film, const struct crop *crop, int analysis_width,
                 int analysis_height, int *width, int *height);

struct thumbs;

/* Opens a set for analysis frames of from_width x from_height. At most `most` (>= 1) thumbnails are
 * kept, of width x height (>= 1 each). Returns NULL if out of memory. */
struct thumbs *thumbs_open(int from_width, int from_height, int width, int height, size_t most,
                           struct err *e);

/* Offers an analysis frame, rgb[from_height][from_width][3]. A selected frame is downscaled by the
 * area mean of its R'G'B' values. Returns false if out of memory. Any thread. */
bool thumbs_put(struct thumbs *t, const struct frame_tag *tag, const uint8_t *rgb, struct err *e);

/* A thumbnail and its place in the sheets. */
struct thumb {
    uint64_t first;  /* of the columns that it stands for: up to the next thumbnail's first */
    int64_t time_us; /* of its frame, as in struct column */
    /* the time of the next thumbnail; for the last one, the end of the film or of the selected
     * part. Always later than time_us */
    int64_t end_us;
    size_t sheet; /* from 0 */
    int x, y;     /* of its top left pixel in the sheet */
};

struct thumbs_sheets {
    int width, height;   /* of a thumbnail, in pixels */
    struct thumb *thumb; /* [count], by time; at least 1 */
    size_t count;
    struct jpeg *sheet; /* [sheets] */
    size_t sheets;
};

/*
 * Encodes the sheets. Each has THUMBS_ACROSS x THUMBS_ACROSS thumbnails, row by row; the last one
 * has the rest. A frame that fills several columns appears once. Of the thumbnails in each period
 * of the film, from n * period_us to (n + 1) * period_us, only the first appears; 0: all of them.
 *
 * The quality (images.h) is the best of a list with which all sheets together take at most
 * `bytes_most`, or the worst. Reads film, count and selection of the report. The same frames give
 * the same bytes.
 *
 * One thread, while no thread calls thumbs_put. Returns false and leaves *to empty with ERR_FAILED
 * (out of memory, or no frame was put) or with ERR_INTERRUPTED if interrupted() is true.
 */
bool thumbs_sheets(const struct thumbs *t, const struct report *r, int64_t period_us,
                   size_t bytes_most, struct thumbs_sheets *to, struct err *e);

/* Returns the number of thumbnails on the sheets with that period. As thumbs_sheets. */
size_t thumbs_count(const struct thumbs *t, const struct report *r, int64_t period_us);

/* Frees the sheets and empties *to. */
void thumbs_sheets_free(struct thumbs_sheets *to);

void thumbs_free(struct thumbs **t);

/*
 * Previews are for media servers: the frames on the screen at 0, P, 2P, ... (selection.h), scaled
 * as they arrive, and encoded as JPEG.
 *
 *     open -> put (any threads, any order) -> finish -> sheet, single ... -> free
 *
 * A preview shows the complete frame with square pixels. It is made from an analysis frame, so it
 * is no sharper than that. A preview whose frame is missing shows the one before it.
 *
 * Memory: the JPEGs, and the pixels of sheets that are not full yet. Frames arrive nearly in order,
 * so these are one or two.
 */

enum {
    PREVIEWS_MOST = 100000,
    PREVIEWS_WIDTH = 320,            /* the default of Jellyfin */
    PREVIEWS_INTERVAL_US = 10000000, /* the same */
    PREVIEWS_WIDTH_MOST = 1600,      /* ten of them fit into a JPEG */
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
 * Returns the sheets, full squares of THUMBS_ACROSS x THUMBS_ACROSS previews, row by row. Sets
 * *count to their number. In the last sheet unused places are black.
 */
const struct jpeg *previews_sheets(const struct previews *p, size_t *count);

/* Returns the JPEG of preview `i`. */
const struct jpeg *previews_single(const struct previews *p, size_t i);

void previews_free(struct previews **p);

#endif
