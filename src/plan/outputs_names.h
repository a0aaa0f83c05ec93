/* outputs_names.h - the names of outputs and what options say of them: for outputs.c. Any thread. */
#ifndef BARCODE_OUTPUTS_OUTPUTS_NAMES_H
#define BARCODE_OUTPUTS_OUTPUTS_NAMES_H

#include "outputs.h"

/*
 * The suffix of output names in a folder that contains films. Media centres would use "film.png" as
 * the film's poster.
 */
#define OUTPUTS_SUFFIX "-barcode"

/* Returns true if the program chooses the names of -o's outputs. */
bool outputs_are_chosen(const struct outputs_options *o);

/* Returns true if pictures are made: other outputs suppress them without -o or --poster. */
bool outputs_have_pictures(const struct plan *plan);

/*
 * Returns true if names in this folder get OUTPUTS_SUFFIX, because films come from it. NULL is the
 * working directory if no option names it ("" and "." do). It counts only if it is an argument
 * itself, so film.mkv gives film.png. With --name no folder counts.
 */
bool outputs_add_suffix(const struct outputs_options *o, const struct inputs *in,
                        const char *folder);

/*
 * Sets the name of an output beside the film (writer.beside): the film's name without its ending,
 * or that of its first file. Fails with ERR_FAILED if the film is no file.
 */
bool outputs_name_beside(const struct plan *plan, const struct inputs *in, size_t i,
                         struct output *output, struct err *e);

/*
 * Returns true if `path` names a gallery of this writer's files: FOLDER/index.ENDING, and the input
 * is several films or a folder with any number of films, or the file is a gallery already.
 */
bool outputs_names_gallery(const struct plan *plan, const struct writer *w, const char *path);

/*
 * Returns the folder part of a gallery's path, in the form that path_join takes. The caller frees
 * it. Returns NULL if out of memory.
 */
char *outputs_gallery_folder(const char *path, struct err *e);

#endif
