#include "barcode/outputs.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barcode/file.h"
#include "barcode/path.h"
#include "inputs_names.h"

/* Formats that somebody may hope for; one that a writer has is not refused. */
static const char *const picture_ending[] = {"jpg", "jpeg", "jpe", "gif", "webp", "bmp", "tif", "tiff", "svg", "pdf", "avif", NULL};

/* What -o writes unless its ending says something else. */
static const struct writer *usual_writer(void)
{
    return writer_table[0];
}

bool outputs_is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

/* ---- Names ---- */

/* Does -o leave the name to the program? */
static bool is_chosen(const struct options *o)
{
    size_t length = o->output ? strlen(o->output) : 0;
    return !outputs_is_stdout(o->output) &&
           (!o->output || (length > 0 && o->output[length - 1] == '/') || inputs_is_folder(o->output));
}

static const struct writer *writer_of(const struct options *o)
{
    const struct writer *w = is_chosen(o) ? NULL : writer_by_ending(o->output);
    return w ? w : usual_writer();
}

/* FILE with "-STRIP" before its ending. */
static char *insert_strip(const char *file, const char *strip, struct err *e)
{
    size_t length, bytes = strlen(file) + strlen(strip) + 2;
    const char *name = path_last(file, &length), *dot = strrchr(name, '.');
    size_t head = dot && dot > name ? (size_t)(dot - file) : strlen(file);
    char *path = malloc(bytes);
    if (!path) {
        err_memory(e, bytes);
        return NULL;
    }
    snprintf(path, bytes, "%.*s-%s%s", (int)head, file, strip, file + head);
    return path;
}

/* The name of one of film i's files that -o asks for; `strip`: what goes before the ending, or NULL. */
static char *name_of(const struct options *o, const struct inputs *in, size_t i, const char *strip, struct err *e)
{
    char tail[80];
    if (!is_chosen(o))
        return strip ? insert_strip(o->output, strip, e) : path_join("", o->output, "", e);
    snprintf(tail, sizeof tail, "%s%s.%s", strip ? "-" : "", strip ? strip : "", writer_of(o)->ending[0]);
    return path_join(o->output ? o->output : "", in->stem[i], tail, e);
}

/* One more output; takes `path` (allocated, or NULL after a failure) over. */
static bool add(struct outputs *list, const struct output *output)
{
    if (output->path)
        list->output[list->count++] = *output;
    return output->path != NULL;
}

/* The files that -o asks for. */
static bool add_pictures(const struct options *o, const struct inputs *in, size_t i, struct outputs *list, struct err *e)
{
    const struct writer *w = writer_of(o);
    size_t each = w->one_a_strip && !o->stacked ? 1 : o->strips;
    bool chosen = is_chosen(o), several = each < o->strips;
    if (!chosen && inputs_films(in) > 1)
        return err_set(e, ERR_USAGE, "-o %s: one name for %zu films; give a folder", o->output, inputs_films(in));
    if (several && outputs_is_stdout(o->output))
        return err_set(e, ERR_USAGE, "-o -: stdout can carry one picture, not %zu", o->strips);
    for (size_t k = 0; k < o->strips; k += each) {
        struct output output = {.writer = w, .strips = {o->strip + k, each}, .chosen = chosen};
        output.path = name_of(o, in, i, several ? o->strip[k]->name : NULL, e);
        if (!add(list, &output))
            return false;
    }
    list->pictures = list->count;
    return true;
}

static bool add_extras(const struct options *o, struct outputs *list, struct err *e)
{
    for (size_t k = 0; k < o->extras; k++) {
        struct output output = {.writer = o->extra[k].writer, .strips = {o->strip, o->strips}};
        output.path = strdup(o->extra[k].path);
        if (!add(list, &output))
            return err_memory(e, strlen(o->extra[k].path) + 1);
    }
    return true;
}

