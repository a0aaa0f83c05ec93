/*
 * outputs.h - the output files of a film: their contents, their names, and whether they may be
 * written.
 */
#ifndef BARCODE_OUTPUTS_H
#define BARCODE_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "inputs.h"
#include "plan.h"

/* One file of a film. */
struct output {
    const struct writer *writer; /* NULL: --dump */
    /*
     * what the file shows. For a writer with one_a_strip, one mode or the stack; for any other, all
     * selected or computed modes
     */
    struct strips strips;
    const char *path;  /* "-": stdout. Valid as long as the list and the plan */
    char *made;        /* owned by the list: the memory of `path`, or NULL */
    const char *below; /* in `path`: folders are made from here on; NULL: none are made */
    bool in_memory;    /* no file: `path` is a name that only this program knows */
    bool overwrite;    /* replace an older output of any film */
    /* the program chose the name, so only its own outputs of this film may be replaced */
    bool chosen;
    char option[32]; /* the option that requests the output: "-o", "--json" */
};

/* The outputs of -o in the order of the modes, then those of the other options. */
struct outputs {
    struct output output[STRIPS_MOST + WRITERS_MOST];
    size_t count;
    size_t pictures;    /* how many of the first are outputs of -o; may be 0 */
    struct output dump; /* path NULL: not requested */
};

/*
 * Lists the outputs of film `i`.
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
 * Fails with ERR_USAGE if several films share -o FILE or "-", and if several pictures share "-" or
 * one --name. The modes and some paths point into the plan. On success the caller calls outputs_free();
 * on failure `*list` is empty. Any thread.
 */
bool outputs_of(const struct plan *plan, const struct inputs *in, size_t i, struct outputs *list,
                struct err *e);
void outputs_free(struct outputs *list);

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
bool outputs_check(const struct plan *plan, struct inputs *in, struct err *e);

/* Returns the format of the outputs of -o. Any thread. */
const struct writer *outputs_format(const struct plan *plan);

/*
 * Returns true if the outputs of -o are posters: --poster, or a format that makes only posters. Any
 * thread.
 */
bool outputs_are_posters(const struct plan *plan);

/* Returns true if outputs of this writer show the film's palette. Any thread. */
bool outputs_show_palette(const struct plan *plan, const struct writer *w);

/*
 * Returns the path of the gallery, owned by the plan, or NULL if none is requested. --html
 * FOLDER/index.html with several films or a folder, or of a gallery that exists, requests one. The
 * films' pages are written to FOLDER, as for --html FOLDER/. Any thread.
 */
const char *outputs_gallery(const struct plan *plan);

/*
 * Returns the path of the table that several films share (--csv FILE), owned by the plan, or
 * NULL if each film has its own file or there is only one. Any thread.
 */
const char *outputs_table(const struct outputs_options *o, const struct inputs *in);

/* Makes the gallery's folder, which does not exist if no page was written. */
bool outputs_make_gallery_folder(const struct plan *plan, struct err *e);

/*
 * Returns true for an existing folder or a path that ends in '/': the program chooses the names in
 * it. Any thread.
 */
bool outputs_names_folder(const char *path);

/* Returns true for stdout. cli_parse replaces its other names by "-". Any thread. */
bool outputs_is_stdout(const char *path);

#endif
