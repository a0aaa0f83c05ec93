/* cli_modes.h - modes: what --help says of -m, and what -m comes to. */
#ifndef BARCODE_CLI_MODES_H
#define BARCODE_CLI_MODES_H

#include "barcode/options.h"

/* The strips of the table, the default first; the caller frees. NULL when memory runs out. Any thread. */
char *cli_modes_help(void);

/* Fills o->computed from o->strip. */
void cli_add_computed(struct options *o);

#endif
