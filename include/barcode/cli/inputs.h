/*
 * inputs.h - which films, and the stems of what their outputs are called.
 */
#ifndef BARCODE_INPUTS_H
#define BARCODE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "barcode/cli/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the disk said of a film when the list was made: it is asked once, for there may be many
 * thousands. */
struct input_file {
    bool regular; /* false: a pipe, or not there; the rest but `absent` is 0 */
    bool absent;  /* the disk has no such path, or does not let it be seen */
    uint64_t device, inode;
    uint64_t bytes;
    int64_t modified_ns; /* since 1970 */
};

/* A folder that films come from. */
struct input_folder {
    uint64_t device, inode;
    bool named; /* an argument, or with -r below one; false: only films in it are arguments */
};

/* Whether an entry is this run's to do. */
enum input_duty {
    INPUT_TO_DO,    /* a film to be rendered, or a problem to be told */
    INPUT_LEFT_OUT, /* --update: its outputs are there */
    INPUT_OTHERS    /* --shard: another process does it */
};

struct inputs {
    /*
     * films in order: arguments as given; a folder's films by name (path_order), then those of the
     * folders in it
     */
    char **path;
    /*
     * for each: the output name without ending, unique in this run; with -r "FOLDER/NAME", as the
     * film lies below the folder that was named. NULL: the entry is no film
     */
    char **stem;
    /* for each: why it cannot be rendered, as far as is known before opening it; mostly ERR_NONE */
    struct err *problem;
    struct input_file *file;
    enum input_duty *duty;
    size_t count;
    struct input_folder *folder;
    size_t folders;
};

/*
 * Expands folders (regular files with a film's ending, with --any of any ending but those that
 * barcode made; no hidden ones; with -r the folders below, too) and names outputs. A folder without
 * films, or one that cannot be read, becomes one entry with a problem (ERR_INPUT), so that the
 * other films are still rendered. A folder that leads back to one above it is left out with a
 * warning. A path that does not exist is kept: opening it says so later. "" is refused (ERR_USAGE),
 * and without -o so is the name of an output beside a film ("film.mp4 out.png"), unless it is an
 * animated PNG that barcode did not make. So is a second word that does not exist and is not called
 * like a film ("film.mp4 out.jpg"). "-" becomes /dev/stdin; where that is closed (ERR_INPUT), a
 * terminal, or named twice without being a file (ERR_USAGE), it is an entry with a problem too.
 * Stems are the file's name without its last ending; a second equal stem
 * becomes "stem-2". A --name without {stem} is the stem itself, and a second equal one is refused
 * (ERR_USAGE).
 * On success the caller calls inputs_free(); on failure (ERR_INTERRUPTED among others)
 * `in` is empty. Main thread.
 */
bool inputs_expand(const struct options *o, struct inputs *in, struct err *e);

/* True for a film that this run is to render. Any thread. */
bool inputs_is_due(const struct inputs *in, size_t i);

void inputs_free(struct inputs *in);

#ifdef __cplusplus
}
#endif
#endif
