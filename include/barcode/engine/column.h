/*
 * column.h - the result of one sampled frame (a column), and a growing array of columns.
 *
 * Columns are written by index, in any order, by the thread that has the result. There is no
 * reorder queue.
 */
#ifndef BARCODE_COLUMN_H
#define BARCODE_COLUMN_H

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"
#include "barcode/engine/light.h"
#include "barcode/kmeans/kmeans.h"

SHARED_BEGIN

enum column_status {
    COLUMN_MISSING = 0, /* selected, but the frame was not decoded, or it is transparent */
    COLUMN_OK = 1,
    COLUMN_DAMAGED = 2 /* decoded, but the decoder reported corruption */
};

struct column {
    uint64_t frame;   /* number of the displayed frame, from 0 at the start of the film */
    int64_t time_us;  /* its time from the start of the film, in microseconds */
    uint32_t repeat;  /* number of columns that this frame fills, including this one; 0 in a copy */
    uint8_t status;   /* enum column_status */
    bool transparent; /* MISSING, because no pixel of the frame is visible */
    uint8_t clusters; /* k' <= k; 0 without k-means or if status is MISSING */
    /* index of the displayed cluster: 0, the largest, unless steady.h chose another */
    uint8_t chosen;
    uint8_t average[3]; /* mean colour of the analysis frame, each channel round(S / n) */
    /* the first mode (dominant.h), unless steady_columns chose another; 0 if not requested */
    uint8_t dominant[3];
    /* number of entries in mode[]; 0 if modes are not kept or status is MISSING */
    uint8_t modes;
    uint8_t mode_chosen; /* index of the mode whose colour is `dominant` */
    /* [k], `clusters` valid: by count descending, then 0xRRGGBB. NULL without k-means */
    struct cluster *cluster;
    /* [DOMINANT_MOST] modes with their counts, strongest first; NULL if not kept */
    struct cluster *mode;
    /* [rows][3] mean colour of each row of the analysis frame; NULL if not requested */
    uint8_t *row;
    /* [length][3] the pixels of the slit (slit.h), from the top; NULL if not kept */
    uint8_t *slit;
};

/* Returns true if the column at `index` was never announced: frame and time are unknown. */
static inline bool column_untold(const struct column *c, uint64_t index)
{
    return c->status == COLUMN_MISSING && index > 0 && c->frame == 0 && c->time_us == 0;
}

struct columns;

/* Creates an empty array for `k` (0..64) clusters and `rows` (0 or the height) row means each. */
struct columns *columns_open(int k, int rows, struct err *e);
void columns_free(struct columns **c);

/* Keep all modes, and the slit's pixels, of each frame. Before the first column; one thread. */
void columns_keep_modes(struct columns *c);
void columns_keep_slit(struct columns *c, int length);

/*
 * Returns the column at `index`, and creates it (MISSING, zeros) if necessary. It is valid until
 * columns_free. Any thread, but only one may write a given column. Fails if out of memory or if the
 * index is 2^32 or more.
 */
struct column *columns_at(struct columns *c, uint64_t index, struct err *e);

/*
 * Records that the frame of `tag` is selected. Creates its columns with the frame's number and
 * time; they are MISSING until the frame is analysed. Does nothing if `c` is NULL, or if
 * the frame fills no column. Any thread. Fails as columns_at does.
 */
bool columns_announce(struct columns *c, const struct frame_tag *tag, struct err *e);

/*
 * Fills a column, except its clusters and modes, from the tag of its frame and from
 * row_sum[height][3]. row_sum has the sums of the analysis frame's rows, at most 255 * 16384 each.
 * Every mean is rounded half up. Fills the row means too if `rows` is true. If `means` is not NULL
 * (see engine_job), row_sum has the results of column_row_light, and `width` is ignored. Both
 * engines use this function. Any thread, but only one thread may write a given column.
 */
void column_fill(struct column *to, const struct frame_tag *tag, const uint32_t *row_sum, int width,
                 int height, bool rows, const struct light_table *means);

/* Marks the column of a frame without any visible pixel. Threads as for column_fill. */
void column_fill_transparent(struct column *to, const struct frame_tag *tag);

/* Computes a row's mean light, rounded half up; n is 1..16384. Any thread. */
void column_row_light(const struct light_table *sdr, const uint8_t *rgb, int n, uint32_t mean[3]);

/* Fills in 1..DOMINANT_MOST modes. Both engines use it. Threads as for column_fill. */
void column_fill_modes(struct column *to, const struct cluster *mode, int modes);

/* Counts the columns of `tag`'s frame as complete, for the progress line. Any thread. */
void columns_note_done(struct columns *c, const struct frame_tag *tag);

uint64_t columns_done(struct columns *c);

/* Returns the highest requested index plus one. Any thread. */
uint64_t columns_count(struct columns *c);

/*
 * Returns the column at `index` < count for reading. Call it after all writers are done. A column
 * that was never requested is MISSING, with NULL clusters and rows.
 */
const struct column *columns_get(const struct columns *c, uint64_t index);

/*
 * Completes the array. Call it once, after all writers are done. A frame that fills several columns
 * (repeat > 1) is copied into the following columns that are still empty, with repeat 0; the array
 * grows for them. If out of memory, the remaining copies stay MISSING. Then removes MISSING columns
 * at the end, after the last frame of the film, but no transparent ones. Returns the number of
 * MISSING columns left that are not transparent; *cut (may be NULL) gets the number of removed
 * columns.
 */
uint64_t columns_finish(struct columns *c, uint64_t *cut);

SHARED_END
#endif
