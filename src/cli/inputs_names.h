/*
 * inputs_names.h - what names say of films and folders: inputs.c's, for outputs.c as well. Any thread.
 */
#ifndef BARCODE_INPUTS_NAMES_H
#define BARCODE_INPUTS_NAMES_H

#include "barcode/inputs.h"

/* Does the name have an ending of films? */
bool inputs_is_film_name(const char *name);

/* "synth:...": a film without a file. */
bool inputs_is_synthetic(const char *path);

bool inputs_is_folder(const char *path);

/* Entries that are films, not folders without any. */
size_t inputs_films(const struct inputs *in);

/* The last part of a path and how long it is: "a/b.mkv" gives "b.mkv", "a/b/" gives "b". Points into `path`. */
const char *inputs_last_part(const char *path, size_t *length);

/* folder + "/" + name + tail, the caller's to free; no second slash. NULL when memory runs out. */
char *inputs_join(const char *folder, const char *name, const char *tail, struct err *e);

#endif
