#include "outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/path.h"
#include "output/html/gallery.h"
#include "output/poster/poster.h"
#include "outputs_names.h"

/* ---- Folders ---- */

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

/*
 * Returns true if the output's folder exists and can be written to, or can be made below the folder
 * that an option names. Opening the output would also find that out, but only after hours of work.
 */
static bool check_place(const struct output *output, struct err *e)
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
static bool check_access(const char *folder, const struct stat *s, struct err *e)
{
    if (s && !S_ISDIR(s->st_mode))
        return err_set(e, ERR_FAILED, "'%s' is not a folder", folder);
    return (s && access(folder, W_OK | X_OK) == 0) ||
           err_set(e, ERR_FAILED, "cannot write into the folder '%s': %s", folder, strerror(errno));
}

/* Returns true if a folder that an option names exists and can be written to, or can be made. */
static bool check_named_folder(const char *folder, struct err *e)
{
    struct stat s;
    if (stat(folder, &s) == 0)
        return check_access(folder, &s, e);
    if (errno == ENOTDIR)
        return err_set(e, ERR_FAILED, "'%s' is not a folder", folder);
    if (errno != ENOENT)
        return check_access(folder, NULL, e);
    char *parent = strndup(folder, last_begins(folder));
    if (!parent)
        return err_memory(e, strlen(folder));
    const char *shown = *parent ? parent : ".";
    bool there = stat(shown, &s) == 0;
    bool ok = there ? check_access(shown, &s, e)
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

bool outputs_make_gallery_folder(const struct output_plan *o, struct err *e)
{
    const struct output_kind *kind = o->kind;
    while (!kind->gallery)
        kind++;
    size_t length;
    struct output gallery = {.kind = kind, .path = kind->path};
    if (*kind->folder)
        gallery.below = kind->path + (path_last(kind->folder, &length) - kind->folder);
    return outputs_make_folders(&gallery, e);
}

struct failed_film outputs_failed_film(const struct output_plan *o, const struct inputs *in,
                                       size_t i)
{
    const struct outputs *list = &o->film[i];
    const struct film_options *film = &o->plan->film;
    const uint64_t all[] = {(uint64_t)film->decode, film->keep_going,
                            film->verify,           (uint64_t)film->sound_stream,
                            limits_pixels(),        o->plan->inputs.playlists};
    uint64_t options = hash_64(all, sizeof all);
    for (size_t k = 0; k < list->count; k++) {
        const char *fingerprint = list->output[k].kind->fingerprint;
        const uint64_t pair[] = {options, hash_64(fingerprint, strlen(fingerprint))};
        options = hash_64(pair, sizeof pair);
    }
    return (struct failed_film){.path = in->path[i], .parts = in->parts[i], .options = options};
}

/* ---- What may be written ---- */

/* Returns true if both paths are one file. "-" is stdout, even if a file of that name exists. */
static bool same_output(const char *a, const char *b)
{
    return !outputs_is_stdout(a) && !outputs_is_stdout(b) && file_same(a, b);
}

/*
 * Rejects an output that is one of the films. The error concerns that film if the program chose the
 * name; otherwise the user made a mistake.
 */
static bool spare_films(const struct inputs *in, const struct output *output, struct err *e)
{
    struct stat s;
    if (stat(output->path, &s) != 0 || !S_ISREG(s.st_mode))
        return true;
    for (size_t i = 0; i < in->count; i++) {
        const struct input_file *f = &in->file[i];
        bool part = in->parts[i] && film_parts_have(in->parts[i], output->path);
        if (part ||
            (f->regular && f->device == (uint64_t)s.st_dev && f->inode == (uint64_t)s.st_ino))
            return err_set(e, output->kind->chosen ? ERR_FAILED : ERR_USAGE,
                           "the output '%s' is the film itself; choose another name%s%s",
                           output->path, output->kind->chosen ? " with " : "",
                           output->kind->chosen ? output->kind->option : "");
    }
    return true;
}

/* Sets the message that the file at the output's path stays, and what to do. */
static bool refuse_old(const struct output *output, const char *why, bool replaceable,
                       struct err *e)
{
    bool named = !output->kind->writer || !output->kind->writer->beside; /* has a name to choose */
    const char *other = replaceable ? "use --overwrite" : "move it away";
    if (named)
        return err_set(e, ERR_FAILED, "cannot write '%s': %s; choose another name with %s%s",
                       output->path, why, output->kind->option,
                       replaceable ? ", or --overwrite" : "");
    return err_set(e, ERR_FAILED, "cannot write '%s': %s; %s", output->path, why, other);
}

/*
 * Rejects a name chosen by the program if a file of that name exists, unless the file is an older
 * output of the same film.
 */
static bool spare_old(const struct inputs *in, size_t i, const struct output *output, struct err *e)
{
    const char *film = in->path[i];
    struct stat s;
    char shown[FILM_ID_TEXT], mine[FILM_ID_TEXT];
    const char *path = output->path;
    if (file_is_dangling(path))
        return refuse_old(output, "it is a link that leads to no file", false, e);
    if (stat(path, &s) != 0)
        return true;
    if (!output->kind->writer)
        return output->overwrite ||
               refuse_old(output, "the file exists, and a dump does not name its film", true, e);
    if (!writer_made(output->kind->writer, path, shown))
        return refuse_old(output, "the file exists and was not made by barcode", false, e);
    if (output->overwrite || (in->parts[i] ? in->file[i].absent : access(film, R_OK) != 0))
        return true; /* opening the film reports the error */
    if (!film_id_of(film, in->parts[i], mine, e))
        return false;
    if (!mine[0] || !shown[0])
        return refuse_old(output, "the file exists and may show another film", true, e);
    return strcmp(shown, mine) == 0 ||
           refuse_old(output,
                      "the file exists and shows another film, or this one before it was modified",
                      true, e);
}

/* Returns false if the page of one film would replace a gallery: ERR_FAILED. */
static bool keep_gallery(const struct output *output, struct err *e)
{
    return !output->kind->writer || !output->kind->writer->gallery ||
           !gallery_exists(output->path) ||
           err_set(e, ERR_FAILED,
                   "'%s' is a gallery; --html '%s' adds the film to it, or choose another name",
                   output->path, output->path);
}

bool outputs_allowed(const struct inputs *in, size_t i, const struct output *output, struct err *e)
{
    if (outputs_is_stdout(output->path) || output->kind->in_memory)
        return true;
    return spare_films(in, output, e) &&
           (output->kind->chosen ? spare_old(in, i, output, e) : keep_gallery(output, e));
}

/* Returns true if nothing exists at `path`, or something that may be replaced. */
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

static bool is_beside(const struct output_kind *kind)
{
    return kind->writer && kind->writer->beside;
}

/* The name of a film's output beside it. */
struct beside {
    struct output output;
    size_t film;
};

static int by_path(const void *a, const void *b)
{
    const struct beside *x = a, *y = b;
    int order = strcmp(x->output.path, y->output.path);
    return order ? order : (x->film > y->film) - (x->film < y->film);
}

/* Makes it a problem of each film that an earlier one has the same name. `list` is sorted. */
static void report_same(struct inputs *in, const struct beside *list, size_t count)
{
    size_t first = 0;
    for (size_t k = 1; k < count; k++) {
        if (strcmp(list[k].output.path, list[first].output.path) != 0) {
            first = k;
            continue;
        }
        err_set(&in->problem[list[k].film], ERR_FAILED,
                "cannot write '%s': the previews of '%s' have that name", list[k].output.path,
                in->path[list[first].film]);
    }
}

/*
 * Makes it a problem of a film that an earlier one has the same names beside it: "a.mkv" and
 * "a.mp4", or one film that is listed twice. Returns false if out of memory.
 */
static bool check_beside(const struct output_plan *o, struct inputs *in, struct err *e)
{
    size_t kind = 0, count = 0;
    while (kind < o->kinds && !is_beside(&o->kind[kind]))
        kind++;
    if (kind == o->kinds || in->count == 0)
        return true;
    struct beside *list = err_calloc(in->count, sizeof *list, e);
    if (!list)
        return false;
    for (size_t i = 0; i < in->count; i++) {
        struct err reported_later = ERR_INIT;
        list[count] = (struct beside){.output.kind = &o->kind[kind], .film = i};
        if (in->stem[i] && in->problem[i].code == ERR_NONE &&
            outputs_name_beside(o->plan, in, i, &list[count].output, &reported_later))
            count++;
    }
    qsort(list, count, sizeof *list, by_path);
    report_same(in, list, count);
    for (size_t k = 0; k < count; k++)
        free(list[k].output.made);
    free(list);
    return true;
}

/*
 * Returns false if a film's output would have the path of the gallery: ERR_FAILED, the film's
 * problem.
 */
static bool spare_gallery(const struct output_plan *o, const struct output *output, struct err *e)
{
    return !o->gallery || !file_same(o->gallery, output->path) ||
           err_set(e, ERR_FAILED,
                   "'%s' is the gallery, and this film's page would have its name; rename the film",
                   o->gallery);
}

static bool check_terminal(const struct output_plan *o, struct err *e)
{
    const char *option = NULL;
    for (size_t k = 0; k < o->kinds; k++) {
        const struct output_kind *kind = &o->kind[k];
        if ((!kind->writer || kind->writer->binary) && kind->path && outputs_is_stdout(kind->path))
            option = kind->option;
    }
    return !option || !isatty(STDOUT_FILENO) ||
           err_set(e, ERR_USAGE, "%s -: stdout is a terminal; send pixels to a file or a pipe",
                   option);
}

/* Rejects one file for several films, unless each film is lines of it. */
static bool check_one_for_many(const struct inputs *in, const struct output_kind *kind,
                               struct err *e)
{
    const struct writer *w = kind->writer;
    return (w && (w->one_line || w->table)) || kind->chosen || inputs_films(in) <= 1 ||
           err_set(e, ERR_USAGE, "%s %s: one file for %zu films; give a folder (DIR/)",
                   kind->option, kind->path, inputs_films(in));
}

/*
 * Checks one output. Returns false if nothing can be rendered; an error of this film only goes into
 * `problem`.
 */
static bool check_output(const struct inputs *in, size_t i, const struct output *output,
                         bool picture, struct err *problem, struct err *e)
{
    if (outputs_is_stdout(output->path))
        return true;
    bool own = picture || output->kind->chosen;
    struct err *whose = own ? problem : e;
    if (!outputs_allowed(in, i, output, whose) || !check_old(output->path, whose))
        return own;
    /* all films have the same folder */
    bool shared = !output->below && !is_beside(output->kind);
    return check_place(output, shared ? e : problem) || !shared;
}

/* Returns false if previews cannot be written, and do not exist or would be `made` again. */
static bool check_previews(struct output_plan *o, const struct output *output, bool made)
{
    struct err reason = ERR_INIT;
    if ((!made && access(output->path, F_OK) == 0) || check_place(output, &reason) ||
        reason.code != ERR_FAILED)
        return true;
    err_set(&o->unwritten, ERR_FAILED, "%s; --trickplay-dir writes the previews elsewhere",
            reason.text);
    return false;
}

void outputs_leave_previews(struct output_plan *o, struct inputs *in, bool made)
{
    const bool told = o->unwritten.code != ERR_NONE;
    for (size_t i = 0; i < o->films && !o->plan->outputs.previews; i++) {
        struct outputs *list = &o->film[i];
        const size_t count = inputs_is_due(in, i) ? list->count : 0;
        if (count == 0)
            continue;
        list->count = 0;
        for (size_t k = 0; k < count; k++) {
            if (!is_beside(list->output[k].kind) || check_previews(o, &list->output[k], made))
                list->output[list->count++] = list->output[k];
            else
                free(list->output[k].made);
        }
        if (list->count == 0)
            in->problem[i] = o->unwritten;
    }
    if (!told && o->unwritten.code != ERR_NONE)
        log_error(&o->unwritten);
}

/* Rejects two outputs in one file; the first `pictures` are outputs of -o. */
static bool check_pairs(const struct outputs *list, size_t pictures, const char *report,
                        struct err *e)
{
    for (size_t k = 0; report && k < list->count; k++)
        if (same_output(list->output[k].path, report))
            return err_set(e, ERR_USAGE, "'%s' is requested twice: by %s and by --report", report,
                           list->output[k].kind->option);
    for (size_t k = 0; k < list->count; k++) {
        for (size_t j = k + 1; j < list->count; j++) {
            const struct output *a = &list->output[k], *b = &list->output[j];
            if (!same_output(a->path, b->path))
                continue;
            if (k < pictures)
                return err_set(e, ERR_USAGE,
                               "'%s' is requested twice: as the picture and as another output",
                               a->path);
            return err_set(e, ERR_USAGE, "'%s' is requested twice: by %s and by %s", a->path,
                           a->kind->option, b->kind->option);
        }
    }
    return true;
}

static bool check_film(struct output_plan *o, struct inputs *in, size_t i, struct err *e)
{
    struct err *problem = &in->problem[i];
    bool ok = true;
    if (outputs_name(o, in, i, problem)) {
        const struct outputs *list = &o->film[i];
        for (size_t k = 0; k < list->count && ok && problem->code == ERR_NONE; k++)
            ok = !spare_gallery(o, &list->output[k], problem) ||
                 check_output(in, i, &list->output[k], k < o->pictures, problem, e);
        ok = ok && check_pairs(list, o->pictures, o->plan->outputs.report, e);
    }
    if (problem->code == ERR_USAGE) {
        *e = *problem;
        err_clear(problem);
        return false;
    }
    return ok;
}

/* Rejects a film's name as an output: `-o a.mkv b.mkv` would replace a film. */
static bool check_name(const char *option, const char *path, struct err *e)
{
    return !path || inputs_is_folder(path) || !inputs_is_film_name(path) ||
           err_set(e, ERR_USAGE, "%s '%s' is the name of a film, and an output would replace it",
                   option, path);
}

/* Rejects endings of formats that -o does not write, such as `-o a.gif`. */
static bool check_format(const char *path, struct err *e)
{
    static const char *const json_ending[] = {"json", NULL};
    size_t length;
    const char *name = path ? path_last(path, &length) : "", *dot = strrchr(name, '.');
    if (!dot || dot == name || outputs_names_folder(path) || writer_by_ending(path))
        return true;
    return err_set(e, ERR_USAGE,
                   "-o '%s': the name of a picture ends in .png, .jpg, .webp, .svg, .pdf or "
                   ".html%s",
                   path, writer_has_ending(path, json_ending) ? "; --json writes data" : "");
}

/* Checks the gallery before the films are rendered, which may take days. */
static bool check_gallery(const char *path, struct err *e)
{
    return check_old(path, e) && gallery_allowed(path, e);
}

/* Checks a folder that an option names, and logs if names in it get OUTPUTS_SUFFIX. */
static bool check_folder(const struct output_kind *kind, struct err *e)
{
    const char *folder = kind->folder;
    if (folder && *folder && !check_named_folder(folder, e))
        return false;
    if (kind->suffix)
        log_msg(LOG_VERBOSE,
                "names in '%s' end in " OUTPUTS_SUFFIX
                ", because films are in that folder, too; --name '" OUTPUTS_NAME_STEM
                "' avoids that",
                folder && *folder ? folder : ".");
    return true;
}

/*
 * Checks the folders of all options. Sets `*chosen` to whether the program chooses the names of an
 * output.
 */
static bool check_folders(const struct output_plan *o, bool *chosen, struct err *e)
{
    *chosen = false;
    for (size_t k = 0; k < o->kinds; k++) {
        const struct output_kind *kind = &o->kind[k];
        if (!kind->chosen || is_beside(kind) || (k > 0 && k < o->pictures))
            continue;
        *chosen = true;
        if (!check_folder(kind, e))
            return false;
    }
    return true;
}

static bool is_any_due(const struct inputs *in)
{
    for (size_t i = 0; i < in->count; i++) {
        if (inputs_is_due(in, i))
            return true;
    }
    return false;
}

/* Rejects options that no output of the run can have. */
static bool check_options(const struct output_plan *o, const struct inputs *in, struct err *e)
{
    const struct poster_options *poster = &o->plan->poster;
    if (!check_terminal(o, e) || (o->posters && !paint_has_letters(e)))
        return false;
    if (poster->style.font)
        paint_check_font(poster->style.font);
    if (poster->title && inputs_films(in) > 1)
        return err_set(e, ERR_USAGE,
                       "--title: one title for %zu films; without it each has its own",
                       inputs_films(in));
    for (size_t k = o->pictures; k < o->kinds; k++) {
        if (!check_one_for_many(in, &o->kind[k], e) ||
            (o->kind[k].gallery && !check_gallery(o->kind[k].path, e)))
            return false;
    }
    return true;
}

/* Checks the paths that options name. */
static bool check_paths(const struct output_plan *o, const struct inputs *in, struct err *e)
{
    /* The report is appended to, which would damage any other file. */
    const struct output_kind kind = {.option = "--report"};
    const struct output report = {.kind = &kind, .path = o->plan->outputs.report};
    bool ok = check_name("-o", o->plan->outputs.path, e) &&
              check_format(o->plan->outputs.path, e) && check_name(kind.option, report.path, e) &&
              (!report.path || spare_films(in, &report, e));
    for (size_t k = o->pictures; k < o->kinds && ok; k++)
        ok = is_beside(&o->kind[k]) || check_name(o->kind[k].option, o->kind[k].path, e);
    return ok;
}

bool outputs_check(struct output_plan *o, struct inputs *in, struct err *e)
{
    bool chosen = true;
    if (!check_options(o, in, e) || !check_beside(o, in, e))
        return false;
    if (is_any_due(in) && !check_folders(o, &chosen, e))
        return false;
    if (o->plan->outputs.name && !chosen)
        return err_set(
            e, ERR_USAGE,
            "--name applies to outputs in folders, but every output has a name of its own");
    for (size_t i = 0; i < in->count; i++) {
        if (inputs_is_due(in, i) && !check_film(o, in, i, e))
            return false;
    }
    return check_paths(o, in, e);
}
