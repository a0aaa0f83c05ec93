/*
 * strip.h - the ways in which columns become pixels: a table, an entry a strip.
 *
 * Whatever depends on the strip stands in its entry. The command line, --help, the names of files,
 * what the engines are asked for, labels, pixels and a PNG's text follow from the table. A new
 * strip is a file mode_NAME.c with its entry, and its line in mode_table.c.
 *
 * kmeans      a column is the colour of its largest cluster, or of the one that --steady chose
 * (steady.h), top to bottom. dominant    the mode of the frame's colours in OKLab (dominant.h), or
 * the one that --steady chose, top to bottom. palette     all clusters, one band each, from the top
 * by --order: the lightest first (srgb.h: by luminance; equal ones as by share), so that dark lies
 * at the foot and bands of neighbours meet; or by share, the largest first. Band j ends at row
 * floor((H * c_j + T/2) / T), c_j the pixels of bands 0..j and T of all: exact to the pixel, no
 * slivers. average     the mean colour. downsample  the mean of each staged row; the rows are
 * fitted to the height by the exact area mean (shrink.h's rule), enlarging included.
 *
 * A column that lacks what the strip needs is painted as its nearest earlier column that has it (or
 * the nearest later one at the start). A picture of another width than the columns' number is
 * fitted by the strip's own rule (enum strip_fit).
 */
#ifndef BARCODE_STRIP_H
#define BARCODE_STRIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/engine/column.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { STRIPS_MOST = 16 }; /* in the table, and in one picture */

#define STRIP_SMOOTH_MOST_US INT64_C(3600000000) /* of report.smooth_us: an hour */

/* The name of all strips together, for -m and in a PNG's text. No strip has this name. */
#define STRIP_ALL "all"

/* What a strip may need of a column beyond its average: the bits of strip_kind.needs. */
enum strip_need {
    STRIP_CLUSTERS = 1, /* k-means */
    STRIP_ROWS = 2,     /* the mean of a row */
    STRIP_DOMINANT = 4  /* the mode */
};

/* Which options change what it shows of the same columns: the bits of strip_kind.obeys. A PNG's
 * text names them. */
enum strip_option {
    STRIP_STEADY = 1, /* column.chosen, column.mode_chosen */
    STRIP_ORDER = 2   /* enum palette_order */
};

/* In which order the palette's bands lie: the values of --order. */
enum palette_order { ORDER_LIGHTNESS, ORDER_SHARE };

/* In which way time runs in a picture: the values of --shape. shape.h defines them. */
enum strip_shape { SHAPE_STRIP, SHAPE_CIRCLE, SHAPE_VERTICAL, STRIP_SHAPES };

/*
 * How `count` columns become `width` pixels. Pixel x covers [x * count / width, (x + 1) * count /
 * width) of the columns; a column weighs what it covers of the pixel.
 */
enum strip_fit {
    /* The area mean of the columns' pixels, rounded half up: for what is a mean itself. */
    FIT_MEAN,
    /*
     * The weighted medoid of the columns' pixels: of their colours the one whose sum of weight *
     * (2|dr| + 4|dg| + 3|db|) to all of them is the smallest, ties to the earlier column (Kaufman
     * and Rousseeuw, "Clustering by means of medoids", 1987; the weights are steady.h's). So every
     * pixel is a colour that one of its frames shows, where a mean would be nobody's.
     */
    FIT_MEDOID,
    /*
     * For fewer pixels than columns: the clusters of the pixel's columns, pooled and clustered once
     * more. A cluster weighs its share of its frame (in 2^-16, rounded down) times what its column
     * weighs; of the sum T of all weights the one that reaches from t to u of it gets the pixels
     * floor(2^14 t / T) to floor(2^14 u / T) of a frame of 2^14, and kmeans.h clusters that with
     * the film's parameters and x for the frame's number. The strip then paints these columns, a
     * pixel each. Needs STRIP_CLUSTERS. For more pixels than columns: FIT_MEDOID, that is the
     * column that covers more of the pixel.
     */
    FIT_POOL
};

struct report;
struct strip; /* one that is being painted: src/output/modes/render_line.h */

/* The functions run on one thread a strip; those that may be NULL say so. */
struct strip_kind {
    const char *name;  /* the value of -m, in names of files, in a PNG's text: a lower-case word */
    const char *title; /* as people write it: "k-means" */
    unsigned needs;    /* enum strip_need */
    unsigned obeys;    /* enum strip_option */
    enum strip_fit fit;
    bool flat; /* every row is the same: one is painted */
    /* shows all clusters, so restarts do not race where it is asked for: strips_settled */
    bool settled;

    /* What it shows of this film, such as "largest of 8 clusters", into out[size]; cut when it is
     * too long. Any thread. */
    void (*note)(const struct report *r, char *out, size_t size);

    /* Sets s->state to what is kept while the strip is painted: one block, which free() releases.
     * NULL: nothing is kept. */
    bool (*open)(struct strip *s, struct err *e);

    /* Before the pixels of row s->y, whichever row was the last. NULL: nothing to prepare. */
    void (*row)(struct strip *s);

    /* The pixel of `c`, which is column i and has what the strip needs, in row s->y. Columns come
     * from left to right. */
    void (*pixel)(struct strip *s, uint64_t i, const struct column *c, uint8_t rgb[3]);
};

/* In the order of --help and, from top to bottom, of -m all; the first is the default. */
extern const struct strip_kind *const strip_table[];
extern const size_t strip_count; /* 1..STRIPS_MOST */

/* The strip whose name is the `length` bytes at `name`; NULL: none. Any thread. */
const struct strip_kind *strip_find(const char *name, size_t length);

/* Strips that belong together, 1..STRIPS_MOST of them. As a picture: one alone, or several one
 * below the other, each with a label. The array is the caller's and must outlive the value. */
struct strips {
    const struct strip_kind *const *kind;
    size_t count;
};

/* The name of one strip, STRIP_ALL for several. */
const char *strips_name(struct strips s);

const char *palette_order_name(enum palette_order order); /* "lightness", "share" */
const char *strip_shape_name(enum strip_shape shape);     /* "strip", "circle", "vertical" */

/* What they need together: bits of enum strip_need. */
unsigned strips_need(struct strips s);

/* What they obey together: bits of enum strip_option. */
unsigned strips_obey(struct strips s);

/*
 * True if one of them wants each restart of the k-means at its end, whatever kmeans_params.race
 * says: a palette. A race nearly always leaves the largest cluster as it is, but small ones move
 * from frame to frame: neighbours' bands are 1.44 apart on average (CIEDE2000, 720 frames of a
 * 1080p film, by lightness), and 1.25 without it. It holds for a whole run, which has one
 * clustering for all its strips. A strip that a page shows beside those that were asked for has
 * what they have.
 */
bool strips_settled(struct strips s);

#ifdef __cplusplus
}
#endif
#endif
