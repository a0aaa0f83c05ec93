/* outputs_gallery.h - the names of a gallery and its pages: for outputs.c. Any thread. */
#ifndef BARCODE_OUTPUTS_OUTPUTS_GALLERY_H
#define BARCODE_OUTPUTS_OUTPUTS_GALLERY_H

#include "outputs.h"

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

/*
 * Returns false if a film's output would have the path of the gallery: ERR_FAILED, the film's
 * problem.
 */
bool outputs_spare_gallery(const struct plan *plan, const struct output *output, struct err *e);

/* Returns false if the page of one film would replace a gallery: ERR_FAILED. */
bool outputs_keep_gallery(const struct output *output, struct err *e);

#endif
