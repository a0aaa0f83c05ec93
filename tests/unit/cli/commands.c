#include "cli/cli.h"

/* In place of match/command.c, which lies above cli. */
const struct cli_command cli_commands[1];
const size_t cli_command_count = 0;
const struct argp_option cli_command_options[1];
