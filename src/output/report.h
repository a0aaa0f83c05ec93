/* report.h - what the outputs of a finished film are made from, by subject. */
#ifndef BARCODE_REPORT_H
#define BARCODE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/film_id.h"
#include "barcode/engine/column.h"
#include "barcode/engine/light.h"
#include "barcode/engine/crop.h"
#include "barcode/kmeans/kmeans.h"
#include "media/film.h"
#include "media/select/selection.h"
#include "media/gop/decode_counts.h"
#include "output/formats/csv_columns.h"
#include "output/modes/film_palette.h"
#include "picture_options.h"
#include "output/poster/poster.h"
#include "sound/film_sound.h"

struct thumbs;
struct previews;
struct shots;
struct spectrum;

enum { REPORT_WARNINGS = 16, REPORT_WARNING = 240, REPORT_FINGERPRINT = 1024 };

/* What the metadata of an output identifies it by. */
struct report_id {
    char film_id[FILM_ID_TEXT]; /* film_id.h; "" if the film has none */
    /* of this output (options_fingerprint.h); "" if unknown */
    char fingerprint[REPORT_FINGERPRINT];
    bool overwrite; /* files of another film may be replaced, if the program chooses their names */
    bool partial;   /* frames of the film are missing or damaged */
};

/* How frames were selected and analysed. */
struct report_analysis {
    struct selection selection;  /* as used: with the interval resolved */
    struct kmeans_params kmeans; /* as requested */
    unsigned needs;    /* what the selected strips need of a column: bits of enum strip_need */
    int width, height; /* of an analysis frame */
    int slit_length;   /* the pixels of a slit in an analysis frame; 0: no mode needs them */
    struct crop crop;  /* the rectangles that frames were cropped to */
    struct light_rule light; /* as used: with the peak resolved */
    bool by_shot;            /* --columns shots: column i is shot i of media.shots */
    /*
     * FFmpeg's name of the film's primaries if they are converted to BT.709, other than HDR's usual
     * BT.2020; else NULL
     */
    const char *primaries;
    /* --light linear: the table for means of columns (strip_fit_mean); NULL: means of the R'G'B'
     * values */
    const struct light_table *means;
};

/* What was made of frames and sound besides columns. What no output shows is NULL or empty. */
struct report_media {
    const struct thumbs *thumbs; /* thumbs.h */
    struct previews *previews;   /* thumbs.h */
    int64_t preview_us;          /* the time between previews; 0: none */
    struct film_palette palette; /* of the film */
    const struct film_sound *sound;
    struct spectrum *spectrum; /* sinks.h */
    const struct shots *shots; /* shots.h */
    /* shot_columns.h, for the main colours of shots; NULL: no output shows them */
    const struct columns *shot_columns;
};

/* How the run went, which does not change a picture. */
struct report_run {
    const char *engine, *decode, *isa; /* "cpu", "cpu", "avx2" */
    const char *cache;                 /* "off", "miss", "partial" or "hit" */
    int threads;
    char warning[REPORT_WARNINGS][REPORT_WARNING];
    int warnings;
    struct decode_times times;
    struct decode_counts counts;
};

struct report {
    const struct film *film;
    const char *name; /* of the film in tables; NULL: film->path */
    struct report_id id;
    struct report_analysis analysis;
    const struct columns *columns; /* finished */
    uint64_t count;                /* number of columns */
    /* columns without a frame, including those that were cut off the end; not transparent ones */
    uint64_t missing;
    /* a day of --live: when column 0 begins, microseconds of UTC since 1970, and the others
     * selection.interval_us apart; 0: a film */
    int64_t clock_us;
    bool gaps;  /* columns that lack what a mode needs are hatched (strip.h), not filled */
    bool quick; /* the PNG will soon be written again: compress it less */
    /* the options, with the width completed: a length of 0 along time is one pixel per column */
    struct picture_options picture;
    struct poster_options poster;          /* wanted: the image of pixels is a poster */
    const struct csv_columns *csv_columns; /* --csv-columns; NULL: the default */
    bool drop_frame;                       /* --drop-frame (timecode.h) */
    struct report_media media;
    struct report_run run;
};

#endif
