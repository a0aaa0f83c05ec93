/* cli_values.h - numbers on the command line. */
#ifndef BARCODE_OPTIONS_CLI_VALUES_H
#define BARCODE_OPTIONS_CLI_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* Reads decimal digits and nothing else as a number from `least` to `most`. False: `text` is not
 * one. Any thread. */
bool cli_read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value);

#endif
