/*
 * inputs.h - which films, and what their outputs are called.
 */
#ifndef BARCODE_INPUTS_H
#define BARCODE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "barcode/options.h"

#ifdef __cplusplus
extern "C" {
#endif

struct inputs {
    char **path;         /* films in order: arguments as given, a folder's films by name (strcmp) */
    char **stem;         /* for each: the output name without ending, unique in this run  */
    struct err *problem; /* for each: why it cannot be rendered, as far as is known before opening it; mostly ERR_NONE */
    size_t count;
};

/*
 * Expands folders (one level, files with a film's ending, no hidden ones) and names outputs. A folder without films, or
 * one that cannot be read, becomes one entry with a problem (ERR_INPUT), so that the other films are still rendered.
 * A path that does not exist is kept: opening it says so later. "-" and "" are refused (ERR_USAGE).
 * Stems are the file's name without its last ending ("synth" for "synth:..."); a second equal stem becomes "stem-2".
 * On success the caller calls inputs_free(); on failure `in` is empty.
 */
bool inputs_expand(const struct options *o, struct inputs *in, struct err *e);
void inputs_free(struct inputs *in);

/*
 * The picture's path for film `i` and a strip; the caller frees it.
 * Without -o: STEM.png in the working directory; with -o FOLDER (there, or ending in '/'): FOLDER/STEM.png; with -o FILE: that.
 * When several strips are asked for (and not stacked), "-STRIP" goes before the ending; else `kind` is ignored.
 * Errors: several films and -o FILE or "-"; several strips and "-"; the output is one of the films, under whatever
 * name (ERR_USAGE); a name that the program chose itself would replace a file that barcode did not make, which is told
 * by "Software" in the PNG's text chunks within its first 4 KB (ERR_FAILED).
 */
char *inputs_output(const struct options *o, const struct inputs *in, size_t i, const struct strip_kind *kind, struct err *e);

/*
 * Before any decoding. False for what makes the whole run impossible: everything ERR_USAGE of inputs_output, a folder that
 * is missing or cannot be written to (ERR_FAILED), --json or --dump for several films, two outputs in one file, pixels to
 * a terminal, an output with a film's ending or a picture with that of another format (ERR_USAGE). What stands in one film's way only, such as somebody else's file in the place of its picture, becomes that
 * film's problem.
 */
bool inputs_check(const struct options *o, struct inputs *in, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