bool outputs_of(const struct options *o, const struct inputs *in, size_t i, struct outputs *list, struct err *e)
{
    *list = (struct outputs){.count = 0};
    if (add_pictures(o, in, i, list, e) && add_extras(o, list, e))
        return true;
    outputs_free(list);
    return false;
}

void outputs_free(struct outputs *list)
{
    for (size_t k = 0; k < list->count; k++)
        free(list->output[k].path);
    *list = (struct outputs){.count = 0};
}

/* ---- What may be written ---- */

/* Stdout is no file, whatever lies in the folder by the name "-". */
static bool same_output(const char *a, const char *b)
{
    return !outputs_is_stdout(a) && !outputs_is_stdout(b) && file_same(a, b);
}

/* Refuses to replace one of the films. */
static bool spare_films(const struct inputs *in, const char *path, struct err *e)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return true;
    for (size_t i = 0; i < in->count; i++) {
        if (!inputs_is_synthetic(in->path[i]) && same_output(path, in->path[i]))
            return err_set(e, ERR_USAGE, "the output '%s' is the film itself; choose another name", path);
    }
    return true;
}

bool outputs_allowed(const struct inputs *in, const struct output *output, struct err *e)
{
    struct stat s;
    const char *path = output->path;
    if (outputs_is_stdout(path))
        return true;
    if (!spare_films(in, path, e))
        return false;
    if (output->chosen && stat(path, &s) == 0 && !writer_made(output->writer, path))
        return err_set(e, ERR_FAILED, "'%s' is there and was not made by barcode; choose another name with -o", path);
    return true;
}

/* Is there a folder for `path`, and may a file be made in it? As atomic_file_open will find, but before hours of work. */
static bool check_folder(const char *path, struct err *e)
{
    struct stat s;
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode))
        return true;    /* a device or a pipe is opened itself */
    size_t length;
    const char *name = path_last(path, &length);
    char *up = name == path ? strdup(".") : strndup(path, (size_t)(name - path));
    if (!up)
        return err_memory(e, strlen(path));
    bool ok = true;
    if (stat(up, &s) != 0)
        ok = err_set(e, ERR_FAILED, "cannot write '%s': the folder '%s' is not there", path, up);
    else if (!S_ISDIR(s.st_mode))
        ok = err_set(e, ERR_FAILED, "cannot write '%s': '%s' is not a folder", path, up);
    else if (access(up, W_OK | X_OK) != 0)
        ok = err_set(e, ERR_FAILED, "cannot write into the folder '%s': %s", up, strerror(errno));
    free(up);
    return ok;
}

/* May what is at `path`, if anything, be replaced? */
static bool check_old(const char *path, struct err *e)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return true;
    if (S_ISDIR(s.st_mode))
        return err_set(e, ERR_FAILED, "cannot write '%s': it is a folder", path);
    if (access(path, W_OK) != 0)
        return err_set(e, ERR_FAILED, "cannot write '%s': %s", path, strerror(errno));
    return true;
}

/* ---- Before decoding ---- */

/* What an option of its own names: --dump, and the outputs of options.extra. */
struct named {
    char option[32];
    const char *path;
    bool binary, one_line;
};

struct named_list {
    struct named named[WRITERS_MOST + 1];
    size_t count;
};

static struct named_list list_named(const struct options *o)
{
    struct named_list list = {.count = 0};
    for (size_t k = 0; k < o->extras; k++) {
        const struct writer *w = o->extra[k].writer;
        struct named *n = &list.named[list.count++];
        *n = (struct named){.path = o->extra[k].path, .binary = w->binary, .one_line = w->one_line};
        snprintf(n->option, sizeof n->option, "--%s", w->name);
    }
    if (o->dump)
        list.named[list.count++] = (struct named){.option = "--dump", .path = o->dump, .binary = true};
    return list;
}

