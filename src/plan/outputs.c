#include "outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "output/html/gallery.h"
#include "output/poster/poster.h"
#include "inputs.h"
#include "outputs_folders.h"
#include "outputs_gallery.h"
#include "outputs_names.h"
#include "update.h"

bool outputs_is_stdout(const char *path) { return strcmp(path, "-") == 0; }

/* ---- Names ---- */

/* Returns true if the program chooses the names of -o's outputs. */
static bool is_chosen(const struct outputs_options *o)
{
    return !o->path || outputs_names_folder(o->path);
}

const struct writer *outputs_format(const struct plan *plan)
{
    const struct outputs_options *o = &plan->outputs;
    const char *name = is_chosen(o) ? o->name : o->path;
    const struct writer *w = name ? writer_by_ending(name) : NULL;
    if (w && is_chosen(o) && !w->one_a_strip)
        w = NULL; /* --name is for all outputs, but its ending only for pictures */
    if (!w)
        w = plan->poster.format;
    return w ? w : writer_table[0];
}

bool outputs_are_posters(const struct plan *plan)
{
    return plan->poster.wanted || outputs_format(plan)->page;
}

bool outputs_show_palette(const struct plan *plan, const struct writer *w)
{
    return w->palette || (w == outputs_format(plan) && outputs_are_posters(plan));
}

/* Returns true if pictures are made: other outputs suppress them without -o or --poster. */
static bool have_pictures(const struct plan *plan)
{
    bool other = false;
    for (size_t k = 0; k < plan->outputs.extras; k++)
        other |=
            !plan->outputs.extra[k].writer->one_line; /* --bench does not replace the picture */
    return plan->outputs.path || plan->poster.wanted || !other;
}

/* Returns FILE with "-MODE" before its ending, for the caller to free. NULL if out of memory. */
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

/* Returns the modes that one file of this writer shows. */
static struct strips shown_by(const struct writer *w, const struct picture_options *o)
{
    return w->all_computed ? (struct strips){o->computed, o->computes}
                           : (struct strips){o->strip, o->strips};
}

/* Sets the name of one output of -o. */
static bool name_picture(const struct plan *plan, const struct inputs *in, size_t i, bool several,
                         struct output *output, struct err *e)
{
    if (is_chosen(&plan->outputs))
        return outputs_choose_name(plan, in, i, plan->outputs.path,
                                   writer_usual_ending(output->writer), true, output, e);
    output->path = output->made =
        several ? insert_strip(plan->outputs.path, output->strips.kind[0]->name, e)
                : path_join("", plan->outputs.path, "", e);
    return output->path != NULL;
}

/* Rejects several pictures with one name. */
static bool check_several(const struct outputs_options *o, size_t pictures, struct err *e)
{
    if (!is_chosen(o) && outputs_is_stdout(o->path))
        return err_set(e, ERR_USAGE, "-o -: stdout can carry one picture, not %zu", pictures);
    return !is_chosen(o) || !o->name || strstr(o->name, OUTPUTS_NAME_MODE) ||
           err_set(e, ERR_USAGE,
                   "--name '%s': %zu pictures of a film would have the same name; "
                   "put " OUTPUTS_NAME_MODE " into it",
                   o->name, pictures);
}

/* Adds the outputs of -o. */
static bool add_pictures(const struct plan *plan, const struct inputs *in, size_t i,
                         struct outputs *list, struct err *e)
{
    const struct writer *w = outputs_format(plan);
    struct strips shown = shown_by(w, &plan->picture);
    size_t each = w->one_a_strip && !plan->picture.stacked ? 1 : shown.count;
    bool several = each < shown.count;
    if (!is_chosen(&plan->outputs) && inputs_films(in) > 1)
        return outputs_refuse_one_name(plan->outputs.path, w, inputs_films(in), e);
    if (several && !check_several(&plan->outputs, plan->picture.strips, e))
        return false;
    for (size_t k = 0; k < shown.count; k += each) {
        struct output *output = &list->output[list->count++];
        *output = (struct output){.writer = w, .strips = {shown.kind + k, each}, .option = "-o"};
        if (!name_picture(plan, in, i, several, output, e))
            return false;
    }
    list->pictures = list->count;
    return true;
}

