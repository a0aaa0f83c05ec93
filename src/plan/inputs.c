#include "inputs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "output/writer.h"
#include "inputs_list.h"

/* Endings of films in folders. A film that is an argument may have any ending. */
static const char *const ending[] = {
    "mkv",  "mp4", "m4v",  "mov", "qt",  "avi", "webm", "ts",  "m2ts", "mts",  "m2t",   "mpg",
    "mpeg", "mpe", "m1v",  "m2v", "vob", "evo", "wmv",  "asf", "flv",  "f4v",  "ogv",   "ogm",
    "3gp",  "3g2", "mxf",  "gxf", "nut", "dv",  "divx", "rm",  "rmvb", "h264", "264",   "avc",
    "h265", "265", "hevc", "ivf", "obu", "av1", "vp8",  "vp9", "y4m",  "mjpg", "mjpeg", NULL};

bool inputs_is_film_name(const char *name) { return writer_has_ending(name, ending); }

bool inputs_is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* The path of stdin. Its outputs are named "stdin". */
#define STDIN "/dev/stdin"

static bool check_stdin(const struct inputs *in, const char *name, struct err *e)
{
    int flags = fcntl(STDIN_FILENO, F_GETFL);
    /* interrupt_open_standard opens a closed one for writing only */
    if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY)
        return err_set(e, ERR_INPUT, "cannot read a film from stdin: it is closed");
    if (isatty(STDIN_FILENO))
        return err_set(e, ERR_USAGE, "cannot read a film from stdin: it is a terminal; use | or <");
    for (size_t i = 0; i < in->count && !file_is_regular(name); i++)
        if (file_descriptor(in->path[i]) == STDIN_FILENO)
            return err_set(e, ERR_USAGE, "stdin is given twice but can be read only once");
    return true;
}

/* Adds the folder of a film that is an argument to the list, if the film exists. */
static bool note_parent(struct inputs_list *list, const char *path, struct err *e)
{
    struct stat s;
    if (!file_is_regular(path))
        return true;
    char *folder = path_beside(path, ".", e);
    bool known = folder && stat(folder, &s) == 0;
    bool ok =
        folder &&
        (!known || inputs_list_folder(list, &(struct input_folder){s.st_dev, s.st_ino, false}, e));
    free(folder);
    return ok;
}

static const char *const playlist_ending[] = {"mpls", "mpl", NULL};

/* Returns true for a file that is part of a film in the list: a chapter behind its first one. */
static bool is_known_part(const struct inputs *in, const char *path)
{
    for (size_t i = 0; i < in->count; i++)
        if (in->parts[i] && film_parts_have(in->parts[i], path))
            return true;
    return false;
}

static bool is_stream(const char *argument)
{
    struct stat s;
    return strstr(argument, "://") && stat(argument, &s) != 0;
}

/* Adds the URL of a stream as a problem. Only its scheme is kept: the rest may have secrets. */
static bool refuse_stream(struct inputs_list *list, const char *argument, struct err *e)
{
    struct err problem = ERR_INIT;
    char name[32];
    const size_t scheme = strcspn(argument, ":");
    snprintf(name, sizeof name, "%.*s://...", scheme < 20 ? (int)scheme : 20, argument);
    err_set(&problem, ERR_INPUT, "'%s' is no file: download it, or use --live for a stream", name);
    return inputs_list_problem(list, name, &problem, e);
}

static bool add_argument(struct inputs_list *list, const char *argument, struct err *e)
{
    if (!*argument)
        return err_set(e, ERR_USAGE, "the name of a FILM is empty");
    if (strcmp(argument, "-") == 0)
        argument = STDIN;
    if (is_stream(argument))
        return refuse_stream(list, argument, e);
    struct err problem = ERR_INIT;
    if (file_descriptor(argument) == STDIN_FILENO && !check_stdin(list->in, argument, &problem))
        return inputs_list_problem(list, argument, &problem, e);
    if (inputs_is_folder(argument))
        return list->options->sequence ? inputs_sequence(list, argument, e)
                                       : inputs_folder(list, argument, e);
    if (inputs_is_pattern(argument))
        return inputs_pattern(list, argument, e);
    if (writer_has_ending(argument, playlist_ending) && file_is_regular(argument))
        return inputs_playlist(list, argument, e);
    struct film_parts *parts = NULL;
    size_t place = 0;
    if (!list->options->no_join && !inputs_chapters(argument, &parts, &place, e))
        return false;
    if (parts && strcmp(parts->part[0].path, argument) != 0) {
        film_parts_free(&parts); /* only the first chapter stands for all */
        if (is_known_part(list->in, argument))
            return true;
    }
    char *path = strdup(argument);
    if (path && note_parent(list, path, e))
        return inputs_list_parts(list, path, parts, argument, "", e);
    film_parts_free(&parts);
    free(path);
    return path ? false : err_memory(e, strlen(argument) + 1);
}

