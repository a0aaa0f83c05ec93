/*
 * command.h - what commands have in common: parsing, and the sound of their films.
 *
 * A command's options are those of its own table and the common ones (cache, jobs, messages), which
 * are passed on to cli_parse. So they mean the same everywhere.
 */
#ifndef BARCODE_MATCH_COMMAND_LINE_H
#define BARCODE_MATCH_COMMAND_LINE_H

#include <argp.h>

#include "barcode/base/err.h"
#include "plan/inputs.h"
#include "plan/options.h"
#include "sound/film_sound.h"

enum {
    COMMAND_OWN = 1 << 14,   /* keys of a command's own options from here on; 'o' is one too */
    COMMAND_COMMON = 1 << 15 /* keys of options that are passed on to cli_parse */
};

struct command {
    const char *name, *args, *doc; /* as argp's args_doc and doc */
    /* ends in zeros; an option whose key is COMMAND_COMMON or more is passed on by its name */
    const struct argp_option *options;
    /* keeps an option of the command's own; argp's `arg` lives as long as argv */
    bool (*set)(void *user, int key, const char *arg, struct err *e);
};

/* What was parsed. */
struct command_line {
    char **word; /* the arguments that are no options; in argv */
    size_t words;
    char **common; /* [commons] options for cli_parse: "--jobs=3" */
    size_t commons, room;
};

enum command_result { COMMAND_RUN, COMMAND_ANSWERED, COMMAND_BAD };

/*
 * Parses argv, of which argv[1] is the command's name. `user` is passed to `set`. COMMAND_ANSWERED:
 * --help is printed. COMMAND_BAD: `e` is set. The caller calls command_line_free in any case.
 */
enum command_result command_parse(const struct command *c, int argc, char **argv, void *user,
                                  struct command_line *line, struct err *e);
void command_line_free(struct command_line *line);

/* A run of the batch (batch_run.h) that a command starts, and its films. */
struct command_batch {
    struct options options;
    struct inputs in;
    char **argv;  /* what `options` points into */
    char *folder; /* a temporary cache, or NULL */
};

/*
 * Sets b->options to those of `line` for the films film[films], and the further words extra[],
 * which ends in NULL (or is NULL): "-o", "a.png". With --no-cache, and where there is no cache, the
 * cache is a temporary folder, so that sound can be read from it (command_batch_close removes it).
 * Returns false with `e`. The caller calls command_batch_close in any case.
 */
bool command_batch_open(struct command_batch *b, const struct command_line *line, char *const *film,
                        size_t films, const char *const *extra, struct err *e);

/*
 * Runs the batch. What it writes is temporary, so without -v only its warnings are logged. Returns
 * its exit status, after which the caller must return at once if batch_run_is_worker().
 */
int command_batch_run(struct command_batch *b);

/* Loads the sound of film i if it is in the cache. The caller calls film_sound_free. */
bool command_batch_sound(const struct command_batch *b, size_t i, struct film_sound *sound);

/*
 * Opens a file that the batch has written into command_folder. The worker process may have been
 * taken over by a film: anything but a regular file is refused, and one of 256 MiB or more. Returns
 * NULL with ERR_FAILED.
 */
FILE *command_output(const char *path, size_t *bytes, struct err *e);

void command_batch_close(struct command_batch *b);

/* Makes a temporary folder. Returns its path, or NULL. */
char *command_folder(struct err *e);

/*
 * Removes the folder with its files, and frees *path and sets it to NULL. In a worker process the
 * folder stays. Does nothing if *path is NULL.
 */
void command_remove_folder(char **path);

int command_align(int argc, char **argv);
int command_find(int argc, char **argv);
extern const struct argp_option align_options[], find_options[];

#endif