/*
 * Sets the name of an output with an option of its own: PATH, or a file with the film's name in the
 * folder PATH.
 */
static bool name_extra(const struct plan *plan, const struct inputs *in, size_t i, const char *path,
                       const char *ending, struct output *output, struct err *e)
{
    if ((output->writer && output->writer->folder) || outputs_names_folder(path))
        return outputs_choose_name(plan, in, i, path, ending, false, output, e);
    output->path = path;
    return true;
}

/* Sets the name of a film's page in the gallery's folder. */
static bool name_page(const struct plan *plan, const struct inputs *in, size_t i,
                      const char *gallery, struct output *output, struct err *e)
{
    char *folder = outputs_gallery_folder(gallery, e);
    bool ok = folder && outputs_choose_name(plan, in, i, folder,
                                            writer_usual_ending(output->writer), false, output, e);
    free(folder);
    return ok;
}

static bool add_extras(const struct plan *plan, const struct inputs *in, size_t i,
                       struct outputs *list, struct err *e)
{
    for (size_t k = 0; k < plan->outputs.extras; k++) {
        const struct writer *w = plan->outputs.extra[k].writer;
        const char *path = plan->outputs.extra[k].path;
        struct output *output = &list->output[list->count++];
        *output = (struct output){.writer = w, .strips = shown_by(w, &plan->picture)};
        snprintf(output->option, sizeof output->option, "--%s", writer_option(w));
        if (w->beside ? !outputs_name_beside(plan, in, i, output, e)
            : outputs_names_gallery(plan, w, path)
                ? !name_page(plan, in, i, path, output, e)
                : !name_extra(plan, in, i, path, writer_usual_ending(w), output, e))
            return false;
    }
    list->dump = (struct output){.option = "--dump"};
    return !plan->outputs.dump ||
           name_extra(plan, in, i, plan->outputs.dump, "rgb", &list->dump, e);
}

/* Adds the outputs that a command takes in memory (options.in_memory). */
static void add_in_memory(const struct plan *plan, struct outputs *list)
{
    for (size_t k = 0; k < plan->outputs.extras; k++) {
        const struct options_extra *extra = &plan->outputs.extra[k];
        list->output[list->count++] =
            (struct output){.writer = extra->writer,
                            .strips = shown_by(extra->writer, &plan->picture),
                            .path = extra->path,
                            .in_memory = true};
    }
    list->dump = (struct output){.path = plan->outputs.dump, .in_memory = true};
}

bool outputs_of(const struct plan *plan, const struct inputs *in, size_t i, struct outputs *list,
                struct err *e)
{
    *list = (struct outputs){.count = 0};
    if (plan->outputs.sound_only)
        return true;
    if (plan->outputs.in_memory) {
        add_in_memory(plan, list);
        return true;
    }
    if ((have_pictures(plan) && !add_pictures(plan, in, i, list, e)) ||
        !add_extras(plan, in, i, list, e)) {
        outputs_free(list);
        return false;
    }
    bool again = plan->outputs.overwrite || update_knows_again(plan, in, i, list);
    for (size_t k = 0; k < list->count; k++)
        list->output[k].overwrite = again;
    list->dump.overwrite = again || update_knows_dump(plan, in, i, list);
    return true;
}

void outputs_free(struct outputs *list)
{
    for (size_t k = 0; k < list->count; k++)
        free(list->output[k].made);
    free(list->dump.made);
    *list = (struct outputs){.count = 0};
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
            return err_set(e, output->chosen ? ERR_FAILED : ERR_USAGE,
                           "the output '%s' is the film itself; choose another name%s%s",
                           output->path, output->chosen ? " with " : "",
                           output->chosen ? output->option : "");
    }
    return true;
}

