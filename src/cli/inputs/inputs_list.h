/*
 * inputs_list.h - builds the list of films: for inputs.c and the code that finds films. Main
 * thread.
 */
#ifndef BARCODE_INPUTS_INPUTS_LIST_H
#define BARCODE_INPUTS_INPUTS_LIST_H

#include "barcode/cli/inputs.h"

/*
 * The stems in use, so that none is used twice: an open-addressing hash table of indices into
 * in->stem.
 */
struct inputs_names {
    size_t *slot; /* [slots], a film's index + 1; 0: empty */
    size_t slots, used;
};

/*
 * A list under construction. Begins with all but `in` and `options` zero. Its owner frees `names`.
 */
struct inputs_list {
    struct inputs *in;
    const struct options *options;
    struct inputs_names names;
};

/*
 * Appends a film. Takes ownership of `path` (allocated), also on failure. `below` is its folder
 * relative to the folder argument: "" or a path that ends in a slash. Its outputs have the same
 * relative folder.
 */
bool inputs_list_film(struct inputs_list *list, char *path, const char *below, struct err *e);

/*
 * Appends an argument or folder that gives no film, with the reason. The other films are still
 * rendered.
 */
bool inputs_list_problem(struct inputs_list *list, const char *path, const struct err *problem,
                         struct err *e);

/* Adds a folder that contains films. Adding the same folder again merges `named`. */
bool inputs_list_folder(struct inputs_list *list, const struct input_folder *folder, struct err *e);

void inputs_names_free(struct inputs_names *names);

/* ---- inputs_folder.c ---- */

/* Appends the films of a folder, or a problem if there are none. */
bool inputs_folder(struct inputs_list *list, const char *folder, struct err *e);

#endif
