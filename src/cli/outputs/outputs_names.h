/* outputs_names.h - the names of outputs that the program chooses: for outputs.c. Any thread. */
#ifndef BARCODE_OUTPUTS_OUTPUTS_NAMES_H
#define BARCODE_OUTPUTS_OUTPUTS_NAMES_H

#include "barcode/cli/outputs.h"

/* What follows the name of a film in a folder that films come from: as "film.png" media centres
 * would take it for the film's poster. */
#define OUTPUTS_SUFFIX "-barcode"

/* Returns true for a folder that exists or a path that ends in '/': the program chooses the names
 * in it. */
bool outputs_names_folder(const char *path);

/*
 * Returns true if names in this folder get OUTPUTS_SUFFIX, because films come from it. NULL is the
 * working directory where no option names it ("" and "." do): it counts only if it is an argument
 * itself, so that film.mkv gives film.png. With --name no folder counts.
 */
bool outputs_add_suffix(const struct options *o, const struct inputs *in, const char *folder);

/*
 * Fills output->path, made, below and chosen with film i's name in `folder` (as above) and this
 * ending. `picture` adds what distinguishes one picture of a film from another to a name without
 * --name: mode, shape, "poster". False: memory.
 */
bool outputs_choose_name(const struct options *o, const struct inputs *in, size_t i,
                         const char *folder, const char *ending, bool picture,
                         struct output *output, struct err *e);

#endif