/* Returns true for a PNG or WebP with several frames, which is a film. */
static bool is_animated(const char *path)
{
    char head[WRITER_HEAD];
    size_t size = file_read_begin(path, head, sizeof head);
    return memmem(head, size, "acTL", 4) || memmem(head, size, "ANIM", 4);
}

static const char *const json_ending[] = {"json", NULL};

/*
 * Returns true for the name of an output: barcode writes such files, and this one is missing or no
 * film.
 */
static bool is_output_name(const char *name)
{
    char film[FILM_ID_TEXT];
    struct stat s;
    if (stat(name, &s) == 0 && !S_ISREG(s.st_mode))
        return false;
    const struct writer *w = writer_by_ending(name);
    return writer_has_ending(name, json_ending) ||
           (w && (writer_made(w, name, film) || !is_animated(name)));
}

/* Returns true for a word that does not exist and has no film's ending: "out.jpg", "pictures/". */
static bool is_missing_name(const char *name)
{
    struct stat s;
    return *name && strcmp(name, "-") != 0 && !inputs_is_film_name(name) && stat(name, &s) != 0;
}

/*
 * Rejects an output's name among the films: ffmpeg's last word is its output. Commands, which read
 * only sound here, have outputs of other kinds.
 */
static bool check_for_outputs(const struct inputs_options *o, const struct outputs_options *outputs,
                              struct err *e)
{
    if (o->count < 2 || outputs->path || outputs->sound_only)
        return true;
    for (size_t i = 0; i < o->count; i++) {
        const char *name = o->argument[i],
                   *option = writer_has_ending(name, json_ending) ? "--json" : "-o";
        if (inputs_is_pattern(name) ||
            (!is_output_name(name) && (i != 1 || o->count != 2 || !is_missing_name(name))))
            continue;
        if (o->count == 2)
            return err_set(e, ERR_USAGE, "'%s' is not a film; use %s %s", name, option, name);
        return err_set(e, ERR_USAGE,
                       "'%s' is not a film; for the outputs of several films use %s FOLDER/", name,
                       option);
    }
    return true;
}

/* Rejects --rate if no film consists of images. A list with problems fails anyway. */
static bool check_rate(const struct inputs_options *o, const struct inputs *in, struct err *e)
{
    for (size_t i = 0; i < in->count; i++)
        if (in->problem[i].code != ERR_NONE || (in->parts[i] && in->parts[i]->rate_num > 0))
            return true;
    return o->rate_num == 0 ||
           err_set(e, ERR_USAGE,
                   "--rate is for films of images; give a pattern such as 'img%%04d.png', "
                   "--sequence or --join");
}

bool inputs_expand(const struct inputs_options *o, const struct outputs_options *outputs,
                   struct inputs *in, struct err *e)
{
    struct inputs_list list = {.in = in, .options = o};
    if (outputs->name && !strstr(outputs->name, OUTPUTS_NAME_STEM))
        list.fixed_name = outputs->name;
    *in = (struct inputs){0};
    bool ok = o->join ? inputs_join(&list, e) : check_for_outputs(o, outputs, e);
    for (size_t i = 0; i < o->count && ok && !o->join; i++)
        ok = add_argument(&list, o->argument[i], e);
    ok = ok && check_rate(o, in, e);
    inputs_names_free(&list);
    if (!ok)
        inputs_free(in);
    return ok;
}

const char *inputs_table_name(const struct inputs_options *o, const char *path)
{
    const char *folder = o->count == 1 ? o->argument[0] : "";
    const size_t length = strlen(folder);
    if (*folder != '/' || strncmp(path, folder, length) != 0 ||
        (folder[length - 1] != '/' && path[length] != '/'))
        return path;
    const char *below = path + length + strspn(path + length, "/");
    return *below ? below : path;
}

void inputs_free(struct inputs *in)
{
    for (size_t i = 0; i < in->count; i++) {
        free(in->path[i]);
        film_parts_free(&in->parts[i]);
        free(in->stem[i]);
    }
    free(in->path);
    free(in->parts);
    free(in->stem);
    free(in->problem);
    free(in->file);
    free(in->duty);
    free(in->folder);
    *in = (struct inputs){0};
}

size_t inputs_films(const struct inputs *in)
{
    size_t count = 0;
    for (size_t i = 0; i < in->count; i++)
        count += in->stem[i] != NULL;
    return count;
}

bool inputs_is_due(const struct inputs *in, size_t i)
{
    return in->duty[i] == INPUT_TO_DO && in->problem[i].code == ERR_NONE;
}
