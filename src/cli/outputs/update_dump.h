/* update_dump.h - what --update knows of a dump, for outputs.c. Any thread. */
#ifndef BARCODE_OUTPUTS_UPDATE_DUMP_H
#define BARCODE_OUTPUTS_UPDATE_DUMP_H

#include "barcode/cli/outputs.h"

/*
 * True with --update where the dump of film `i` is there, and a picture, page or JSON beside it
 * says that it is this film's: then a run that was stopped before it had written everything may
 * replace it.
 */
bool update_knows_dump(const struct options *o, const struct inputs *in, size_t i,
                       const struct outputs *list);

#endif
