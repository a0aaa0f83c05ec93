/*
 * inputs_names.h - what names say of films and folders: inputs.c's, for outputs.c as well. Any
 * thread.
 */
#ifndef BARCODE_INPUTS_INPUTS_NAMES_H
#define BARCODE_INPUTS_INPUTS_NAMES_H

#include "barcode/cli/inputs.h"

/* True for a name with an ending of films. */
bool inputs_is_film_name(const char *name);

bool inputs_is_folder(const char *path);

/* The number of entries that are films, not problems that stand for a folder or stdin. */
size_t inputs_films(const struct inputs *in);

#endif
