/* options.h - the parsed and checked command line. */
#ifndef BARCODE_OPTIONS_H
#define BARCODE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sandbox.h"
#include "cache/cache_options.h"
#include "progress.h"
#include "cli/options/size.h"
#include "engine/engines.h"
#include "barcode/engine/light.h"
#include "engine/steady.h"
#include "barcode/engine/crop.h"
#include "barcode/kmeans/kmeans.h"
#include "media/select/selection.h"
#include "media/source.h"
#include "output/formats/csv_columns.h"
#include "output/poster/poster.h"
#include "output/modes/strip.h"
#include "output/writer.h"

enum {
    /* limit of --columns, of --width, and of the columns that --interval gives */
    OPTION_COLUMNS_MOST = 10000000,
    OPTION_JOBS_MOST = 64
};

/* An output with an option of its own (writer_option). */
struct options_extra {
    const struct writer *writer;
    const char *path; /* "-": stdout; "": beside the film (writer.beside) */
};

/* --serve */
struct serve_address {
    char host[256]; /* a name or an address, without brackets */
    uint16_t port;  /* 0: the kernel chooses */
    bool given;
};

/* --live-format, for -o - */
enum live_format { LIVE_FORMAT_NONE, LIVE_FORMAT_RGB, LIVE_FORMAT_JSONL };

/* When a day of --live begins. */
struct live_day_rule {
    bool local;  /* by the time zone of the process; else UTC */
    int minutes; /* after 0:00 */
};

struct options {
    char **input; /* FILM|FOLDER..., as given; points into argv */
    size_t inputs;
    bool recursive;             /* -r: include subfolders */
    bool join;                  /* --join: all of `input` are one film */
    bool no_join;               /* --no-join: each file is a film, also a chapter */
    bool playlists;             /* --playlists: a playlist may have any name */
    bool sequence;              /* --sequence: the images of a folder are one film */
    int64_t rate_num, rate_den; /* --rate, of images; 0/0: not given */
    bool any;                   /* --any: take files with any ending from folders */
    /* -o; NULL: the default name; "-": stdout, whichever name the user gave it */
    const char *output;
    /* --json, --bench and the like, in the order of writer_table; `extras` entries */
    struct options_extra extra[WRITERS_MOST];
    size_t extras;
    /* --csv-columns; count 0: not given */
    struct csv_columns csv_columns;
    const char *name;   /* --name, checked by cli_parse_name; NULL: not given */
    const char *report; /* --report: a line per film; NULL: not given; "-": stdout */
    const char *dump;   /* --dump; NULL: not given; "-": stdout */

    /* the selected modes in the order of strip_table; `strips` entries */
    const struct strip_kind *strip[STRIPS_MOST];
    size_t strips;
    bool stacked; /* -m all: one picture of all modes */
    /*
     * `strip`, then the other modes that need no data beyond what `strip` needs; `computes` entries
     */
    const struct strip_kind *computed[STRIPS_MOST];
    size_t computes;
    struct kmeans_params kmeans;   /* race: false if strips_settled */
    int steady;                    /* --steady: a percentage, 0 (off) to STEADY_MOST */
    struct selection selection;    /* every == 0: chosen by the film's length */
    struct previews_rule previews; /* --trickplay-width, --trickplay-interval */
    struct size_rule size;
    struct crop_rule crop;
    struct light_rule light; /* --tone-map, --hdr-peak, --light */
    struct slit slit;        /* -m slit=X, --rotate */
    int stream;              /* --stream: a number from 0, or SOURCE_STREAM_CHOICE */
    int sound_stream;        /* --sound-stream: likewise, of sound */
    /* fill the cache of sound, and write no output; no option of the command line asks for it */
    bool sound_only;
    enum palette_order order;
    int colours; /* --colours, of the film's palette */
    /*
     * of the picture, after cli_finalize_picture; the size along time may be 0: one pixel per
     * column
     */
    int width, height;
    enum strip_shape shape;
    int64_t smooth_us; /* --smooth; 0: off */
    /* --poster; SVG and PDF outputs are posters without it, see outputs_are_posters */
    bool poster;
    const struct writer *poster_format; /* --poster=FORMAT; NULL: by -o's ending, or PNG */
    struct paper page;
    int dpi;           /* of a PNG poster; PAPER_DPI_USUAL by default */
    const char *title; /* --title; NULL: not given */
    /* --subtitle, --font, --bare, --svg-text, --background */
    struct paper_style style;

    enum engine_choice engine;
    struct engine_devices devices; /* the GPUs named by --engine */
    enum decode_choice decode;
    int threads;             /* 1..1024; 0: one per core */
    uint64_t memory;         /* --memory: bytes for all films; 0: chosen */
    uint64_t pixels;         /* --max-pixels; 0: not given */
    int jobs;                /* films in progress at once: 1..OPTION_JOBS_MOST; 0: chosen */
    int64_t film_timeout_us; /* --film-timeout; 0: none */
    enum progress_when progress;
    enum sandbox_choice sandbox; /* --sandbox */
    bool strict, verify, keep_going;
    int shard, shards; /* --shard I/N: I from 1; both 0: not given */
    bool update;       /* skip films whose outputs exist */
    /* also replace outputs of other films at names that the program chose */
    bool overwrite;
    struct cache_options cache;   /* of analysis frames */
    int64_t live_us;              /* --live: the time of a column; 0: not given */
    int64_t timeout_us;           /* --timeout */
    struct serve_address serve;   /* --serve */
    enum live_format live_format; /* --live-format; LIVE_FORMAT_NONE: not given */
    struct live_day_rule day;     /* --day */
};

#endif
