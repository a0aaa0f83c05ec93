/*
 * report.h - everything that the image, the JSON and the --bench line of a finished film are made
 * from.
 */
#ifndef BARCODE_REPORT_H
#define BARCODE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/film_id.h"
#include "barcode/engine/column.h"
#include "barcode/engine/light.h"
#include "barcode/engine/crop.h"
#include "barcode/engine/slit.h"
#include "barcode/kmeans/kmeans.h"
#include "media/film.h"
#include "media/select/selection.h"
#include "media/gop/decode_counts.h"
#include "output/formats/csv_columns.h"
#include "output/modes/film_palette.h"
#include "output/poster/poster.h"
#include "output/modes/strip.h"
#include "sound/film_sound.h"

struct thumbs;
struct previews;
struct spectrum;

enum { REPORT_WARNINGS = 16, REPORT_WARNING = 240, REPORT_FINGERPRINT = 1024 };

struct report {
    const struct film *film;
    char film_id[FILM_ID_TEXT]; /* film_id.h; "" if the film has none */
    /* of this output (options_fingerprint.h); "" if unknown */
    char fingerprint[REPORT_FINGERPRINT];
    /* whether files of another film may be replaced, if the program chooses the names of several
     * files */
    bool overwrite;
    bool partial;                /* frames of the film are missing or damaged */
    struct selection selection;  /* as used: with the interval resolved */
    struct kmeans_params kmeans; /* as requested */
    /* percent (steady.h): columns use a chosen cluster and dominant colour; 0: the largest and the
     * first */
    int steady;
    enum palette_order order; /* of the bands of the palette */
    unsigned needs;    /* what the selected strips need of a column: bits of enum strip_need */
    int width, height; /* of an analysis frame */
    struct slit slit;  /* of the mode `slit` */
    int slit_length;   /* the pixels of a slit in an analysis frame; 0: no mode needs them */
    struct crop crop;  /* the rectangles that frames were cropped to */
    struct light_rule light; /* as used: with the peak resolved */
    /*
     * FFmpeg's name of the film's primaries if they are converted to BT.709, other than HDR's usual
     * BT.2020; else NULL
     */
    const char *primaries;
    /* --light linear: the table for means of columns (strip_fit_mean); NULL: means of the R'G'B'
     * values */
    const struct light_table *means;
    /*
     * of one strip; a length of 0 along time means one pixel per column; a circle has equal sides
     */
    int picture_width, picture_height;
    enum strip_shape shape;
    int64_t smooth_us;        /* smooth.h; 0: off */
    bool poster;              /* the PNG is a poster; SVG and PDF always are */
    struct paper page;        /* of a poster */
    int dpi;                  /* of a poster of pixels */
    const char *title;        /* --title, any bytes; NULL if not given */
    struct paper_style style; /* of a poster; `has_background` also of a stack or ring */
    /* --csv-columns; NULL: the default */
    const struct csv_columns *csv_columns;
    const struct columns *columns; /* finished */
    uint64_t count;                /* number of columns */
    bool quick;                    /* the PNG will soon be written again: compress it less */
    /* a day of --live: when column 0 begins, microseconds of UTC since 1970, and the others
     * selection.interval_us apart; 0: a film */
    int64_t clock_us;
    bool gaps; /* columns that lack what a mode needs are hatched (strip.h), not filled */
    /* thumbnails of analysis frames (thumbs.h); NULL unless the writer of an output needs them */
    const struct thumbs *thumbs;
    struct previews *previews;      /* thumbs.h; NULL unless the writer of an output needs them */
    int64_t preview_us;             /* the time between previews; 0: none */
    struct film_palette palette;    /* of the film */
    const struct film_sound *sound; /* NULL: no output asks for it */
    struct spectrum *spectrum;      /* sinks.h; NULL unless the writer of an output needs it */
    /* columns without a frame, including those that were cut off the end; not transparent ones */
    uint64_t missing;
    const char *engine, *decode, *isa; /* "cpu", "cpu", "avx2" */
    const char *cache;                 /* "off", "miss", "partial" or "hit" */
    int threads;
    char warning[REPORT_WARNINGS][REPORT_WARNING];
    int warnings;
    struct decode_times times;
    struct decode_counts counts;
};

#endif
