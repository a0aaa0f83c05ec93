/*
 * inputs_list.h - the list of films in the making: inputs.c's, for those who find films. Main
 * thread.
 */
#ifndef BARCODE_INPUTS_INPUTS_LIST_H
#define BARCODE_INPUTS_INPUTS_LIST_H

#include "barcode/cli/inputs.h"

/* Names that were given out, so that none is given twice: an open hash of numbers into in->stem. */
struct inputs_names {
    size_t *slot; /* [slots], a film's number + 1; 0: empty */
    size_t slots, used;
};

/* A list in the making; begins with all but `in` and `options` zero. Its owner frees `names`. */
struct inputs_list {
    struct inputs *in;
    const struct options *options;
    struct inputs_names names;
};

/*
 * Appends a film. `path` (allocated) is taken over, also on failure. `below` is where it lies under
 * the folder that was named, "" or with a slash at its end: its outputs lie there too.
 */
bool inputs_list_film(struct inputs_list *list, char *path, const char *below, struct err *e);

/* Appends an argument or folder that gives no film, with the reason, so that the other films are
 * still rendered. */
bool inputs_list_problem(struct inputs_list *list, const char *path, const struct err *problem,
                         struct err *e);

/* Notes a folder that films come from; the same one again changes nothing. */
bool inputs_list_folder(struct inputs_list *list, const struct input_folder *folder, struct err *e);

void inputs_names_free(struct inputs_names *names);

/* ---- inputs_folder.c ---- */

/* Appends the films of a folder, or a problem where there are none. */
bool inputs_folder(struct inputs_list *list, const char *folder, struct err *e);

#endif
