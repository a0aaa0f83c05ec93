/* match.h - `barcode align ...` and `barcode find ...`: commands with options of their own. */
#ifndef BARCODE_MATCH_H
#define BARCODE_MATCH_H

#include "cli/cli.h"

/* The commands; ends in NULL. */
extern const struct cli_command *const match_commands[];

/*
 * Runs the command that argv[1] names, and sets *status to its exit status. Returns false and does
 * nothing if argv[1] is no command. Reports all errors. Call interrupt_open_standard before. May
 * reorder argv, and may return in worker processes (batch.h). Main thread only.
 */
bool command_run(int argc, char **argv, int *status);

#endif