static bool check_terminal(const struct options *o, const struct named_list *list, struct err *e)
{
    const char *option = outputs_is_stdout(o->output) && writer_of(o)->binary ? "-o" : NULL;
    for (size_t k = 0; k < list->count; k++) {
        if (list->named[k].binary && outputs_is_stdout(list->named[k].path))
            option = list->named[k].option;
    }
    return !option || !isatty(STDOUT_FILENO) ||
           err_set(e, ERR_USAGE, "%s -: pixels are not for a terminal; send stdout to a file or a pipe", option);
}

/* One file for one film, unless it is a line a film; never a picture's or the film's own. */
static bool check_named(const struct inputs *in, const struct named *n, struct err *e)
{
    if (!n->one_line && inputs_films(in) > 1)
        return err_set(e, ERR_USAGE, "%s %s: one file for %zu films; run them one by one", n->option, n->path,
                       inputs_films(in));
    if (outputs_is_stdout(n->path))
        return true;
    return spare_films(in, n->path, e) && check_old(n->path, e) && check_folder(n->path, e);
}

/* False: the run is impossible. What concerns this film alone goes into `problem`. */
static bool check_picture(const struct inputs *in, const struct output *output, const struct named_list *list,
                          struct err *problem, struct err *e)
{
    const char *path = output->path;
    assert(path);
    if (!outputs_allowed(in, output, problem))
        return true;
    bool ok = true;
    if (!outputs_is_stdout(path) && check_old(path, problem))
        ok = check_folder(path, e);      /* the same for all films */
    for (size_t k = 0; k < list->count && ok; k++) {
        if (same_output(path, list->named[k].path))
            ok = err_set(e, ERR_USAGE, "'%s' is asked for twice: as the picture and as another output", path);
    }
    return ok;
}

static bool check_film(const struct options *o, struct inputs *in, size_t i, const struct named_list *list, struct err *e)
{
    struct outputs outputs;
    struct err *problem = &in->problem[i];
    bool ok = true;
    if (outputs_of(o, in, i, &outputs, problem)) {
        for (size_t k = 0; k < outputs.pictures && ok && problem->code == ERR_NONE; k++)
            ok = check_picture(in, &outputs.output[k], list, problem, e);
        outputs_free(&outputs);
    }
    if (problem->code == ERR_USAGE) {
        *e = *problem;
        err_clear(problem);
        return false;
    }
    return ok;
}

/* `-o a.mkv b.mkv` is a slip that would cost a film. */
static bool check_name(const char *option, const char *path, struct err *e)
{
    return !path || inputs_is_folder(path) || !inputs_is_film_name(path) ||
           err_set(e, ERR_USAGE, "%s '%s' is the name of a film, and an output would replace it", option, path);
}

/* `-o a.jpg` would not give what its name says. */
static bool check_format(const char *path, struct err *e)
{
    if (!path || inputs_is_folder(path) || writer_by_ending(path) || !writer_has_ending(path, picture_ending))
        return true;
    const struct writer *w = usual_writer();
    return err_set(e, ERR_USAGE, "-o '%s': the picture is a %s; give it a name that ends in .%s", path, w->title, w->ending[0]);
}

bool outputs_check(const struct options *o, struct inputs *in, struct err *e)
{
    struct named_list list = list_named(o);
    if (!check_terminal(o, &list, e))
        return false;
    for (size_t i = 0; i < in->count; i++) {
        if (in->problem[i].code == ERR_NONE && !check_film(o, in, i, &list, e))
            return false;
    }
    for (size_t k = 0; k < list.count; k++) {
        if (!check_named(in, &list.named[k], e))
            return false;
    }
    for (size_t k = 0; k < list.count; k++)
        for (size_t j = k + 1; j < list.count; j++)
            if (same_output(list.named[k].path, list.named[j].path))
                return err_set(e, ERR_USAGE, "'%s' is asked for twice: by %s and by %s", list.named[k].path,
                               list.named[k].option, list.named[j].option);
    bool ok = check_name("-o", o->output, e) && check_format(o->output, e);
    for (size_t k = 0; k < list.count && ok; k++)
        ok = check_name(list.named[k].option, list.named[k].path, e);
    return ok;
}
