/*
 * report.h - everything that a finished film's picture, JSON and --bench line are made from.
 */
#ifndef BARCODE_REPORT_H
#define BARCODE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "barcode/base/film_id.h"
#include "barcode/engine/column.h"
#include "barcode/engine/light.h"
#include "barcode/engine/crop.h"
#include "barcode/kmeans/kmeans.h"
#include "barcode/media/film.h"
#include "barcode/media/selection.h"
#include "barcode/media/decode_counts.h"
#include "barcode/output/paper.h"
#include "barcode/output/strip.h"

#ifdef __cplusplus
extern "C" {
#endif

struct thumbs;

enum { REPORT_WARNINGS = 16, REPORT_FINGERPRINT = 1024 };

struct report {
    const struct film *film;
    char film_id[FILM_ID_TEXT];           /* as film_id.h has it; "": the film has none */
    char fingerprint[REPORT_FINGERPRINT]; /* options_fingerprint.h: of this output; "": unknown */
    /*
     * files of another film may be replaced, where several files of the program's own names are
     * written
     */
    bool overwrite;
    bool partial;                /* pictures of the film are missing, damaged or lost */
    struct selection selection;  /* as used: every N decided */
    struct kmeans_params kmeans; /* as asked for */
    /*
     * per cent (steady.h): columns have their choice; 0: each its largest cluster and its first
     * mode
     */
    int steady;
    enum palette_order order; /* of the palette's bands */
    unsigned needs;           /* what the wanted strips need of a column: enum strip_need */
    int width, height;        /* staged size */
    struct crop crop;         /* what pictures were cut to */
    struct light_rule light;  /* as used: the peak decided */
    /* --light linear: columns are averaged by it (strip_fit_mean); NULL: as they are */
    const struct light_table *means;
    /* of one strip; the one along time may be 0: a pixel a column; a circle's are the same */
    int picture_width, picture_height;
    enum strip_shape shape;
    int64_t smooth_us;             /* smooth.h; 0: not asked for */
    bool poster;                   /* a PNG is one; SVG and PDF always are */
    struct paper page;             /* of posters */
    int dpi;                       /* of a poster that is a PNG */
    const char *title;             /* any bytes; NULL: nobody said */
    const struct columns *columns; /* finished */
    uint64_t count;                /* columns */
    /* small copies of staged frames (thumbs.h); NULL unless an output's writer wants them */
    const struct thumbs *thumbs;
    uint64_t missing;                  /* of them without a picture, plus those cut off the end */
    const char *engine, *decode, *isa; /* "cpu", "cpu", "avx2" */
    const char *cache;                 /* "off", "miss", "partial" or "hit" */
    int threads;
    char warning[REPORT_WARNINGS][240];
    int warnings;
    struct decode_times times;
    struct decode_counts counts;
};

#ifdef __cplusplus
}
#endif
#endif
