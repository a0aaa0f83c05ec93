/* cli_help.h - the text that -h prints. Private to cli/. */
#ifndef BARCODE_CLI_HELP_H
#define BARCODE_CLI_HELP_H

#include <argp.h>
#include <stdio.h>

/* A flag of struct argp_option in addition to argp's own: -h shows the option. */
#define CLI_COMMON (1 << 16)

/* The maximum number of options with that flag. */
enum { CLI_COMMON_LIMIT = 20 };

/* What argp prints for --help: usage, description and options. */
enum { CLI_HELP_WHOLE = ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC };

/* Prints the usage, the options of state->root_argp that have CLI_COMMON, and three examples. */
void cli_print_short_help(const struct argp_state *state, FILE *out);

#endif
