/*
 * cli_explain.h - checks the words of a command line before argp parses them. getopt would accept
 * abbreviations of long options, and argp only reports that some word is bad. Any thread.
 */
#ifndef BARCODE_CLI_EXPLAIN_H
#define BARCODE_CLI_EXPLAIN_H

#include <argp.h>
#include <stdbool.h>

#include "barcode/base/err.h"

/*
 * Returns the option with this key, or NULL. `table` ends in zeros. The option's name is NULL if it
 * has only a letter.
 */
const struct argp_option *cli_find_key(const struct argp_option *table, int key);

/*
 * Returns true if every option is in the table, is not abbreviated, and has a value if it needs
 * one. Otherwise returns false with ERR_USAGE and a suggestion. `is_answer` returns true for the
 * keys of --help and the like: the words after such an option are not checked.
 */
bool cli_check_words(const struct argp_option *table, bool (*is_answer)(int key), int argc,
                     char **argv, struct err *e);

#endif
