#include "inputs_list.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "barcode/base/clock.h"
#include "base/path.h"

/* ---- Names ---- */

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

static bool is_used(const struct inputs_list *list, const char *stem)
{
    return tfind(stem, &list->names, by_text) != NULL;
}

/* Takes a name. Frees it and returns NULL if out of memory. */
static char *use_name(struct inputs_list *list, char *stem, struct err *e)
{
    if (tsearch(stem, &list->names, by_text))
        return stem;
    err_memory(e, strlen(stem));
    free(stem);
    return NULL;
}

static void keep_stem(void *stem) { (void)stem; }

void inputs_names_free(struct inputs_list *list) { tdestroy(list->names, keep_stem); }

/*
 * Returns the output name if --name has no {stem}: the name itself, in the film's folder. Returns
 * NULL on failure.
 */
static char *make_fixed(struct inputs_list *list, const char *path, const char *below,
                        struct err *e)
{
    const struct inputs *in = list->in;
    const char *name = list->fixed_name;
    char *stem = path_join(below, name, "", e);
    if (!stem || !is_used(list, stem))
        return stem ? use_name(list, stem, e) : NULL;
    size_t i = 0;
    while (!in->stem[i] || strcmp(in->stem[i], stem) != 0)
        i++;
    err_set(e, ERR_USAGE,
            "--name '%s': '%s' and '%s' would have the same name; put " OUTPUTS_NAME_STEM
            " into it",
            name, in->path[i], path);
    free(stem);
    return NULL;
}

/*
 * Returns a new output name for a film's path, different from all stems in the list. Returns NULL
 * if out of memory.
 */
static char *make_stem(struct inputs_list *list, const char *path, const char *below, struct err *e)
{
    size_t length;
    const char *name = path_last(path, &length);
    for (size_t i = length; i > 1; i--) {
        if (name[i - 1] == '.') {
            length = i - 1;
            break;
        }
    }
    size_t bytes = strlen(below) + length + 24; /* for "-" and any size_t */
    char *stem = malloc(bytes);
    if (!stem) {
        err_memory(e, bytes);
        return NULL;
    }
    size_t used = (size_t)snprintf(stem, bytes, "%s%.*s", below, (int)length, name);
    for (size_t n = 2; is_used(list, stem); n++)
        snprintf(stem + used, bytes - used, "-%zu", n);
    return use_name(list, stem, e);
}

/* ---- The list ---- */

/* Makes room for one more entry. On failure inputs_free() frees the arrays that grew already. */
static bool grow(struct inputs *in, struct err *e)
{
    size_t n = in->count ? 2 * in->count : 1;
    if (in->count & (in->count - 1)) /* there is room up to the next power of two */
        return true;
    return err_reserve(&in->path, n, &(size_t){0}, sizeof *in->path, e) &&
           err_reserve(&in->parts, n, &(size_t){0}, sizeof *in->parts, e) &&
           err_reserve(&in->stem, n, &(size_t){0}, sizeof *in->stem, e) &&
           err_reserve(&in->problem, n, &(size_t){0}, sizeof *in->problem, e) &&
           err_reserve(&in->file, n, &(size_t){0}, sizeof *in->file, e) &&
           err_reserve(&in->duty, n, &(size_t){0}, sizeof *in->duty, e);
}

static struct input_file look_at(const char *path)
{
    struct stat s;
    bool absent = stat(path, &s) != 0;
    if (absent || !S_ISREG(s.st_mode))
        return (struct input_file){.regular = false, .absent = absent};
    return (struct input_file){.regular = true,
                               .device = (uint64_t)s.st_dev,
                               .inode = (uint64_t)s.st_ino,
                               .bytes = (uint64_t)s.st_size,
                               .modified_ns = clock_in_ns(s.st_mtim)};
}

/* Returns the metadata of all parts together. */
static struct input_file look_at_parts(const struct film_parts *parts)
{
    struct input_file all = look_at(parts->part[0].path);
    for (size_t i = 1; i < parts->count; i++) {
        struct input_file part = look_at(parts->part[i].path);
        all.regular &= part.regular;
        all.absent |= part.absent;
        all.bytes += part.bytes;
        all.modified_ns = part.modified_ns > all.modified_ns ? part.modified_ns : all.modified_ns;
    }
    return all.regular ? all : (struct input_file){.regular = false, .absent = all.absent};
}

bool inputs_list_parts(struct inputs_list *list, char *path, struct film_parts *parts,
                       const char *named, const char *below, struct err *e)
{
    struct inputs *in = list->in;
    char *stem = NULL;
    if (grow(in, e))
        stem =
            list->fixed_name ? make_fixed(list, path, below, e) : make_stem(list, named, below, e);
    if (!stem) {
        free(path);
        film_parts_free(&parts);
        return false;
    }
    in->path[in->count] = path;
    in->parts[in->count] = parts;
    in->stem[in->count] = stem;
    in->file[in->count] = parts ? look_at_parts(parts) : look_at(path);
    in->duty[in->count] = INPUT_TO_DO;
    in->problem[in->count++] = (struct err)ERR_INIT;
    return true;
}

bool inputs_list_problem(struct inputs_list *list, const char *path, const struct err *problem,
                         struct err *e)
{
    struct inputs *in = list->in;
    char *copy = strdup(path);
    if (!copy)
        return err_memory(e, strlen(path) + 1);
    if (!grow(in, e)) {
        free(copy);
        return false;
    }
    in->path[in->count] = copy;
    in->parts[in->count] = NULL;
    in->stem[in->count] = NULL;
    in->file[in->count] = (struct input_file){.regular = false};
    in->duty[in->count] = INPUT_TO_DO;
    in->problem[in->count++] = *problem;
    return true;
}

bool inputs_list_folder(struct inputs_list *list, const struct input_folder *folder, struct err *e)
{
    struct inputs *in = list->in;
    for (size_t i = 0; i < in->folders; i++) {
        if (in->folder[i].device != folder->device || in->folder[i].inode != folder->inode)
            continue;
        in->folder[i].named |= folder->named;
        return true;
    }
    if ((in->folders & (in->folders - 1)) == 0 &&
        !err_reserve(&in->folder, in->folders ? 2 * in->folders : 1, &(size_t){0},
                     sizeof *in->folder, e))
        return false;
    in->folder[in->folders++] = *folder;
    return true;
}
