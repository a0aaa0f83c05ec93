/*
 * strip.h - the modes: how columns become pixels. A table with one entry per mode.
 *
 * Everything that depends on the mode is in its entry. The command line, --help, file names, what
 * the engines compute, labels, pixels and the text of a PNG follow from the table. To add a mode,
 * write its entry in a file mode_*.c and add a line to mode_table.c. The man page describes modes.
 *
 * A palette has all clusters, one band each, from the top in the order of --order. `lightness` has
 * the lightest first (colour.h: by luminance; equal ones as by share), except that bands of nearly
 * the same lightness follow their colour along time (band_order.h). `share` has the largest first.
 * Band j ends at row floor((H * c_j + T/2) / T). c_j is the number of pixels of bands 0..j and T
 * that of all bands. The rows of `squeeze` and `slit` are scaled to the height by the exact area
 * mean (shrink.h), also when enlarging.
 *
 * A column that lacks what the mode needs is painted as the nearest earlier column that has it. At
 * the start, the nearest later column is used. With report.gaps its pixel in row y of column i is
 * grey, STRIP_GAP_DARK or, where i + y has the bit 4, STRIP_GAP_LIGHT: a diagonal hatch, which no
 * frame looks like. If the image width differs from the number of
 * columns, the columns are fitted by the rule of the mode (enum strip_fit).
 */
#ifndef BARCODE_STRIP_H
#define BARCODE_STRIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/engine/column.h"

enum { STRIPS_MOST = 16 }; /* in the table, and in one image */

enum { STRIP_GAP_DARK = 32, STRIP_GAP_LIGHT = 48 };

#define STRIP_SMOOTH_MOST_US INT64_C(3600000000) /* of report.picture.smooth_us: one hour */

/* The name of all modes together, for -m and in the text of a PNG. No mode has this name. */
#define STRIP_ALL "all"

/* Between the names of modes that are stacked in one picture: "squeeze+sound". */
#define STRIP_JOIN '+'

/* What a mode may need of a column besides its average: the bits of strip_kind.needs. */
enum strip_need {
    STRIP_CLUSTERS = 1, /* k-means */
    STRIP_ROWS = 2,     /* the mean of a row */
    STRIP_DOMINANT = 4, /* the dominant colour (dominant.h) */
    STRIP_SOUND = 8,    /* of the film, not of a column: report.media.sound */
    STRIP_SLIT = 16     /* the pixels of a slit (slit.h) */
};

/* The options that change the pixels for the same columns: the bits of strip_kind.obeys. The
 * options fingerprint and the text of a PNG have the values of these options: add a line to
 * options_fingerprint.c and to png.c. */
enum strip_option {
    STRIP_STEADY = 1, /* column.chosen, column.mode_chosen */
    STRIP_ORDER = 2   /* enum palette_order */
};

/* The order of the bands of a palette: the values of --order. */
enum palette_order { ORDER_LIGHTNESS, ORDER_SHARE };

/* The direction of time in an image: the values of --shape. shape.h defines them. */
enum strip_shape { SHAPE_STRIP, SHAPE_RING, SHAPE_VERTICAL, STRIP_SHAPES };

/* How `count` columns become `width` pixels. Pixel x covers [x * count / width, (x + 1) * count /
 * width) of the columns. The weight of a column is the part of the pixel that it covers. */
