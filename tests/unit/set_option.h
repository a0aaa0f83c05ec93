/* set_option.h - sets one option by its name, as the command line does. */
#ifndef BARCODE_TEST_SET_OPTION_H
#define BARCODE_TEST_SET_OPTION_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli_rows.h"

/* Sets an option in the room's struct. Returns false with `e`, which may be NULL. */
static inline bool set_in_room(const struct option_table *table, void *options, const char *name,
                               const char *value, struct err *e)
{
    for (const struct option_row *row = table->row; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return option_set(row, options, value, e);
    fprintf(stderr, "no option of the room has the name '%s'\n", name);
    abort();
}

/* The same with the options of all rooms; needs the room cli. */
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

/* The same with the options of a plan. */
static inline bool set_in_plan(struct plan *plan, const char *name, const char *value,
                               struct err *e)
{
    struct options all = {.plan = *plan};
    bool ok = set_option(&all, name, value, e);
    *plan = all.plan;
    return ok;
}

#endif
