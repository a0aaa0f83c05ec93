/* cli_rows.h - the options of all rooms in one list. Private to cli/ and its tests. */
#ifndef BARCODE_CLI_ROWS_H
#define BARCODE_CLI_ROWS_H

#include "cli.h"

enum { CLI_ROWS_MOST = 128 };

/* An option of a command line. */
struct cli_row {
    struct option_row row;
    void *options;     /* the struct of its room; NULL for OPTION_ANSWER */
    const char *given; /* its last value, "" if it has none; NULL: not given */
};

struct cli_rows {
    size_t count;
    struct cli_row at[CLI_ROWS_MOST]; /* by group */
};

/* Lists the options of films: of `o`, which may be NULL. */
void cli_rows_of_films(struct cli_rows *rows, struct options *o);

/* Lists the options of a command: its own ones of `own`, the others of `o`. Both may be NULL. */
void cli_rows_of_command(struct cli_rows *rows, const struct cli_command *c, void *own,
                         struct options *o);

/* Sets all options to their defaults. */
void cli_set_defaults(struct options *o);

/* Return the option with this letter, or with this name of `length` bytes, or NULL. */
struct cli_row *cli_row_by_letter(struct cli_rows *rows, char letter);
struct cli_row *cli_row_by_name(struct cli_rows *rows, const char *name, size_t length);

/* Returns the value of an option as it was given, "" if it has none; NULL: not given. */
const char *cli_given(const struct cli_rows *rows, const char *name);

/*
 * Checks options together, and completes them (cli_complete). `rows` says which were given; NULL:
 * none.
 */
bool cli_check(struct options *o, const struct cli_rows *rows, struct err *e);

/*
 * Writes a completion script for the options and `commands` (cli_parse), without hidden ones.
 * `kind` is "complete-bash", "complete-zsh" or "complete-fish"; for any other, returns false with
 * ERR_USAGE. The caller checks `f` for write errors.
 */
bool cli_write_completions(const char *kind, const struct cli_command *const *commands, FILE *f,
                           struct err *e);

#endif
