/*
 * command.h - what commands have in common: parsing, their films, and the sound of these.
 *
 * A command's options are those of its own table and the common ones (cache, jobs, messages), which
 * are passed on to cli_parse. So they mean the same everywhere.
 */
#ifndef BARCODE_MATCH_COMMAND_H
#define BARCODE_MATCH_COMMAND_H

#include <argp.h>

#include "barcode/base/err.h"
#include "batch/batch.h"
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

/* The films of a command, and the options with which they are read. */
struct command_films {
    struct options options;
    struct inputs in;
    char **argv;  /* what `options` points into */
    char *folder; /* a temporary cache, or NULL */
};

/*
 * Lists the films word[words], with the options of `line`; f->options asks for their sound only.
 * With --no-cache, and where there is no cache, the cache is a temporary folder, so that sound can
 * be read from it (command_films_close removes it). Returns false with `e`. The caller calls
 * command_films_close in any case.
 */
bool command_films_open(struct command_films *f, const struct command_line *line, char *const *word,
                        size_t words, bool recursive, struct err *e);

/*
 * Renders films that are listed (batch_render), and logs only its warnings without -v: its outputs
 * are not the user's. Returns the exit status, after which the caller must return at once if
 * batch_run_is_worker().
 */
int command_films_render(struct options *o, const struct inputs *in, const struct batch_sink *sink);

/* Loads the sound of film i if it is in the cache. The caller calls film_sound_free. */
bool command_films_sound(const struct command_films *f, size_t i, struct film_sound *sound);

/* In a worker process the temporary cache stays. */
void command_films_close(struct command_films *f);

int command_align(int argc, char **argv);
int command_find(int argc, char **argv);
extern const struct argp_option align_options[], find_options[];

#endif
