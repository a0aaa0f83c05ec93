/* completions.h - shell completions from the table of options, for --generate. Any thread. */
#ifndef BARCODE_OPTIONS_COMPLETIONS_H
#define BARCODE_OPTIONS_COMPLETIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "barcode/base/err.h"

/*
 * Writes a completion script for `table`, which ends in zeros. `kind` is "complete-bash",
 * "complete-zsh" or "complete-fish"; for any other, returns false with ERR_USAGE. Hidden options
 * are omitted. The caller checks `f` for write errors.
 */
bool completions_write(const struct argp_option *table, const char *kind, FILE *f, struct err *e);

/*
 * Returns the values of an option, separated by blanks, or "" if any value is allowed. Sets `*list`
 * (may be NULL) to true if several values may be given, separated by commas. The text is valid
 * until the next call on this thread.
 */
const char *completions_words(const char *option, bool *list);

#endif
