/* inputs_names.h - names of films and folders: for inputs.c and outputs.c. Any thread. */
#ifndef BARCODE_INPUTS_INPUTS_NAMES_H
#define BARCODE_INPUTS_INPUTS_NAMES_H

#include "inputs.h"

/* Returns true if the name has a film's ending. */
bool inputs_is_film_name(const char *name);

bool inputs_is_folder(const char *path);

/* Returns the number of entries that are films. The others are problems of a folder or of stdin. */
size_t inputs_films(const struct inputs *in);

#endif
