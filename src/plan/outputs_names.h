/* outputs_names.h - output names that the program chooses: for outputs.c. Any thread. */
#ifndef BARCODE_OUTPUTS_OUTPUTS_NAMES_H
#define BARCODE_OUTPUTS_OUTPUTS_NAMES_H

#include "outputs.h"

/*
 * The suffix of output names in a folder that contains films. Media centres would use "film.png" as
 * the film's poster.
 */
#define OUTPUTS_SUFFIX "-barcode"

/*
 * Returns true for an existing folder or a path that ends in '/': the program chooses the names in
 * it.
 */
bool outputs_names_folder(const char *path);

/*
 * Returns true if names in this folder get OUTPUTS_SUFFIX, because films come from it. NULL is the
 * working directory if no option names it ("" and "." do). It counts only if it is an argument
 * itself, so film.mkv gives film.png. With --name no folder counts.
 */
bool outputs_add_suffix(const struct plan *plan, const struct inputs *in, const char *folder);

/*
 * Fills output->path, made, below and chosen: film i's name in `folder` (as above) with this
 * ending. If `picture` and without --name, adds what distinguishes the pictures of one film: mode,
 * shape, "poster". Returns false if out of memory.
 */
bool outputs_choose_name(const struct plan *plan, const struct inputs *in, size_t i,
                         const char *folder, const char *ending, bool picture,
                         struct output *output, struct err *e);

/*
 * Sets the name of an output beside the film (writer.beside): the film's name without its ending,
 * or that of its first file. Fails with ERR_FAILED if the film is no file.
 */
bool outputs_name_beside(const struct plan *plan, const struct inputs *in, size_t i,
                         struct output *output, struct err *e);

/*
 * Makes it a problem of a film that an earlier one has the same names beside it: "a.mkv" and
 * "a.mp4", or one film that is listed twice. Returns false if out of memory.
 */
bool outputs_check_beside(const struct plan *plan, struct inputs *in, struct err *e);
/* Fails with ERR_USAGE: -o names one file for several films. The message names what makes many. */
bool outputs_refuse_one_name(const char *output, const struct writer *w, size_t films,
                             struct err *e);

#endif
