/* cli_modes.h - what --help says of -m. */
#ifndef BARCODE_CLI_MODES_H
#define BARCODE_CLI_MODES_H

/* The strips of the table, the default first; the caller frees. NULL when memory runs out. Any thread. */
char *cli_modes_help(void);

#endif
