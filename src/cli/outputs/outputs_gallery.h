/* outputs_gallery.h - the names of a gallery and its pages, for outputs.c. Any thread. */
#ifndef BARCODE_OUTPUTS_OUTPUTS_GALLERY_H
#define BARCODE_OUTPUTS_OUTPUTS_GALLERY_H

#include "barcode/cli/outputs.h"

/* True if `path` names a gallery of this writer's files: FOLDER/index.ENDING, of several films or
 * of a folder, however many films that has. */
bool outputs_names_gallery(const struct options *o, const struct writer *w, const char *path);

/* The folder of a gallery's path, as path_join takes it; the caller frees. NULL: memory. */
char *outputs_gallery_folder(const char *path, struct err *e);

/* False where a film's file would be the gallery itself: ERR_FAILED, the film's problem. */
bool outputs_spare_gallery(const struct options *o, const struct output *output, struct err *e);

#endif
