#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/path.h"
#include "output/run_files.h"
#include "output/writer.h"
#include "inputs_list.h"
#include "inputs.h"

/* A folder between the folder argument and the current one. */
struct level {
    const struct level *up;   /* NULL: the folder argument */
    const char *path, *below; /* `below`: see inputs_list_parts */
    dev_t device;
    ino_t inode;
};

static int select_shown(const struct dirent *d) { return d->d_name[0] != '.'; }

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return path_order((*a)->d_name, (*b)->d_name);
}

/*
 * Returns true for a file that barcode made. With --any its pictures and the report would otherwise
 * be films the next time.
 */
static bool is_output(const char *path)
{
    char film[FILM_ID_TEXT];
    if (report_log_made(path))
        return true;
    for (size_t i = 0; i < writer_count; i++)
        if (writer_made(writer_table[i], path, film))
            return true;
    return false;
}

/*
 * Returns true for a film: a regular file, or one for which stat() fails, because opening it
 * reports the error. Folders, pipes, sockets and devices in a folder are never films, whatever
 * their names.
 */
static bool is_film(const struct inputs_options *o, const char *path, const char *name)
{
    struct stat s;
    if (!o->any && !inputs_is_film_name(name))
        return false;
    bool known = stat(path, &s) == 0;
    if (known && S_ISDIR(s.st_mode))
        return false;
    const char *why = NULL;
    if (known && !S_ISREG(s.st_mode))
        why = "not a regular file";
    else if (!inputs_is_film_name(name) && is_output(path))
        why = "made by barcode";
    if (why)
        log_msg(LOG_VERBOSE, "skipped '%s': %s", path, why);
    return !why;
}

/* Appends a film, or its chapters as one. Takes ownership of `path`. */
static bool add_film(struct inputs_list *list, char *path, const char *below, struct err *e)
{
    struct film_parts *parts = NULL;
    size_t place = 0;
    bool ok = list->options->no_join || inputs_chapters(path, &parts, &place, e);
    if (ok && place == 0)
        return inputs_list_parts(list, path, parts, path, below, e);
    film_parts_free(&parts);
    free(path);
    return ok;
}

static bool add_films(struct inputs_list *list, const struct level *at, struct dirent *const *entry,
                      int count, struct err *e)
{
    for (int i = 0; i < count; i++) {
        char *path = path_join(at->path, entry[i]->d_name, "", e);
        if (!path || interrupted()) {
            free(path);
            return path ? interrupt_error(e) : false;
        }
        if (!is_film(list->options, path, entry[i]->d_name))
            free(path);
        else if (!add_film(list, path, at->below, e))
            return false;
    }
    return true;
}

/*
 * Returns the folder among `at` and its parents that is the same as `*s`, or NULL. Following such a
 * link would never end.
 */
static const struct level *find_above(const struct level *at, const struct stat *s)
{
    while (at && (at->device != s->st_dev || at->inode != s->st_ino))
        at = at->up;
    return at;
}

static bool add_level(struct inputs_list *list, const struct level *at, struct err *e);

/* Adds the films below the entry `d` of folder `at`, if it is a folder. */
static bool add_below(struct inputs_list *list, const struct level *at, const struct dirent *d,
                      struct err *e)
{
    struct stat s;
    if (d->d_type != DT_DIR && d->d_type != DT_LNK && d->d_type != DT_UNKNOWN)
        return true;
    char *path = path_join(at->path, d->d_name, "", e),
         *below = path ? path_join(at->below, d->d_name, "/", e) : NULL;
    bool ok = below != NULL;
    if (ok && stat(path, &s) == 0 && S_ISDIR(s.st_mode)) {
        const struct level *above = find_above(at, &s), next = {.up = at,
                                                                .path = path,
                                                                .below = below,
                                                                .device = s.st_dev,
                                                                .inode = s.st_ino};
        if (above)
            log_msg(LOG_WARNING,
                    "skipped the folder '%s': it leads back to '%s', which contains it", path,
                    above->path);
        else
            ok = add_level(list, &next, e);
    }
    free(below);
    free(path);
    return ok;
}

