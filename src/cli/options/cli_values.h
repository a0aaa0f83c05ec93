/* cli_values.h - parses numbers. */
#ifndef BARCODE_OPTIONS_CLI_VALUES_H
#define BARCODE_OPTIONS_CLI_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Parses `text`, decimal digits only, as a number from `least` to `most`. Returns false if it is
 * not one. Any thread.
 */
bool cli_read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value);

#endif
