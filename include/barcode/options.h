/*
 * options.h - what the command line asked for, checked.
 */
#ifndef BARCODE_OPTIONS_H
#define BARCODE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/cache_options.h"
#include "barcode/kmeans.h"
#include "barcode/selection.h"

#ifdef __cplusplus
extern "C" {
#endif

enum mode { MODE_KMEANS, MODE_PALETTE, MODE_AVERAGE, MODE_DOWNSAMPLE, MODE_COUNT };

enum size_kind {
    SIZE_SIDE,      /* longer side = side (default 320)   */
    SIZE_EXACT,     /* width x height                     */
    SIZE_DIVIDE,    /* 1/divisor of the film's size       */
    SIZE_FULL
};

struct size_rule {
    enum size_kind kind;
    int side, width, height, divisor;
};

enum { OPTION_COLUMNS_MOST = 10000000 };   /* of --columns, --width, and what --interval may come to */

enum progress_when { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* Who clusters. */
enum engine_choice { ENGINE_AUTO, ENGINE_CPU, ENGINE_CUDA };

/* Who decodes. */
enum decode_choice {
    DECODE_AUTO,         /* NVDEC and software side by side where the engine is on a GPU; else software */
    DECODE_CPU,          /* software alone                                                              */
    DECODE_NVDEC         /* NVDEC alone, for the codecs that it knows                                   */
};

struct options {
    char **input;               /* FILM|FOLDER..., as given; points into argv       */
    size_t inputs;
    const char *output;         /* NULL: the default name; "-": stdout, by any name */
    const char *json;           /* NULL: none; "-": stdout                          */
    const char *dump;           /* NULL: none; "-": stdout                          */

    bool mode[MODE_COUNT];      /* which pictures                                   */
    bool stacked;               /* -m all: one comparison picture of all four       */
    struct kmeans_params kmeans;
    struct selection selection; /* every == 0: chosen from the film's length        */
    struct size_rule size;
    int width, height;          /* of the picture; width 0: a pixel a column        */

    enum engine_choice engine;
    int device;                 /* which GPU, from 0                                */
    enum decode_choice decode;
    int threads;                /* 1..1024; 0: one a core                           */
    enum progress_when progress;
    bool strict, verify, bench;
    struct cache_options cache; /* of staged frames                                 */
};

const char *mode_name(enum mode m);   /* "kmeans", "palette", "average", "downsample" */

/* The staged size by the rule for a film of width x height (displayed); never larger than the film. */
void size_resolve(const struct size_rule *rule, int width, int height, int *out_width, int *out_height);

#ifdef __cplusplus
}
#endif
#endif