/* Adds the films of a folder by name, then those of its subfolders. */
static bool add_level(struct inputs_list *list, const struct level *at, struct err *e)
{
    struct dirent **entry = NULL;
    struct err problem = ERR_INIT;
    int count = scandir(at->path, &entry, select_shown, by_name);
    if (count < 0) {
        err_set(&problem, ERR_INPUT, "cannot read the folder '%s': %s", at->path, strerror(errno));
        return inputs_list_problem(list, at->path, &problem, e);
    }
    size_t before = list->in->count;
    bool ok = add_films(list, at, entry, count, e);
    /* A folder without films may hold an earlier run's outputs, whose names must not change. */
    if (ok && (!at->up || list->in->count > before))
        ok = inputs_list_folder(list, &(struct input_folder){at->device, at->inode, true}, e);
    for (int i = 0; i < count; i++) {
        ok = ok && (!list->options->recursive || add_below(list, at, entry[i], e));
        free(entry[i]);
    }
    free(entry);
    return ok;
}

/* Returns true if the folder has an image that barcode did not make. */
static bool has_image(const char *folder)
{
    struct dirent **entry = NULL;
    int count = scandir(folder, &entry, select_shown, NULL);
    bool has = false;
    for (int i = 0; i < count; i++) {
        struct err e = ERR_INIT;
        const char *name = entry[i]->d_name;
        char *path = !has && inputs_is_image_name(name) ? path_join(folder, name, "", &e) : NULL;
        has = has || (path && file_is_regular(path) && !is_output(path));
        free(path);
        free(entry[i]);
    }
    free(entry);
    return has;
}

bool inputs_folder(struct inputs_list *list, const char *folder, struct err *e)
{
    struct stat s = {.st_ino = 0};
    struct err problem = ERR_INIT;
    struct level top = {.path = folder, .below = ""};
    size_t before = list->in->count;
    if (stat(folder, &s) == 0) {
        top.device = s.st_dev;
        top.inode = s.st_ino;
    }
    if (!add_level(list, &top, e))
        return false;
    if (list->in->count > before)
        return true;
    const char *where = "";
    if (list->options->recursive)
        where = " or below it";
    else if (has_image(folder))
        where = " (its images are one film with --sequence)";
    err_set(&problem, ERR_INPUT, "no films in the folder '%s'%s", folder, where);
    return inputs_list_problem(list, folder, &problem, e);
}

/* ---- --sequence ---- */

static bool add_image(struct film_parts *parts, const char *folder, const char *name, struct err *e)
{
    char *path = inputs_is_image_name(name) ? path_join(folder, name, "", e) : NULL;
    bool image = path && file_is_regular(path) && !is_output(path);
    bool ok = !image || film_parts_add(parts, &(struct film_part){.path = path}, e);
    free(path);
    return ok && e->code == ERR_NONE;
}

/* Appends the film of a folder's images. It is named after the folder. */
static bool add_sequence(struct inputs_list *list, const char *folder, struct film_parts *parts,
                         struct err *e)
{
    struct err problem = ERR_INIT;
    if (parts->count == 0)
        err_set(&problem, ERR_INPUT, "no images in the folder '%s'", folder);
    else
        inputs_set_rate(list->options, parts, &problem);
    if (problem.code != ERR_NONE) {
        film_parts_free(&parts);
        return inputs_list_problem(list, folder, &problem, e);
    }
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    char *real = realpath(folder, NULL), *path = strndup(folder, length);
    bool ok = path || err_memory(e, strlen(folder) + 1);
    if (ok)
        ok = inputs_list_parts(list, path, parts, real ? real : folder, "", e);
    else
        film_parts_free(&parts);
    free(real);
    return ok;
}

bool inputs_sequence(struct inputs_list *list, const char *folder, struct err *e)
{
    struct dirent **entry = NULL;
    struct err problem = ERR_INIT;
    struct film_parts *parts = err_calloc(1, sizeof *parts, e);
    int count = parts ? scandir(folder, &entry, select_shown, by_name) : 0;
    if (count < 0) {
        film_parts_free(&parts);
        err_set(&problem, ERR_INPUT, "cannot read the folder '%s': %s", folder, strerror(errno));
        return inputs_list_problem(list, folder, &problem, e);
    }
    bool ok = parts != NULL;
    for (int i = 0; i < count; i++) {
        ok = ok && add_image(parts, folder, entry[i]->d_name, e);
        if (ok && interrupted())
            ok = interrupt_error(e);
        free(entry[i]);
    }
    free(entry);
    if (ok)
        return add_sequence(list, folder, parts, e);
    film_parts_free(&parts);
    return false;
}
