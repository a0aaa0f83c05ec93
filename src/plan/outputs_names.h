/* outputs_names.h - names of outputs, and what options say of them: for outputs.c. Any thread. */
#ifndef BARCODE_OUTPUTS_OUTPUTS_NAMES_H
#define BARCODE_OUTPUTS_OUTPUTS_NAMES_H

#include "outputs.h"

/*
 * The suffix of output names in a folder that contains films. Media centres would use "film.png" as
 * the film's poster.
 */
#define OUTPUTS_SUFFIX "-barcode"

/*
 * Names the outputs of film `i`, unless they are. Fails with ERR_USAGE if several films share
 * -o FILE or "-", and if several pictures share "-" or one --name.
 */
bool outputs_name(struct output_plan *o, const struct inputs *in, size_t i, struct err *e);

/*
 * Sets the name of an output beside the film (writer.beside): the film's name without its ending,
 * or that of its first file. With --trickplay-dir, the film's stem in that folder. Fails with
 * ERR_FAILED if the film is no file.
 */
bool outputs_name_beside(const struct plan *plan, const struct inputs *in, size_t i,
                         struct output *output, struct err *e);

#endif
