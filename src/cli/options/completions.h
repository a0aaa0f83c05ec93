/*
 * completions.h - shell completions, made from the table of options: what --generate prints. Any
 * thread.
 */
#ifndef BARCODE_OPTIONS_COMPLETIONS_H
#define BARCODE_OPTIONS_COMPLETIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

#include "barcode/base/err.h"

/*
 * Writes a completion script for `table`, which ends in zeros. `kind`: "complete-bash",
 * "complete-zsh" or "complete-fish". Hidden options are left out. False: ERR_USAGE for another
 * kind; whether `f` took it all is for the caller to ask.
 */
bool completions_write(const struct argp_option *table, const char *kind, FILE *f, struct err *e);

/*
 * The words that the value of an option may be, with a blank between two; "" where it may be
 * anything. Modes are the strips' names. `list` (may be NULL) gets true where several words may be
 * given with commas between them. The text lasts until the next call on this thread.
 */
const char *completions_words(const char *option, bool *list);

#endif
