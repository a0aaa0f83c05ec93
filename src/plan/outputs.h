/*
 * outputs.h - the output files of a film: their contents, their names, and whether they may be
 * written.
 */
#ifndef BARCODE_OUTPUTS_H
#define BARCODE_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "cache/failed_films.h"
#include "inputs.h"
#include "plan.h"

/* What the films' outputs of one kind have in common. */
struct output_kind {
    const struct writer *writer; /* NULL: --dump */
    /*
     * what a file shows. For a writer with one_a_strip, one mode or the stack; for any other, all
     * selected or computed modes
     */
    struct strips strips;
    char option[32];  /* the option that requests it: "-o", "--json" */
    const char *path; /* as the option names it; several pictures of -o FILE: with "-MODE" */
    /* the program chooses the names, so only its own outputs of the film may be replaced */
    bool chosen;
    const char *folder; /* with `chosen`: where the names are; NULL: no option names it */
    bool suffix;        /* with `chosen`: the names get OUTPUTS_SUFFIX */
    bool gallery;       /* `path` is a gallery, and the files are its pages */
    bool in_memory;     /* no file: `path` is a name that only this program knows */
    char *made;         /* the memory of `path` or `folder`, or NULL */
    char fingerprint[REPORT_FINGERPRINT]; /* options_fingerprint.h */
};

/* One file of a film. */
struct output {
    const struct output_kind *kind;
    const char *path;  /* "-": stdout */
    char *made;        /* the memory of `path`, or NULL */
    const char *below; /* in `path`: folders are made from here on; NULL: none are made */
    bool overwrite;    /* replace an older output of any film */
};

/* The outputs of a film, in the order of the kinds. */
struct outputs {
    struct output *output; /* NULL if there are none */
    size_t count;
};

/* What the outputs of a film need together. */
struct output_needs {
    unsigned strips;      /* of a column: bits of enum strip_need */
    bool columns;         /* false: only previews */
    bool sheets, singles; /* of previews */
    bool thumbs, palette;
    bool sound, spectrum;
    bool shots;
    bool sound_only; /* no output shows pictures, or outputs_options.sound_only */
};

/* The outputs of a run. Constant once it is made. */
struct output_plan {
    const struct plan *plan;
    const struct writer *format; /* of the outputs of -o */
    bool posters;                /* the outputs of -o are posters */
    /* the outputs of -o in the order of the modes, those of the other options, the dump */
    struct output_kind kind[STRIPS_MOST + WRITERS_MOST + 1];
    size_t kinds;
    size_t pictures;     /* how many of the first are outputs of -o; may be 0 */
    const char *gallery; /* the path of the gallery; NULL: none is requested */
    const char *table;   /* the table that several films share (--csv FILE); NULL: none */
    struct output_needs needs;
    struct outputs *film; /* for each input; empty if it was not due */
    size_t films;
    struct err unwritten; /* why previews beside films are left out; ERR_NONE: none are */
};

/*
 * Decides the outputs of a run, and names those of the films that are due (inputs_is_due).
 *
 * -o FILE names a picture. Its ending selects the writer; without an ending it is a PNG. For
 * several pictures "-MODE" is inserted before the ending.
 *
 * Without -o, or if -o names a folder (an existing one, or a path that ends in '/'), the film's
 * stem is the name. With -r the stem includes subfolders. Mode, shape and "poster" are appended
 * where they differ from the default. OUTPUTS_SUFFIX is appended in a folder of films. An option
 * such as --json or --dump also takes a folder: its file there is STEM with the writer's ending, or
 * STEM.rgb. --name changes STEM; if it ends in the ending of a picture, that selects the
 * writer.
 *
 * --html FOLDER/index.html with several films or a folder, or of a gallery that exists, requests a
 * gallery. The films' pages are written to FOLDER, as for --html FOLDER/.
 *
 * A film whose outputs cannot be named has none: outputs_check reports it. Returns false if out of
 * memory or interrupted. The caller calls outputs_free in any case; `plan` and `in` live longer.
 * Main thread only.
 */
bool outputs_plan(const struct plan *plan, const struct inputs *in, struct output_plan *o,
                  struct err *e);
void outputs_free(struct output_plan *o);

/*
 * Leaves out previews that do not exist and cannot be written beside a film, as in a library that
 * may only be read. With `made`, those of films that are due, which would be made again, too. Logs
 * the first reason. A film that has no other output gets it as its problem.
 */
void outputs_leave_previews(struct output_plan *o, struct inputs *in, bool made);

/* Returns how a film that has outputs is sought among those that failed. */
struct failed_film outputs_failed_film(const struct output_plan *o, const struct inputs *in,
                                       size_t i);

/* Returns the dump of a film, or NULL if none is requested. */
const struct output *outputs_dump(const struct outputs *list);

/*
 * Returns true if this output of film `i` may be written now. Returns false if the output is one of
 * the films, under any name: ERR_USAGE, or ERR_FAILED if the program chose the name.
 *
 * If the program chose the name, an existing file may also prevent writing (ERR_FAILED): one that
 * barcode did not make, that shows another film, or that does not name its film. --overwrite allows
 * all of these but a file that barcode did not make. It allows any dump, because a dump never names
 * its film. The writer looks for the film in the first 4 KB of the file.
 */
bool outputs_allowed(const struct inputs *in, size_t i, const struct output *output, struct err *e);

/*
 * Makes the folder that an option names and the subfolders that the output's name needs. Main
 * thread, or the thread that writes the output.
 */
bool outputs_make_folders(const struct output *output, struct err *e);

/*
 * Checks all outputs before decoding. Returns false if nothing can be rendered: every ERR_USAGE of
 * the two functions above, and a missing or read-only folder (ERR_FAILED). These also fail with
 * ERR_USAGE: one file of --json or --dump for several films; two outputs in one file; pixels to a
 * terminal; posters without fonts (poster.h); one title for several films; an output with a film's
 * ending; a picture with the ending of another format.
 *
 * An error that concerns only one film becomes the film's problem, for example another program's
 * file at the picture's name.
 */
bool outputs_check(struct output_plan *o, struct inputs *in, struct err *e);

/* Returns the format of the outputs of -o. Any thread. */
const struct writer *outputs_format(const struct plan *plan);

/*
 * Returns true if the outputs of -o are posters: --poster, or a format that makes only posters. Any
 * thread.
 */
bool outputs_are_posters(const struct plan *plan);

/* Makes the gallery's folder, which does not exist if no page was written. */
bool outputs_make_gallery_folder(const struct output_plan *o, struct err *e);

/*
 * Returns true for an existing folder or a path that ends in '/': the program chooses the names in
 * it. Any thread.
 */
bool outputs_names_folder(const char *path);

/* Returns true for stdout. cli_parse replaces its other names by "-". Any thread. */
bool outputs_is_stdout(const char *path);

#endif
