/*
 * cli.h - parses the command line. Parsing, help, the man page and the completions come from the
 * tables of options of the rooms (base/option.h).
 */
#ifndef BARCODE_CLI_H
#define BARCODE_CLI_H

#include "base/process_options.h"
#include "batch/batch_options.h"
#include "engine/engines.h"
#include "live/live_options.h"
#include "plan/plan.h"

/* The parsed and checked command line: the options of all rooms. */
struct options {
    struct plan plan;
    struct engine_options engine;
    struct live_run_options live;
    struct process_options process;
    struct batch_options batch;
};

enum cli_result {
    CLI_RUN,  /* the options are set */
    CLI_DONE, /* the answer to --help, --usage, --version or the like is printed */
    /*
     * `e` is set. ERR_USAGE, ERR_ENGINE for an engine that this build lacks, or ERR_FAILED if the
     * answer cannot be written.
     */
    CLI_BAD
};

/* A command, such as `barcode align`. */
struct cli_command {
    const char *name, *what; /* `what` is a line for completions */
    int (*run)(int argc, char **argv);
    const char *args, *doc; /* of --help, as argp's args_doc and doc */
    /*
     * Its rows, which end in zeros. A row without a field and without `set` is an option of films
     * (cli_parse) by that name. Groups are numbers from 1, with headings (NULL: none).
     */
    const struct option_row *row;
    const char *heading[3];
};

/*
 * Parses the command line into `*o` and sets the log level (-q, -v, -vv). `*o` points into argv.
 * Reorders argv: options come first. Completions name `commands`, which end in NULL; NULL: there
 * are none. `e` must be empty; on CLI_BAD the caller prints it. Never exits. Main thread only.
 */
enum cli_result cli_parse(int argc, char **argv, const struct cli_command *const *commands,
                          struct options *o, struct err *e);

/*
 * Parses the command line of a command: argv[1] is its name. Its own options are set in `own`,
 * those of films in `*o`, whose inputs.argument are the words. Otherwise as cli_parse, but `*o` is
 * not checked: see cli_complete.
 */
enum cli_result cli_parse_command(const struct cli_command *c, int argc, char **argv, void *own,
                                  struct options *o, struct err *e);

/* Writes three lines of usage to stderr, for a command line without a word. Returns the status. */
int cli_usage(void);

/*
 * Checks options together and completes what depends on several, as the size of the picture.
 * Returns false with ERR_USAGE.
 */
bool cli_complete(struct options *o, struct err *e);

#endif
