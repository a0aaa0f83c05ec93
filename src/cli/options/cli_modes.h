/* cli_modes.h - modes: what --help says of -m, and what -m comes to. */
#ifndef BARCODE_OPTIONS_CLI_MODES_H
#define BARCODE_OPTIONS_CLI_MODES_H

#include "barcode/cli/options.h"

/* The strips of the table, the default first; the caller frees. NULL when memory runs out. Any
 * thread. */
char *cli_modes_help(void);

/* Fills o->computed from o->strip, and ends the race where one of them wants it. After the last
 * option. */
void cli_finalize_modes(struct options *o);

#endif
