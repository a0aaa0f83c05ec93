/*
 * outputs.h - the files that a film gives: what each shows, what it is called, and whether it may be written.
 */
#ifndef BARCODE_OUTPUTS_H
#define BARCODE_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "barcode/inputs.h"
#include "barcode/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One file of a film. */
struct output {
    const struct writer *writer;
    struct strips strips;        /* of a writer with one_a_strip: one, or the stack; else all that were asked for */
    char *path;                  /* the list's; "-": stdout                                                       */
    bool chosen;                 /* the program chose the name, so only its own files may be replaced             */
};

/* What -o names, in the order of the strips, then what options of their own name. --dump is none of them. */
struct outputs {
    struct output output[STRIPS_MOST + WRITERS_MOST];
    size_t count;
    size_t pictures;             /* the first of them: what -o names */
};

/*
 * The outputs of film `i`. Without -o: STEM.png in the working directory; with -o FOLDER (there, or ending in '/'):
 * FOLDER/STEM.png; with -o FILE: that, by the writer that has its ending, or else as a PNG. When a writer makes several files,
 * "-STRIP" goes before the ending. The strips point into `o`.
 * Errors: several films and -o FILE or "-"; several files and "-" (ERR_USAGE). On success the caller calls outputs_free();
 * on failure `list` is empty.
 */
bool outputs_of(const struct options *o, const struct inputs *in, size_t i, struct outputs *list, struct err *e);
void outputs_free(struct outputs *list);

/*
 * May this output be written now? No: it is one of the films, under whatever name (ERR_USAGE), or a name that the program chose
 * itself would replace a file that barcode did not make, as the writer tells from its first 4 KB (ERR_FAILED).
 */
bool outputs_allowed(const struct inputs *in, const struct output *output, struct err *e);

/*
 * Before any decoding. False for what makes the whole run impossible: everything ERR_USAGE of the two above, a folder that
 * is missing or cannot be written to (ERR_FAILED), --json or --dump for several films, two outputs in one file, pixels to
 * a terminal, an output with a film's ending or a picture with that of another format (ERR_USAGE). What stands in one
 * film's way only, such as somebody else's file in the place of its picture, becomes that film's problem.
 */
bool outputs_check(const struct options *o, struct inputs *in, struct err *e);

/* Is this stdout? cli_parse says "-", whatever name the user gave it. False for NULL. Any thread. */
bool outputs_is_stdout(const char *path);

#ifdef __cplusplus
}
#endif
#endif