enum strip_fit {
    /*
     * The area mean of the columns' pixels, rounded half up. For colours that are means themselves.
     */
    FIT_MEAN,
    /*
     * The weighted medoid of the columns' pixels: the colour with the smallest sum of weight *
     * (2|dr| + 4|dg| + 3|db|) to all of them. Ties go to the earlier column. (Kaufman and
     * Rousseeuw, "Clustering by means of medoids", 1987; the channel weights are those of
     * steady.h.) So every pixel is a colour of one of its frames, which a mean need not be.
     */
    FIT_MEDOID,
    /*
     * With fewer pixels than columns: the clusters of the pixel's columns, pooled and clustered
     * again. The weight of a cluster is its share of its frame (in 2^-16, rounded down) times the
     * weight of its column. Let T be the sum of all weights. The cluster from t to u of that sum
     * gets the pixels floor(2^14 t / T) to floor(2^14 u / T) of a frame of 2^14 pixels. kmeans.h
     * clusters this frame with the film's parameters and with x as the frame number. The mode then
     * paints the resulting columns, one per pixel. Needs STRIP_CLUSTERS.
     *
     * With more pixels than columns: FIT_MEDOID, which is then the column that covers more of the
     * pixel.
     */
    FIT_POOL,
    /*
     * No columns are painted: the mode paints each pixel itself, for the time that the pixel covers
     * on the axis of the columns (time_axis.h). The mode also does what --smooth asks for.
     */
    FIT_TIME
};

struct report;
struct strip; /* a strip being painted: src/output/modes/render_line.h */

/* A mode. Each strip calls the functions from one thread. The comments state which may be NULL. */
struct strip_kind {
    const char *name;    /* value of -m, in file names and in PNG text: a lower-case word */
    const char *alias;   /* another name that -m accepts; NULL: none */
    const char *title;   /* for display: "k-means" */
    const char *caption; /* what a poster says that it shows: "Main colours" */
    const char *value; /* the name of a value that may follow the name and '=' after -m; NULL: none
                        */
    unsigned needs;    /* bits of enum strip_need */
    unsigned obeys;    /* bits of enum strip_option */
    enum strip_fit fit;
    bool flat; /* all rows are equal, so only one is painted */
    /* shows all clusters, so the restarts of the k-means must not race (strips_forbid_race) */
    bool no_race;
    bool named_only; /* not part of -m all; such modes are the last of the table */

    /* Writes what the mode shows of this film, such as "largest of 8 clusters", into out[size],
     * truncated if necessary. Any thread. */
    void (*note)(const struct report *r, char *out, size_t size);

    /* Sets s->state to data that is kept while the strip is painted: one block, released by free().
     * May be NULL. */
    bool (*open)(struct strip *s, struct err *e);

    /* Prepares row s->y before its pixels are painted. Rows may come in any order. May be NULL. */
    void (*row)(struct strip *s);

    /* Writes the pixel of `c` in row s->y. `c` is column i and has what the mode needs. Columns
     * come from left to right. With FIT_TIME, i is the pixel, and `c` is NULL. */
    void (*pixel)(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3]);
};

/* In the order of --help, and of a stack from top to bottom. The first is the default. */
extern const struct strip_kind *const strip_table[];
extern const size_t strip_count; /* 1..STRIPS_MOST */

/* Returns the mode whose name or alias is the `length` bytes at `name`, or NULL if there is none.
 * Any thread. */
const struct strip_kind *strip_find(const char *name, size_t length);

/* The modes of one output, 1..STRIPS_MOST. An image shows one alone, or several stacked with a
 * label each. The array is the caller's and must outlive the value. */
struct strips {
    const struct strip_kind *const *kind;
    size_t count;
};

/* Returns the modes of -m all. Any thread. */
struct strips strips_all(void);

enum { STRIPS_NAME = 20 * STRIPS_MOST };

/* Writes the name of the mode. Several are STRIP_ALL, or their names joined by STRIP_JOIN. */
void strips_name(struct strips s, char out[STRIPS_NAME]);

const char *palette_order_name(enum palette_order order); /* "lightness", "share" */
const char *strip_shape_name(enum strip_shape shape);     /* "strip", "ring", "vertical" */

/* Return bits of enum strip_need and of enum strip_option, of all modes together. */
unsigned strips_need(struct strips s);
unsigned strips_obey(struct strips s);

/*
 * Returns true if a mode needs every restart of the k-means to run to its end, whatever
 * kmeans_params.race is. This is true for a palette: a race rarely changes the largest cluster, but
 * it makes small clusters jump from frame to frame.
 *
 * The result applies to the whole run, because all modes share one clustering. A mode that a page
 * shows in addition to the requested ones uses the same clustering.
 */
bool strips_forbid_race(struct strips s);

#endif
