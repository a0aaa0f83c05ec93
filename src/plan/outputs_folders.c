#include "outputs_folders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"

/* Returns the offset of the last part of a path. */
static size_t last_begins(const char *path)
{
    size_t length;
    return (size_t)(path_last(path, &length) - path);
}

/*
 * Shortens `path` to its folder, or to the nearest existing parent if the rest can be made. Returns
 * the folder's name for messages, and the result of stat in `*s` and `*there`.
 */
static const char *find_folder(char *path, size_t named, struct stat *s, bool *there)
{
    for (;;) {
        size_t keep = last_begins(path);
        /* with a slash behind it, stat would fail for a file */
        path[keep > named ? keep - 1 : keep] = 0;
        const char *shown = keep > 0 ? path : ".";
        *there = stat(shown, s) == 0;
        if (*there || (errno != ENOENT && errno != ENOTDIR) || keep <= named)
            return shown;
    }
}

bool outputs_check_folder(const struct output *output, struct err *e)
{
    struct stat s;
    bool there, ok = true;
    const char *path = output->path;
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode))
        return true; /* a device or a pipe needs no folder */
    char *copy = strdup(path);
    if (!copy)
        return err_memory(e, strlen(path));
    const char *folder = find_folder(
        copy, output->below ? (size_t)(output->below - path) : last_begins(path), &s, &there);
    if (!there)
        ok = err_set(e, ERR_FAILED, "cannot write '%s': the folder '%s' does not exist", path,
                     folder);
    else if (!S_ISDIR(s.st_mode))
        ok = err_set(e, ERR_FAILED, "cannot write '%s': '%s' is not a folder", path, folder);
    else if (access(folder, W_OK | X_OK) != 0)
        ok = err_set(e, ERR_FAILED, "cannot write into the folder '%s': %s", folder,
                     strerror(errno));
    free(copy);
    return ok;
}

/* Checks that a folder can be written to. `s` is NULL if stat() failed. */
static bool check_place(const char *folder, const struct stat *s, struct err *e)
{
    if (s && !S_ISDIR(s->st_mode))
        return err_set(e, ERR_FAILED, "'%s' is not a folder", folder);
    return (s && access(folder, W_OK | X_OK) == 0) ||
           err_set(e, ERR_FAILED, "cannot write into the folder '%s': %s", folder, strerror(errno));
}

bool outputs_check_named(const char *folder, struct err *e)
{
    struct stat s;
    if (stat(folder, &s) == 0)
        return check_place(folder, &s, e);
    if (errno == ENOTDIR)
        return err_set(e, ERR_FAILED, "'%s' is not a folder", folder);
    if (errno != ENOENT)
        return check_place(folder, NULL, e);
    char *parent = strndup(folder, last_begins(folder));
    if (!parent)
        return err_memory(e, strlen(folder));
    const char *shown = *parent ? parent : ".";
    bool there = stat(shown, &s) == 0;
    bool ok = there ? check_place(shown, &s, e)
                    : err_set(e, ERR_FAILED,
                              "cannot create the folder '%s': the folder '%s' does not exist",
                              folder, shown);
    free(parent);
    return ok;
}

bool outputs_make_folders(const struct output *output, struct err *e)
{
    bool ok = true;
    if (file_ask) /* the parent makes them with the output */
        return true;
    char *path = output->below ? strdup(output->path) : NULL;
    if (output->below && !path)
        return err_memory(e, strlen(output->path));
    for (char *slash = path ? strchr(path + (output->below - output->path), '/') : NULL;
         slash && ok; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        /*
         * Another process may make the folder at the same time. If it is another kind of file,
         * opening the output reports that.
         */
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            ok = err_set(e, ERR_FAILED, "cannot create the folder '%s' for '%s': %s", path,
                         output->path, strerror(errno));
        *slash = '/';
    }
    free(path);
    return ok;
}
