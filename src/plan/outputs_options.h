/* outputs_options.h - the options that say which files are written, and which are kept. */
#ifndef BARCODE_OUTPUTS_OPTIONS_H
#define BARCODE_OUTPUTS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/option.h"
#include "output/writer.h"

/* The placeholders of --name: the film's name without its ending, and its modes. */
#define OUTPUTS_NAME_STEM "{stem}"
#define OUTPUTS_NAME_MODE "{mode}"

/* An output with an option of its own (writer_option). */
struct options_extra {
    const struct writer *writer;
    const char *path; /* "-": stdout; "": beside the film (writer.beside) */
};

struct outputs_options {
    /* -o; NULL: the default name; "-": stdout, whichever name the user gave it */
    const char *path;
    /* --json, --bench and the like, in the order of writer_table; `extras` entries */
    struct options_extra extra[WRITERS_MOST];
    size_t extras;
    const char *name;     /* --name, as its row checks it; NULL: not given */
    const char *report;   /* --report: a line per film; NULL: not given; "-": stdout */
    const char *previews; /* --trickplay-dir; NULL: beside the films */
    const char *dump;     /* --dump; NULL: not given; "-": stdout */
    bool update;          /* skip films whose outputs exist */
    bool retry;           /* with `update`, also films that failed before and are unchanged */
    bool overwrite;       /* also replace outputs of other films at names that the program chose */
    bool strict;          /* a film that is decoded only in part fails */
    /* fill the cache of sound, and write no output; no option of the command line asks for it */
    bool sound_only;
    bool in_memory; /* hand `extra` and `dump` to the run's sink (batch.h); likewise no option
                     */
};

extern const struct option_table outputs_options;

#endif
