/*
 * cli_explain.h - checks the words of a command line before argp reads them. getopt takes
 * abbreviations of long options, and argp only says that some word was bad. Any thread.
 */
#ifndef BARCODE_OPTIONS_CLI_EXPLAIN_H
#define BARCODE_OPTIONS_CLI_EXPLAIN_H

#include <argp.h>
#include <stdbool.h>

#include "barcode/base/err.h"

/*
 * Returns the option of the table (which ends in zeros) that has this key, or NULL. The option has
 * no name if it has a letter alone.
 */
const struct argp_option *cli_find_key(const struct argp_option *table, int key);

/*
 * Returns true if every option is one of the table, written out, with a value if it needs one.
 * False: ERR_USAGE, with a suggestion. `is_answer` is true for the keys of --help and the like:
 * words behind these are not checked.
 */
bool cli_check_words(const struct argp_option *table, bool (*is_answer)(int key), int argc,
                     char **argv, struct err *e);

#endif