/* Sets the message that the file at the output's path stays, and what to do. */
static bool refuse_old(const struct output *output, const char *why, bool replaceable,
                       struct err *e)
{
    bool named = !output->writer || !output->writer->beside; /* has a name to choose */
    const char *other = replaceable ? "use --overwrite" : "move it away";
    if (named)
        return err_set(e, ERR_FAILED, "cannot write '%s': %s; choose another name with %s%s",
                       output->path, why, output->option, replaceable ? ", or --overwrite" : "");
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
    if (!output->writer)
        return output->overwrite ||
               refuse_old(output, "the file exists, and a dump does not name its film", true, e);
    if (!writer_made(output->writer, path, shown))
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

bool outputs_allowed(const struct inputs *in, size_t i, const struct output *output, struct err *e)
{
    if (outputs_is_stdout(output->path) || output->in_memory)
        return true;
    return spare_films(in, output, e) &&
           (output->chosen ? spare_old(in, i, output, e) : outputs_keep_gallery(output, e));
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

/* Returns output `k` of a film, the dump last; NULL after the last one. */
static const struct output *nth(const struct outputs *list, size_t k)
{
    return k < list->count                       ? &list->output[k]
           : k == list->count && list->dump.path ? &list->dump
                                                 : NULL;
}

/* An output with an option of its own: --dump, or one of options.extra. */
struct named {
    char option[32];
    const char *path;
    const struct writer *writer; /* NULL: a dump */
    bool gallery;
};

struct named_list {
    struct named named[WRITERS_MOST + 1];
    size_t count;
};

static struct named_list list_named(const struct plan *plan)
{
    struct named_list list = {.count = 0};
    for (size_t k = 0; k < plan->outputs.extras; k++) {
        const struct writer *w = plan->outputs.extra[k].writer;
        if (w->beside)
            continue; /* it names no path */
        struct named *n = &list.named[list.count++];
        *n = (struct named){.path = plan->outputs.extra[k].path,
                            .writer = w,
                            .gallery = outputs_names_gallery(plan, w, plan->outputs.extra[k].path)};
        snprintf(n->option, sizeof n->option, "--%s", writer_option(w));
    }
    if (plan->outputs.dump)
        list.named[list.count++] = (struct named){.option = "--dump", .path = plan->outputs.dump};
    return list;
}

static bool check_terminal(const struct plan *plan, const struct named_list *list, struct err *e)
{
    const char *option =
        plan->outputs.path && outputs_is_stdout(plan->outputs.path) && outputs_format(plan)->binary
            ? "-o"
            : NULL;
    for (size_t k = 0; k < list->count; k++) {
        const struct named *n = &list->named[k];
        if ((!n->writer || n->writer->binary) && outputs_is_stdout(n->path))
            option = n->option;
    }
    return !option || !isatty(STDOUT_FILENO) ||
           err_set(e, ERR_USAGE, "%s -: stdout is a terminal; send pixels to a file or a pipe",
                   option);
}

/* Rejects one file for several films, unless each film is lines of it. */
static bool check_one_for_many(const struct inputs *in, const struct named *n, struct err *e)
{
    const struct writer *w = n->writer;
    return (w && (w->one_line || w->table || w->folder)) || n->gallery ||
           outputs_names_folder(n->path) || inputs_films(in) <= 1 ||
           err_set(e, ERR_USAGE, "%s %s: one file for %zu films; give a folder (DIR/)", n->option,
                   n->path, inputs_films(in));
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
    bool own = picture || output->chosen;
    struct err *whose = own ? problem : e;
    if (!outputs_allowed(in, i, output, whose) || !check_old(output->path, whose))
        return own;
    /* all films have the same folder */
    bool shared = !output->below && !(output->writer && output->writer->beside);
    return outputs_check_folder(output, shared ? e : problem) || !shared;
}

static bool check_pairs(const struct outputs *list, const char *report, struct err *e)
{
    for (size_t k = 0; report && nth(list, k); k++)
        if (same_output(nth(list, k)->path, report))
            return err_set(e, ERR_USAGE, "'%s' is requested twice: by %s and by --report", report,
                           nth(list, k)->option);
    for (size_t k = 0; nth(list, k); k++) {
        for (size_t j = k + 1; nth(list, j); j++) {
            const struct output *a = nth(list, k), *b = nth(list, j);
            if (!same_output(a->path, b->path))
                continue;
            if (k < list->pictures)
                return err_set(e, ERR_USAGE,
                               "'%s' is requested twice: as the picture and as another output",
                               a->path);
            return err_set(e, ERR_USAGE, "'%s' is requested twice: by %s and by %s", a->path,
                           a->option, b->option);
        }
    }
    return true;
}

static bool check_film(const struct plan *plan, struct inputs *in, size_t i, struct err *e)
{
    struct outputs outputs;
    struct err *problem = &in->problem[i];
    bool ok = true;
    if (outputs_of(plan, in, i, &outputs, problem)) {
        for (size_t k = 0; nth(&outputs, k) && ok && problem->code == ERR_NONE; k++)
            ok = !outputs_spare_gallery(plan, nth(&outputs, k), problem) ||
                 check_output(in, i, nth(&outputs, k), k < outputs.pictures, problem, e);
        ok = ok && check_pairs(&outputs, plan->outputs.report, e);
        outputs_free(&outputs);
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
static bool check_folder(const struct plan *plan, const struct inputs *in, const char *folder,
                         struct err *e)
{
    if (folder && *folder && !outputs_check_named(folder, e))
        return false;
    if (outputs_add_suffix(plan, in, folder))
        log_msg(LOG_VERBOSE,
                "names in '%s' end in " OUTPUTS_SUFFIX
                ", because films are in that folder, too; --name '" OUTPUTS_NAME_STEM
                "' avoids that",
                folder && *folder ? folder : ".");
    return true;
}

/*
 * Checks the folders of all options. Sets `*chosen` to the number of options whose output names the
 * program chooses.
 */
static bool check_folders(const struct plan *plan, const struct inputs *in,
                          const struct named_list *list, size_t *chosen, struct err *e)
{
    *chosen = have_pictures(plan) && is_chosen(&plan->outputs);
    bool ok = *chosen == 0 || check_folder(plan, in, plan->outputs.path, e);
    for (size_t k = 0; k < list->count && ok; k++) {
        const struct named *n = &list->named[k];
        char *folder = n->gallery ? outputs_gallery_folder(n->path, e) : NULL;
        bool names = (n->writer && n->writer->folder) || outputs_names_folder(n->path);
        *chosen += n->gallery || names;
        ok = n->gallery ? folder && check_folder(plan, in, folder, e)
                        : !names || check_folder(plan, in, n->path, e);
        free(folder);
    }
    return ok;
}

static bool is_any_due(const struct inputs *in)
{
    for (size_t i = 0; i < in->count; i++) {
        if (inputs_is_due(in, i))
            return true;
    }
    return false;
}

bool outputs_check(const struct plan *plan, struct inputs *in, struct err *e)
{
    struct named_list list = list_named(plan);
    if (!check_terminal(plan, &list, e) || (outputs_are_posters(plan) && !paint_has_letters(e)))
        return false;
    if (plan->poster.style.font)
        paint_check_font(plan->poster.style.font);
    if (plan->poster.title && inputs_films(in) > 1)
        return err_set(e, ERR_USAGE,
                       "--title: one title for %zu films; without it each has its own",
                       inputs_films(in));
    for (size_t k = 0; k < list.count; k++) {
        if (!check_one_for_many(in, &list.named[k], e) ||
            (list.named[k].gallery && !check_gallery(list.named[k].path, e)))
            return false;
    }
    if (!outputs_check_beside(plan, in, e))
        return false;
    size_t chosen = 1;
    if (is_any_due(in) && !check_folders(plan, in, &list, &chosen, e))
        return false;
    if (plan->outputs.name && chosen == 0)
        return err_set(
            e, ERR_USAGE,
            "--name applies to outputs in folders, but every output has a name of its own");
    for (size_t i = 0; i < in->count; i++) {
        if (inputs_is_due(in, i) && !check_film(plan, in, i, e))
            return false;
    }
    /* The report is appended to, which would damage any other file. */
    struct output report = {.path = plan->outputs.report};
    bool ok = check_name("-o", plan->outputs.path, e) && check_format(plan->outputs.path, e) &&
              check_name("--report", plan->outputs.report, e) &&
              (!plan->outputs.report || spare_films(in, &report, e));
    for (size_t k = 0; k < list.count && ok; k++)
        ok = check_name(list.named[k].option, list.named[k].path, e);
    return ok;
}
