/*
 * options.h - what the command line asked for, checked.
 */
#ifndef BARCODE_OPTIONS_H
#define BARCODE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/cache/cache_options.h"
#include "barcode/cli/progress.h"
#include "barcode/cli/size.h"
#include "barcode/engine/engines.h"
#include "barcode/engine/light.h"
#include "barcode/engine/steady.h"
#include "barcode/engine/crop.h"
#include "barcode/kmeans/kmeans.h"
#include "barcode/media/selection.h"
#include "barcode/media/source.h"
#include "barcode/output/paper.h"
#include "barcode/output/strip.h"
#include "barcode/output/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    OPTION_COLUMNS_MOST = 10000000, /* of --columns, --width, and what --interval may come to */
    OPTION_JOBS_MOST = 64
};

/* An output that has an option of its own (writer_option). */
struct options_extra {
    const struct writer *writer;
    const char *path; /* "-": stdout */
};

struct options {
    char **input; /* FILM|FOLDER..., as given; points into argv */
    size_t inputs;
    bool recursive;     /* -r: the folders below, too */
    bool any;           /* of folders, files of any ending */
    const char *output; /* NULL: the default name; "-": stdout, by any name */
    /* --json, --bench: in the table's order, `extras` of them */
    struct options_extra extra[WRITERS_MOST];
    size_t extras;
    const char *name;   /* --name, as cli_parse_name takes it; NULL: not given */
    const char *report; /* a line a film; NULL: none; "-": stdout */
    const char *dump;   /* NULL: none; "-": stdout */

    /* the wanted ones in the table's order, `strips` of them */
    const struct strip_kind *strip[STRIPS_MOST];
    size_t strips;
    bool stacked; /* -m all: one picture of them all */
    /* `strip`, then the others that need no more than these do */
    const struct strip_kind *computed[STRIPS_MOST];
    size_t computes;
    struct kmeans_params kmeans; /* race: false where strips_settled */
    int steady;                  /* --steady: per cent, 0 (not asked for) to STEADY_MOST */
    struct selection selection;  /* every == 0: chosen from the film's length */
    struct size_rule size;
    struct crop_rule crop;
    struct light_rule light; /* --tone-map, --hdr-peak, --light */
    int stream;              /* --stream: a number from 0, or SOURCE_STREAM_CHOICE */
    enum palette_order order;
    /*
     * of the picture, settled (cli_finalize_picture); the one along time may be 0: a pixel a column
     */
    int width, height;
    enum strip_shape shape;
    int64_t smooth_us; /* --smooth; 0: not asked for */
    bool poster;       /* --poster; SVG and PDF are posters without it, too: outputs_are_posters */
    const struct writer *poster_format; /* --poster=FORMAT; NULL: by -o's ending, or PNG */
    struct paper page;
    int dpi;           /* of a poster in pixels; PAPER_DPI_USUAL unless given */
    const char *title; /* --title; NULL: not given */

    enum engine_choice engine;
    struct engine_devices devices; /* the GPUs that --engine named */
    enum decode_choice decode;
    int threads; /* 1..1024; 0: one a core */
    int jobs;    /* films under way at once: 1..OPTION_JOBS_MOST; 0: chosen */
    enum progress_when progress;
    bool strict, verify;
    int shard, shards;          /* --shard I/N: I from 1; 0, 0: not asked for */
    bool update;                /* leave out the films whose outputs are there */
    bool overwrite;             /* outputs of other films too, where the program chose the name */
    struct cache_options cache; /* of staged frames */
};

#ifdef __cplusplus
}
#endif
#endif
