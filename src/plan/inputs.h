/* inputs.h - the list of films, and the stems of their output names. */
#ifndef BARCODE_INPUTS_H
#define BARCODE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/film_id.h"
#include "inputs_options.h"
#include "outputs_options.h"

/*
 * Metadata of a film's file, or of all its parts together, from when the list was made. Each file
 * is queried once, because there may be thousands.
 */
struct input_file {
    /* false: not a regular file, or missing; all other fields but `absent` are then 0 */
    bool regular;
    bool absent; /* the path does not exist or cannot be accessed */
    uint64_t device, inode;
    uint64_t bytes;
    int64_t modified_ns; /* since 1970 */
};

/* A folder that contains input films. */
struct input_folder {
    uint64_t device, inode;
    /*
     * the folder is an argument, or with -r lies below one; false: only films in it are arguments
     */
    bool named;
};

/* Whether this process renders an entry. */
enum input_duty {
    INPUT_TO_DO,    /* render the film, or report its problem */
    INPUT_LEFT_OUT, /* --update: its outputs exist */
    INPUT_FAILED,   /* --update: it failed before and is unchanged */
    INPUT_OTHERS    /* --shard: another process renders it */
};

struct inputs {
    /*
     * the films in order: arguments as given; the films of a folder by name (path_order), then
     * those of its subfolders
     */
    char **path;
    struct film_parts **parts; /* for each: its files, if it is a film in several files; or NULL */
    /*
     * for each: the output name without its ending, unique in the list. With -r it is
     * "FOLDER/NAME", relative to the folder argument. NULL: the entry is not a film
     */
    char **stem;
    /*
     * for each: why it cannot be rendered, as far as that is known before it is opened; mostly
     * ERR_NONE
     */
    struct err *problem;
    struct input_file *file;
    enum input_duty *duty;
    size_t count;
    struct input_folder *folder;
    size_t folders;
};

/*
 * Lists the films of all arguments and names their outputs.
 *
 * Folders are expanded to their regular files with a film's ending. With --any the ending does not
 * matter, but files that barcode made are skipped. Hidden files are skipped. With -r subfolders are
 * included. A subfolder that leads back to one of its parents is skipped with a warning.
 *
 * Problems that let the other films go on become an entry with `problem` set. They are a folder
 * without films or one that cannot be read (ERR_INPUT); a closed stdin (ERR_INPUT); stdin that is a
 * terminal, or that is named twice and is not a file (ERR_USAGE). A path that does not exist is
 * kept: opening it reports the error. "-" becomes /dev/stdin.
 *
 * Arguments that make the call fail with ERR_USAGE: "", and without -o also an output's name
 * beside a film ("film.mp4 out.png"). An animated PNG that barcode did not make is a film. A second
 * and last argument also fails if it does not exist and has no film's ending ("film.mp4 out.jpg").
 * --rate fails if no film consists of images.
 *
 * A stem is the file name without its last ending; a repeated stem becomes "stem-2". A --name
 * without {stem} is itself the stem; a repeated one fails with ERR_USAGE.
 *
 * On success the caller calls inputs_free(). On failure (also ERR_INTERRUPTED, or out of memory)
 * `*in` is empty. Main thread only.
 */
bool inputs_expand(const struct inputs_options *o, const struct outputs_options *outputs,
                   struct inputs *in, struct err *e);

/* Returns true if this process must render the film. Any thread. */
bool inputs_is_due(const struct inputs *in, size_t i);

/*
 * Returns the name of a film in tables, a part of `path`: its path in the absolute folder that alone
 * was given, else the path as given. Any thread.
 */
const char *inputs_table_name(const struct inputs_options *o, const char *path);

void inputs_free(struct inputs *in);

/* Returns true if the name has a film's ending. */
bool inputs_is_film_name(const char *name);

bool inputs_is_folder(const char *path);

/* Returns the number of entries that are films. The others are problems of a folder or of stdin. */
size_t inputs_films(const struct inputs *in);

#endif
