/*
 * thumbs.h - thumbnails of a film: a choice of its staged frames, made small while they pass by,
 * and sheets of them as JPEG.
 *
 *   open -> put (any threads, any order) -> sheets ... -> free
 *
 * Kept are the frames of every S-th column, from column 0, with S the least power of two that
 * leaves at most `most` of them: half of `most` or more once there are so many columns. So the
 * choice is evenly spread, is the same in whatever order frames come, and needs no knowledge of how
 * many columns there will be. Memory: most * width * height * 3 bytes, 43 MB as THUMBS_MOST and
 * thumbs_size have it.
 */
#ifndef BARCODE_THUMBS_H
#define BARCODE_THUMBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"
#include "barcode/engine/crop.h"
#include "barcode/media/film.h"
#include "barcode/media/jpeg.h"
#include "barcode/output/report.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    THUMBS_MOST = 1000,
    THUMBS_SIDE = 160,        /* of a thumbnail, at most */
    THUMBS_PIXELS = 160 * 90, /* likewise */
    THUMBS_BYTES = 4000000,   /* of all sheets: base64 in a page leaves 6 MB room for more */
    THUMBS_ACROSS = 10,       /* thumbnails in a row of a sheet, and rows in a sheet */
    /*
     * sides of cells are multiples of it: a JPEG's blocks, so that no thumbnail bleeds into another
     */
    THUMBS_CELL = 16
};

/*
 * The size of a film's thumbnails as it is looked at: pixels are square here, whatever the film's
 * samples and the staged size are. Of a film with bars it is that of the tightest rectangle, and
 * the few frames that other rectangles were cut to are squeezed into it. No side is longer than the
 * staged frame's longer one. Pure; any thread.
 */
void thumbs_size(const struct film *film, const struct crop *crop, int analysis_width,
                 int analysis_height, int *width, int *height);

struct thumbs;

/* For staged frames of from_width x from_height; thumbnails have width x height (1 or more each),
 * `most` of them (1 or more) at most. */
struct thumbs *thumbs_open(int from_width, int from_height, int width, int height, size_t most,
                           struct err *e);

/* A staged frame, rgb[from_height][from_width][3], made small by the area mean of its codes. Any
 * thread. False: memory. */
bool thumbs_put(struct thumbs *t, const struct frame_tag *tag, const uint8_t *rgb, struct err *e);

/* One thumbnail, and where it lies. */
struct thumb {
    /* the columns that it stands for: up to the next thumbnail's, 0 to count - 1 in all */
    uint64_t first, last;
    uint64_t frame; /* its frame: number and time, as in struct column */
    int64_t time_us;
    /*
     * the next thumbnail's time; of the last one, when the film or the part of it ends. Later than
     * time_us
     */
    int64_t end_us;
    size_t sheet; /* from 0 */
    int x, y;     /* of its upper left pixel in the sheet; its size is the sheets' */
};

struct thumbs_sheets {
    int width, height;   /* of a thumbnail, in pixels */
    struct thumb *thumb; /* [count], by time; 1 or more */
    size_t count;
    struct jpeg *sheet; /* [sheets] */
    size_t sheets;
};

/*
 * The sheets: THUMBS_ACROSS x THUMBS_ACROSS thumbnails each, the last one as many as are left, row
 * by row. A frame that fills several columns comes once. The quantiser (jpeg.h) is the finest of a
 * list with which all sheets take at most `bytes_most`, or the coarsest. `comment`: as jpeg_encode
 * has it. Reads of the report its film, count and selection. The same frames give the same bytes.
 * Of a film of 1,000 thumbnails it takes about half a second. One thread, while nobody puts. False:
 * ERR_FAILED (memory; no frame was put; no encoder), ERR_INTERRUPTED when interrupted() turned
 * true; *to is empty then.
 */
bool thumbs_sheets(const struct thumbs *t, const struct report *r, size_t bytes_most,
                   const char *comment, struct thumbs_sheets *to, struct err *e);

/* Frees; empties *to. */
void thumbs_sheets_free(struct thumbs_sheets *to);

/* Frees; sets *t to NULL. NULL is fine. */
void thumbs_free(struct thumbs **t);

#ifdef __cplusplus
}
#endif
#endif
