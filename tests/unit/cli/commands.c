#include "cli/cli.h"

/* In place of match/command.c, which lies above cli. */
const struct cli_command *const cli_commands[1];
const size_t cli_command_count = 0;
const struct option_row cli_command_rows[1];
