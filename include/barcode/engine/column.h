/*
 * column.h - what one sampled frame gives, and the growing array of them.
 *
 * Columns are written by index, in any order, by whichever thread has the
 * result; no reorder queue exists.
 */
#ifndef BARCODE_COLUMN_H
#define BARCODE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/base/err.h"
#include "barcode/engine/frame.h"
#include "barcode/engine/light.h"
#include "barcode/kmeans/kmeans.h"

#ifdef __cplusplus
extern "C" {
#endif

enum column_status {
    COLUMN_MISSING = 0, /* selected, but the picture never decoded */
    COLUMN_OK = 1,
    COLUMN_DAMAGED = 2 /* decoded, and the decoder said that it is damaged */
};

struct column {
    uint64_t frame;   /* number of the displayed frame, from 0 at the film's start */
    int64_t time_us;  /* its time from the film's start, microseconds */
    uint32_t repeat;  /* columns that this frame fills, itself included; 0 in a copy */
    uint8_t status;   /* enum column_status */
    uint8_t clusters; /* k' <= k; 0 when no k-means was asked for or status is MISSING */
    /*
     * the cluster whose colour stands for it: 0, the largest, unless steady_columns chose another
     * (steady.h)
     */
    uint8_t chosen;
    uint8_t average[3]; /* mean colour of the staged frame, each channel round(S / n) */
    /*
     * mode of the staged frame (dominant.h): the first, unless steady_columns chose another; 0
     * unless asked for
     */
    uint8_t dominant[3];
    uint8_t modes;       /* in mode[]; 0 when none are kept or status is MISSING */
    uint8_t mode_chosen; /* the mode whose colour `dominant` is */
    /*
     * [k], the first `clusters` hold: count descending, then colour (0xRRGGBB) ascending. NULL when
     * no k-means was asked for
     */
    struct cluster *cluster;
    /* [DOMINANT_MOST] modes with their counts, the first first; NULL unless kept */
    struct cluster *mode;
    uint8_t *row; /* [rows][3] mean colour of each staged row; NULL unless asked for */
};

/* True for a column that was never announced: its frame's number and time are not known. `index`:
 * its place, from 0. */
static inline bool column_untold(const struct column *c, uint64_t index)
{
    return c->status == COLUMN_MISSING && index > 0 && c->frame == 0 && c->time_us == 0;
}

struct columns;

/* An empty array. `k` (0..64) clusters and `rows` (0 or the staged height) row means are kept a
 * column. */
struct columns *columns_open(int k, int rows, struct err *e);

/* Keeps a frame's modes a column, not its first alone. To be called before the first column is
 * made. One thread. */
void columns_keep_modes(struct columns *c);

/*
 * The column at `index`, made (MISSING, zeros) when it is new. The pointer stays
 * valid until columns_free. Any thread; one thread alone may write one column.
 * NULL when memory runs out or the index passes 2^32.
 */
struct column *columns_at(struct columns *c, uint64_t index, struct err *e);

/*
 * Says that the frame of `tag` is selected: its columns are made, MISSING until it is staged, with
 * the frame's number and time. `c` may be NULL (nothing happens). Any thread. False: as columns_at.
 */
bool columns_announce(struct columns *c, const struct frame_tag *tag, struct err *e);

/*
 * Fills all of a column but its clusters and its mode, from the tag of its frame and from
 * row_sum[height][3], the sums of the staged frame's rows (at most 255 * 16384 each): every mean is
 * rounded half up. `rows`: the row means too. With `means` (engine_job) row_sum is
 * column_row_light's, and width is not looked at. Both engines fill their columns here. Any thread;
 * one thread alone may write one column.
 */
void column_fill(struct column *to, const struct frame_tag *tag, const uint32_t *row_sum, int width,
                 int height, bool rows, const struct light_table *means);

/* The mean light of a row of n pixels (1..16384), each channel rounded half up to its unit
 * (light.h). Pure; any thread. */
void column_row_light(const struct light_table *sdr, const uint8_t *rgb, int n, uint32_t mean[3]);

/* Fills in the modes of a frame, `modes` (1..DOMINANT_MOST) of mode[]. Both engines fill theirs
 * here. As column_fill. */
void column_fill_modes(struct column *to, const struct cluster *mode, int modes);

/*
 * Notes, for the progress line, that the column of `tag`'s frame holds all that it will, and so do
 * those that it repeats in. Any thread.
 */
void columns_note_done(struct columns *c, const struct frame_tag *tag);

/* How many columns were noted. Any thread. */
uint64_t columns_done(struct columns *c);

/* One past the highest index ever asked for. Any thread. */
uint64_t columns_count(struct columns *c);

/*
 * The column at `index` < count for reading, once every writer is done. An index that was never
 * asked for answers as MISSING with NULL clusters and rows.
 */
const struct column *columns_get(const struct columns *c, uint64_t index);

/*
 * To be called once, when every writer is done. A frame that fills several columns (repeat > 1,
 * longer than the sampling interval) is copied into those that follow and are still empty: same
 * frame, time and contents, repeat 0; the array grows for them. Then cuts MISSING columns off the
 * end (the film stopped there). Returns how many columns inside are MISSING; *cut (may be NULL)
 * gets how many were cut. Copies for which there is no memory stay MISSING.
 */
uint64_t columns_finish(struct columns *c, uint64_t *cut);

/* Frees all; sets *c to NULL. NULL is fine. */
void columns_free(struct columns **c);

#ifdef __cplusplus
}
#endif
#endif
