/*
 * inputs.h - which films, and the stems of what their outputs are called.
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
 * Expands folders (one level, regular files with a film's ending, no hidden ones) and names outputs. A folder without films, or
 * one that cannot be read, becomes one entry with a problem (ERR_INPUT), so that the other films are still rendered.
 * A path that does not exist is kept: opening it says so later. "" is refused (ERR_USAGE). "-" becomes /dev/stdin; where that is
 * closed (ERR_INPUT), a terminal, or named twice without being a file (ERR_USAGE), it is an entry with a problem too.
 * Stems are the file's name without its last ending ("synth" for "synth:..."); a second equal stem becomes "stem-2".
 * On success the caller calls inputs_free(); on failure `in` is empty.
 */
bool inputs_expand(const struct options *o, struct inputs *in, struct err *e);
void inputs_free(struct inputs *in);

#ifdef __cplusplus
}
#endif
#endif
