/*
 * cli_explain.h - what is wrong with a command line. argp only says that some word was bad; getopt, which knows the reason, can
 * only print it in words of its own. So the reason is found once more, by getopt's rules. Any thread.
 */
#ifndef BARCODE_CLI_EXPLAIN_H
#define BARCODE_CLI_EXPLAIN_H

#include <argp.h>

#include "barcode/err.h"

/* The option of the table, which ends in zeros, that has this key; NULL: none. */
const struct argp_option *cli_find_key(const struct argp_option *table, int key);

/* Writes the sentence (ERR_USAGE) for words that argp did not take. */
void cli_explain(const struct argp_option *table, int argc, char **argv, struct err *e);

#endif
