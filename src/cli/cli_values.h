/* cli_values.h - parses numbers. */
#ifndef BARCODE_OPTIONS_CLI_VALUES_H
#define BARCODE_OPTIONS_CLI_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Parses `text`, decimal digits only, as a number from `least` to `most`. Returns false if it is
 * not one. Any thread.
 */
bool cli_read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value);

/*
 * Parses the `length` bytes at `text` as a number from 0 to `most` with two decimals at most, into
 * hundredths. Returns false if they are none. Pure; any thread.
 */
bool cli_read_hundredths(const char *text, size_t length, uint64_t most, int *value);

#endif
