/*
 * outputs.h - the files that a film gives: what each shows, what it is called, and whether it may
 * be written.
 */
#ifndef BARCODE_OUTPUTS_H
#define BARCODE_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "barcode/cli/inputs.h"
#include "barcode/cli/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One file of a film. */
struct output {
    const struct writer *writer; /* NULL: --dump */
    /* of a writer with one_a_strip: one, or the stack; else all that were asked for */
    struct strips strips;
    const char *path;  /* "-": stdout. Lasts as long as the list and the options */
    char *made;        /* the list's: what `path` points to, or NULL */
    const char *below; /* in `path`: from here on folders are made; NULL: none is */
    bool overwrite;    /* whatever film an older output was made of */
    /* the program chose the name, so only its own files of this film may be replaced */
    bool chosen;
    char option[32]; /* what asks for it: "-o", "--json" */
};

/* What -o names, in the order of the strips, then what options of their own name. */
struct outputs {
    struct output output[STRIPS_MOST + WRITERS_MOST];
    size_t count;
    size_t pictures;    /* the first of them: what -o names; may be 0 */
    struct output dump; /* path NULL: not asked for */
};

/*
 * The outputs of film `i`. -o FILE names a picture, by the writer that has its ending or else as a
 * PNG; with several of a film "-MODE" goes before the ending. Without -o, and in a folder (there,
 * or ending in '/'), the name is the film's stem, with -r in folders below it; what is no default
 * (mode, shape, poster) follows it, and OUTPUTS_SUFFIX where films lie in that folder. An option of
 * its own (--json, --dump) takes a folder too: there it is STEM and the writer's ending, or
 * STEM.rgb. --name changes STEM. The strips and some paths point into `o`. Errors: several films
 * and -o FILE or "-"; several files and "-", or one --name (ERR_USAGE). On success the caller calls
 * outputs_free(); on failure `list` is empty.
 */
bool outputs_of(const struct options *o, const struct inputs *in, size_t i, struct outputs *list,
                struct err *e);
void outputs_free(struct outputs *list);

/*
 * True if this output of film `i` may be written now. False: it is one of the films, under whatever
 * name (ERR_USAGE; ERR_FAILED where the program chose the name), or a name that the program chose
 * itself would replace a file that barcode did not make, made of another film, or made of a film
 * that the file does not name (ERR_FAILED; with --overwrite only a file that barcode did not make,
 * dumps apart). The writer looks for the film in the file's first 4 KB; a dump names none.
 */
bool outputs_allowed(const struct inputs *in, size_t i, const struct output *output, struct err *e);

/* Makes the folder that was named and those that the output's name needs below it. Main thread, or
 * one that writes. */
bool outputs_make_folders(const struct output *output, struct err *e);

/*
 * Checks all outputs before any decoding. False where the whole run is impossible: every ERR_USAGE
 * of the two above, a folder that is missing or cannot be written to (ERR_FAILED), one file of
 * --json or --dump for several films, two outputs in one file, pixels to a terminal, posters that
 * cannot be lettered here (paint.h), one title for several films, an output with a film's ending or
 * a picture with that of another format (ERR_USAGE). What stands in one film's way only, such as
 * another program's file in the place of its picture, becomes that film's problem.
 */
bool outputs_check(const struct options *o, struct inputs *in, struct err *e);

/* True unless other outputs were asked for and no picture: with --json and without -o there is
 * none. Any thread. */
bool outputs_have_pictures(const struct options *o);

/* The format of what -o names. Any thread. */
const struct writer *outputs_format(const struct options *o);

/* True if what -o names are posters: asked for, or of a format that has nothing else. Any thread.
 */
bool outputs_are_posters(const struct options *o);

/*
 * The path of the gallery that the options ask for (--html FOLDER/index.html with several films or
 * a folder), the options' own; NULL: none. Its films' pages lie in that folder, as if it had been
 * named. Any thread.
 */
const char *outputs_gallery(const struct options *o);

/* Makes the gallery's folder, which is not there yet if no film got a page. */
bool outputs_make_gallery_folder(const struct options *o, struct err *e);

/* True for stdout: cli_parse says "-", whatever name the user gave it. Any thread. */
bool outputs_is_stdout(const char *path);

#ifdef __cplusplus
}
#endif
#endif
