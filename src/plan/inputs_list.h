/*
 * inputs_list.h - builds the list of films: for inputs.c and the code that finds films. Main
 * thread.
 */
#ifndef BARCODE_INPUTS_INPUTS_LIST_H
#define BARCODE_INPUTS_INPUTS_LIST_H

#include "inputs.h"

/* A list under construction. Its owner calls inputs_names_free. */
struct inputs_list {
    struct inputs *in;
    const struct inputs_options *options;
    const char *fixed_name; /* --name without {stem}; NULL: outputs are named after the films */
    void *names;            /* the stems in use, a tree (search.h), so that none is used twice */
};

/*
 * Appends a film. Takes ownership of `path` (allocated) and of its `parts`, which has at least one
 * file, also on failure; NULL: one file. Its outputs are named after `named`, a path. `below` is
 * its folder relative to the folder argument: "" or a path that ends in a slash. Its outputs have
 * the same relative folder.
 */
bool inputs_list_parts(struct inputs_list *list, char *path, struct film_parts *parts,
                       const char *named, const char *below, struct err *e);

/*
 * Appends an argument or folder that gives no film, with the reason. The other films are still
 * rendered.
 */
bool inputs_list_problem(struct inputs_list *list, const char *path, const struct err *problem,
                         struct err *e);

/* Adds a folder that contains films. Adding the same folder again merges `named`. */
bool inputs_list_folder(struct inputs_list *list, const struct input_folder *folder, struct err *e);

/* Forgets which stems are in use, before the stems are freed. */
void inputs_names_free(struct inputs_list *list);

/* ---- inputs_folder.c ---- */

/* Appends the films of a folder, or a problem if there are none. */
bool inputs_folder(struct inputs_list *list, const char *folder, struct err *e);

/* --sequence: appends the images of a folder as one film, or a problem if it has none. */
bool inputs_sequence(struct inputs_list *list, const char *folder, struct err *e);

/* ---- inputs_parts.c ---- */

/* --join: appends the files of all arguments as one film. */
bool inputs_join(struct inputs_list *list, struct err *e);

/* Returns true for the pattern of image2, "img%04d.png", unless a file has that name. */
bool inputs_is_pattern(const char *path);

/* Appends the files of a pattern as one film, or a problem if there are none. */
bool inputs_pattern(struct inputs_list *list, const char *path, struct err *e);

/* Returns true if the name is that of an image. */
bool inputs_is_image_name(const char *name);

/* Sets the frame rate of parts that are images. ERR_INPUT if they have several formats. */
bool inputs_set_rate(const struct inputs_options *o, struct film_parts *parts, struct err *e);

/* Appends the film of a playlist of a Blu-ray or of AVCHD, or a problem. */
bool inputs_playlist(struct inputs_list *list, const char *path, struct err *e);

/* A clip of a playlist, and the section of it that is played, in microseconds. */
struct mpls_item {
    char name[8]; /* "00001" */
    int64_t start_us, end_us;
};

/*
 * Returns the number of clips in a playlist of `size` untrusted bytes, or 0 if it is none. Sets *at
 * to where the first one is described.
 */
size_t mpls_begin(const uint8_t *data, size_t size, size_t *at);

/* Reads the clip that is described at *at, and moves *at to the next. False if it is damaged. */
bool mpls_next(const uint8_t *data, size_t size, size_t *at, struct mpls_item *item);

/*
 * Finds the chapters of a camera's recording (GoPro) or the files of a DVD title. If `path` is one
 * of them, and others exist, sets *parts to all from the first to the last one: also missing ones,
 * which opening the film reports. Sets *place to the number of existing chapters before `path`.
 * Otherwise both are NULL and 0. Returns false if out of memory.
 */
bool inputs_chapters(const char *path, struct film_parts **parts, size_t *place, struct err *e);

#endif
