/*
 * match.h - `barcode align ...` and `barcode find ...`: commands with options of their own,
 * and what they have in common: their films, and the sound of these.
 */
#ifndef BARCODE_MATCH_H
#define BARCODE_MATCH_H

#include "barcode/base/err.h"
#include "batch/batch.h"
#include "cli/cli.h"
#include "plan/inputs.h"
#include "sound/film_sound.h"

/* The commands; ends in NULL. */
extern const struct cli_command *const match_commands[];

/*
 * Runs the command that argv[1] names, and sets *status to its exit status. Returns false and does
 * nothing if argv[1] is no command. Reports all errors. Call interrupt_open_standard before. May
 * reorder argv, and may return in worker processes (batch.h). Main thread only.
 */
bool command_run(int argc, char **argv, int *status);

/* ---- For the commands themselves ---- */

extern const struct cli_command align_command, find_command;

/* The films of a command, and the options with which they are read. */
struct command_films {
    struct options options;
    struct inputs in;
    char *folder; /* a temporary cache, or NULL */
};

/*
 * Lists the films word[words], with the options `o`; f->options asks for their sound only.
 * With --no-cache, and where there is no cache, the cache is a temporary folder, so that sound can
 * be read from it (command_films_close removes it). Returns false with `e`. The caller calls
 * command_films_close in any case.
 */
bool command_films_open(struct command_films *f, const struct options *o, char **word, size_t words,
                        bool recursive, struct err *e);

/*
 * Renders the films (batch_render) by `plan`, which is that of f->options or a changed copy.
 * `quiet`: without -v it logs only warnings, because the outputs are not the user's. Returns the
 * exit status, after which the caller must return at once if batch_is_worker().
 */
int command_films_render(const struct command_films *f, const struct plan *plan, bool quiet,
                         const struct batch_sink *sink);

/* Loads the sound of film i if it is in the cache. The caller calls film_sound_free. */
bool command_films_sound(const struct command_films *f, size_t i, struct film_sound *sound);

/* In a worker process the temporary cache stays. */
void command_films_close(struct command_films *f);

#endif
