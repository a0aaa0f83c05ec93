#include "inputs_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "barcode/base/clock.h"
#include "base/hash.h"
#include "base/path.h"

/* ---- Names ---- */

/* Returns the slot of the name, or the empty slot for it. */
static size_t *find_slot(const struct inputs_names *names, char *const *stem, const char *name)
{
    size_t at = (size_t)hash_64(name, strlen(name)) & (names->slots - 1);
    while (names->slot[at] && strcmp(stem[names->slot[at] - 1], name) != 0)
        at = (at + 1) & (names->slots - 1);
    return &names->slot[at];
}

/* Makes room for one more name: at most half of the slots are used. */
static bool grow_names(struct inputs_names *names, char *const *stem, struct err *e)
{
    if (names->slots > 2 * names->used)
        return true;
    struct inputs_names more = {.slots = names->slots ? 2 * names->slots : 64, .used = names->used};
    more.slot = calloc(more.slots, sizeof *more.slot);
    if (!more.slot)
        return err_memory(e, more.slots * sizeof *more.slot);
    for (size_t i = 0; i < names->slots; i++)
        if (names->slot[i])
            *find_slot(&more, stem, stem[names->slot[i] - 1]) = names->slot[i];
    free(names->slot);
    *names = more;
    return true;
}

void inputs_names_free(struct inputs_names *names)
{
    free(names->slot);
    *names = (struct inputs_names){.slots = 0};
}

/*
 * Returns the output name if --name has no {stem}: the name itself, in the film's folder. Returns
 * NULL on failure.
 */
static char *make_fixed(struct inputs_list *list, const char *path, const char *below,
                        struct err *e)
{
    const char *name = list->fixed_name;
    char *stem = grow_names(&list->names, list->in->stem, e) ? path_join(below, name, "", e) : NULL;
    if (!stem)
        return NULL;
    size_t *slot = find_slot(&list->names, list->in->stem, stem);
    if (*slot) {
        err_set(e, ERR_USAGE,
                "--name '%s': '%s' and '%s' would have the same name; put " OUTPUTS_NAME_STEM
                " into it",
                name, list->in->path[*slot - 1], path);
        free(stem);
        return NULL;
    }
    *slot = list->in->count + 1;
    list->names.used++;
    return stem;
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
    char *stem = grow_names(&list->names, list->in->stem, e) ? malloc(bytes) : NULL;
    if (!stem) {
        err_memory(e, bytes);
        return NULL;
    }
    size_t used = (size_t)snprintf(stem, bytes, "%s%.*s", below, (int)length, name), *slot;
    for (size_t n = 2; *(slot = find_slot(&list->names, list->in->stem, stem)); n++)
        snprintf(stem + used, bytes - used, "-%zu", n);
    *slot = list->in->count + 1;
    list->names.used++;
    return stem;
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
