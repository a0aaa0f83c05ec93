/* set_option.h - sets one option by its name, as the command line does. */
#ifndef BARCODE_TEST_SET_OPTION_H
#define BARCODE_TEST_SET_OPTION_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_rows.h"

/* Returns false with `e`, which may be NULL, if `value` is none of this option. */
static inline bool set_option(struct options *o, const char *name, const char *value, struct err *e)
{
    struct cli_rows rows;
    cli_rows_of_films(&rows, o);
    const struct cli_row *found = cli_row_by_name(&rows, name, strlen(name));
    if (!found) {
        fprintf(stderr, "no option has the name '%s'\n", name);
        abort();
    }
    return option_set(&found->row, found->options, value, e);
}

#endif
