#include "barcode/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barcode/file.h"
#include "barcode/log.h"
#include "barcode/path.h"
#include "barcode/writer.h"
#include "inputs_names.h"

/* What a film in a folder is called. A file named outright may have any ending. */
static const char *const ending[] = {
    "mkv", "mp4", "m4v", "mov", "qt", "avi", "webm", "ts", "m2ts", "mts", "m2t", "mpg", "mpeg", "mpe", "m1v", "m2v",
    "vob", "evo", "wmv", "asf", "flv", "f4v", "ogv", "ogm", "3gp", "3g2", "mxf", "gxf", "nut", "dv", "divx", "rm",
    "rmvb", "h264", "264", "avc", "h265", "265", "hevc", "ivf", "obu", "av1", "vp8", "vp9", "y4m", "mjpg", "mjpeg", NULL
};

bool inputs_is_film_name(const char *name)
{
    return writer_has_ending(name, ending);
}

bool inputs_is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool stem_taken(const struct inputs *in, const char *stem)
{
    for (size_t i = 0; i < in->count; i++) {
        if (in->stem[i] && strcmp(in->stem[i], stem) == 0)
            return true;
    }
    return false;
}

/* The output name for a film's path; it differs from every stem that is in `in` already. */
static char *make_stem(const struct inputs *in, const char *path, struct err *e)
{
    size_t length = 5;
    const char *name = path_is_synthetic(path) ? "synth" : path_last(path, &length);
    for (size_t i = length; !path_is_synthetic(path) && i > 1; i--) {
        if (name[i - 1] == '.') {
            length = i - 1;
            break;
        }
    }
    size_t bytes = length + 24;      /* room for "-" and any size_t */
    char *stem = malloc(bytes);
    if (!stem) {
        err_memory(e, bytes);
        return NULL;
    }
    snprintf(stem, bytes, "%.*s", (int)length, name);
    for (size_t n = 2; stem_taken(in, stem); n++)
        snprintf(stem + length, bytes - length, "-%zu", n);
    return stem;
}

/* Room for one more entry. The arrays that grew before one failed are freed with the rest. */
static bool grow(struct inputs *in, struct err *e)
{
    size_t n = in->count + 1;
    char **paths = realloc(in->path, n * sizeof *paths);
    if (paths)
        in->path = paths;
    char **stems = realloc(in->stem, n * sizeof *stems);
    if (stems)
        in->stem = stems;
    struct err *problems = realloc(in->problem, n * sizeof *problems);
    if (problems)
        in->problem = problems;
    return (paths && stems && problems) || err_memory(e, n * sizeof *problems);
}

/* Takes `path` (allocated) over, also on failure. */
static bool add_film(struct inputs *in, char *path, struct err *e)
{
    char *stem = grow(in, e) ? make_stem(in, path, e) : NULL;
    if (!stem) {
        free(path);
        return false;
    }
    in->path[in->count] = path;
    in->stem[in->count] = stem;
    in->problem[in->count++] = (struct err)ERR_INIT;
    return true;
}

/* An argument that gives no film becomes an entry itself, with the reason, so that the other films are still rendered. */
static bool add_problem(struct inputs *in, const char *folder, const struct err *problem, struct err *e)
{
    char *path = strdup(folder);
    if (!path)
        return err_memory(e, strlen(folder) + 1);
    if (!grow(in, e)) {
        free(path);
        return false;
    }
    in->path[in->count] = path;
    in->stem[in->count] = NULL;
    in->problem[in->count++] = *problem;
    return true;
}

static int select_film(const struct dirent *d)
{
    return d->d_name[0] != '.' && inputs_is_film_name(d->d_name);
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);   /* not strcoll: the same order everywhere */
}

/*
 * True for folders, pipes, sockets and devices, whatever their names end in: a user who names a folder means the films in it.
 * False where stat() fails: opening the film says why.
 */
static bool is_no_file(const char *path)
{
    struct stat s;
    bool is = stat(path, &s) == 0 && !S_ISREG(s.st_mode);
    if (is && !S_ISDIR(s.st_mode))
        log_msg(LOG_VERBOSE, "'%s' is left out: it is no regular file", path);
    return is;
}

static bool add_folder(struct inputs *in, const char *folder, struct err *e)
{
    struct dirent **entry = NULL;
    struct err problem = ERR_INIT;
    int count = scandir(folder, &entry, select_film, by_bytes);
    if (count < 0) {
        err_set(&problem, ERR_INPUT, "cannot read the folder '%s': %s", folder, strerror(errno));
        return add_problem(in, folder, &problem, e);
    }
    size_t before = in->count;
    bool ok = true;
    for (int i = 0; i < count; i++) {
        char *path = ok ? path_join(folder, entry[i]->d_name, "", e) : NULL;
        if (path && !is_no_file(path))
            ok = add_film(in, path, e);
        else
            free(path);
        ok = ok && path;
        free(entry[i]);
    }
    free(entry);
    if (!ok || in->count > before)
        return ok;
    err_set(&problem, ERR_INPUT, "no films in the folder '%s'", folder);
    return add_problem(in, folder, &problem, e);
}

/* What a film from stdin is called everywhere: its outputs are named "stdin", and every room knows what to open. */
#define STDIN "/dev/stdin"

static bool check_stdin(const struct inputs *in, const char *name, struct err *e)
{
    int flags = fcntl(STDIN_FILENO, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY)        /* as interrupt_open_standard leaves a closed one */
        return err_set(e, ERR_INPUT, "cannot read a film from stdin: it is closed");
    if (isatty(STDIN_FILENO))
        return err_set(e, ERR_USAGE, "stdin is a terminal, and films are not typed: send one into it with | or <");
    for (size_t i = 0; i < in->count && !file_is_regular(name); i++)
        if (file_descriptor(in->path[i]) == STDIN_FILENO)
            return err_set(e, ERR_USAGE, "stdin is named twice, and what comes through it can be read only once");
    return true;
}

static bool add_argument(struct inputs *in, const char *argument, struct err *e)
{
    if (!*argument)
        return err_set(e, ERR_USAGE, "the name of a FILM is empty");
    if (strcmp(argument, "-") == 0)
        argument = STDIN;
    struct err problem = ERR_INIT;
    if (file_descriptor(argument) == STDIN_FILENO && !check_stdin(in, argument, &problem))
        return add_problem(in, argument, &problem, e);
    if (!path_is_synthetic(argument) && inputs_is_folder(argument))
        return add_folder(in, argument, e);
    char *path = strdup(argument);
    return path ? add_film(in, path, e) : err_memory(e, strlen(argument) + 1);
}

bool inputs_expand(const struct options *o, struct inputs *in, struct err *e)
{
    *in = (struct inputs){0};
    for (size_t i = 0; i < o->inputs; i++) {
        if (!add_argument(in, o->input[i], e)) {
            inputs_free(in);
            return false;
        }
    }
    return true;
}

void inputs_free(struct inputs *in)
{
    for (size_t i = 0; i < in->count; i++) {
        free(in->path[i]);
        free(in->stem[i]);
    }
    free(in->path);
    free(in->stem);
    free(in->problem);
    *in = (struct inputs){0};
}

size_t inputs_films(const struct inputs *in)
{
    size_t count = 0;
    for (size_t i = 0; i < in->count; i++)
        count += in->stem[i] != NULL;
    return count;
}
