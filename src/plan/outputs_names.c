#include "outputs_names.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/path.h"
#include "output/html/gallery.h"
#include "update.h"

/* ---- What the options say ---- */

bool outputs_is_stdout(const char *path) { return strcmp(path, "-") == 0; }

bool outputs_names_folder(const char *path)
{
    size_t length = strlen(path);
    return !outputs_is_stdout(path) &&
           ((length > 0 && path[length - 1] == '/') || inputs_is_folder(path));
}

bool outputs_are_chosen(const struct outputs_options *o)
{
    return !o->path || outputs_names_folder(o->path);
}

const struct writer *outputs_format(const struct plan *plan)
{
    const struct outputs_options *o = &plan->outputs;
    const char *name = outputs_are_chosen(o) ? o->name : o->path;
    const struct writer *w = name ? writer_by_ending(name) : NULL;
    if (w && outputs_are_chosen(o) && !w->one_a_strip)
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

bool outputs_have_pictures(const struct plan *plan)
{
    bool other = false;
    /* --bench does not replace the picture */
    for (size_t k = 0; k < plan->outputs.extras; k++)
        other |= !plan->outputs.extra[k].writer->one_line;
    return plan->outputs.path || plan->poster.wanted || !other;
}

bool outputs_add_suffix(const struct outputs_options *o, const struct inputs *in,
                        const char *folder)
{
    struct stat s;
    if (o->name || stat(folder && *folder ? folder : ".", &s) != 0)
        return false;
    for (size_t i = 0; i < in->folders; i++) {
        const struct input_folder *f = &in->folder[i];
        if (f->device == (uint64_t)s.st_dev && f->inode == (uint64_t)s.st_ino)
            return f->named || folder;
    }
    return false;
}

bool outputs_names_gallery(const struct plan *plan, const struct writer *w, const char *path)
{
    size_t length;
    static const char name[] = "index.";
    const char *last = path_last(path, &length);
    if (!w->gallery || inputs_is_folder(path) || last[length] != 0)
        return false;
    return strncmp(last, name, strlen(name)) == 0 &&
           strcmp(last + strlen(name), writer_usual_ending(w)) == 0 &&
           (plan->inputs.count > 1 ||
            (plan->inputs.count == 1 && inputs_is_folder(plan->inputs.argument[0])) ||
            gallery_exists(path));
}

char *outputs_gallery_folder(const char *path, struct err *e)
{
    size_t length;
    char *folder = strndup(path, (size_t)(path_last(path, &length) - path));
    if (!folder)
        err_memory(e, strlen(path));
    return folder;
}

const char *outputs_gallery(const struct plan *plan)
{
    for (size_t k = 0; k < plan->outputs.extras; k++) {
        if (outputs_names_gallery(plan, plan->outputs.extra[k].writer, plan->outputs.extra[k].path))
            return plan->outputs.extra[k].path;
    }
    return NULL;
}

const char *outputs_table(const struct outputs_options *o, const struct inputs *in)
{
    for (size_t k = 0; k < o->extras; k++) {
        const struct options_extra *extra = &o->extra[k];
        if (extra->writer->table && inputs_films(in) > 1 && !outputs_names_folder(extra->path))
            return extra->path;
    }
    return NULL;
}

/* ---- Names ---- */

/* Writes the modes that an output shows: "palette", "all", "squeeze+sound", "kmeans-average". */
static void put_modes(FILE *f, const struct plan *plan, struct strips strips)
{
    char stack[STRIPS_NAME];
    strips_name(strips, stack);
    for (size_t k = 0; k < strips.count && !plan->picture.stacked; k++)
        fprintf(f, "%s%s", k > 0 ? "-" : "", strips.kind[k]->name);
    if (plan->picture.stacked)
        fputs(stack, f);
}

/* Writes a pattern that --name accepts, without the ending of a format. */
static void put_pattern(FILE *f, const struct plan *plan, const char *stem, struct strips strips)
{
    const char *end =
        writer_by_ending(plan->outputs.name) ? strrchr(plan->outputs.name, '.') : NULL;
    for (const char *c = plan->outputs.name; *c && c != end;) {
        if (strncmp(c, OUTPUTS_NAME_STEM, strlen(OUTPUTS_NAME_STEM)) == 0) {
            fputs(stem, f);
            c += strlen(OUTPUTS_NAME_STEM);
        } else if (strncmp(c, OUTPUTS_NAME_MODE, strlen(OUTPUTS_NAME_MODE)) == 0) {
            put_modes(f, plan, strips);
            c += strlen(OUTPUTS_NAME_MODE);
        } else {
            fputc(*c++, f);
        }
    }
}

/* Writes what distinguishes this picture from the one that the same film gives without options. */
static void put_kind(FILE *f, const struct plan *plan, struct strips strips)
{
    if (plan->picture.strips > 1 || strips.kind[0] != strip_table[0]) {
        fputc('-', f);
        put_modes(f, plan, strips);
    }
    if (plan->picture.shape != SHAPE_STRIP)
        fprintf(f, "-%s", strip_shape_name(plan->picture.shape));
    if (outputs_are_posters(plan))
        fputs("-poster", f);
}

/* Returns where the last part of a folder's name begins. */
static size_t last_begins(const char *folder)
{
    size_t length;
    const char *last = path_last(folder, &length);
    return length > 0 ? (size_t)(last - folder) : strlen(folder); /* the root always exists */
}

/*
 * Fills output->path, made, below and chosen: film i's name in `folder` with this ending (see
 * outputs_add_suffix). If `picture` and without --name, adds what distinguishes the pictures of one
 * film: mode, shape, "poster". Returns false if out of memory.
 */
static bool choose_name(const struct plan *plan, const struct inputs *in, size_t i,
                        const char *folder, const char *ending, bool picture, struct output *output,
                        struct err *e)
{
    size_t length, size;
    const char *stem = in->stem[i], *last = path_last(stem, &length);
    struct strips strips =
        picture ? output->strips : (struct strips){plan->picture.strip, plan->picture.strips};
    char *name = NULL;
    FILE *f = open_memstream(&name, &size);
    if (!f)
        return err_memory(e, strlen(stem));
    fprintf(f, "%.*s", (int)(last - stem), stem);
    if (plan->outputs.name)
        put_pattern(f, plan, last, strips);
    else
        fprintf(f, "%s%s", last,
                outputs_add_suffix(&plan->outputs, in, folder) ? OUTPUTS_SUFFIX : "");
    if (!plan->outputs.name && picture)
        put_kind(f, plan, strips);
    fprintf(f, ".%s", ending);
    if (fclose(f) != 0) {
        free(name);
        return err_memory(e, strlen(stem));
    }
    bool named = folder && *folder;
    output->chosen = true;
    output->path = output->made = path_join(named ? folder : "", name, "", e);
    free(name);
    if (output->path && (named || strchr(stem, '/')))
        output->below = output->path + (named ? last_begins(folder) : 0);
    return output->path != NULL;
}

bool outputs_name_beside(const struct plan *plan, const struct inputs *in, size_t i,
                         struct output *output, struct err *e)
{
    char suffix[WRITER_BESIDE];
    const char *film = film_file(in->path[i], in->parts[i], 0);
    size_t length;
    const char *name = path_last(film, &length), *dot = strrchr(name, '.');
    if (!in->parts[i] && (!in->file[i].regular || file_descriptor(film) >= 0))
        return err_set(e, ERR_FAILED, "'%s' is not a file, and %s writes beside the film's file",
                       film, output->option);
    if (dot && dot > name)
        length = (size_t)(dot - name);
    output->writer->beside(&plan->formats.previews, suffix);
    output->chosen = true;
    if (asprintf(&output->made, "%.*s%s", (int)(name - film + (ptrdiff_t)length), film, suffix) <
        0) {
        output->made = NULL;
        return err_memory(e, strlen(film) + WRITER_BESIDE);
    }
    output->path = output->made;
    if (strchr(suffix, '/'))
        output->below = output->path + (name - film);
    return true;
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
    if (outputs_are_chosen(&plan->outputs))
        return choose_name(plan, in, i, plan->outputs.path, writer_usual_ending(output->writer),
                           true, output, e);
    output->path = output->made =
        several ? insert_strip(plan->outputs.path, output->strips.kind[0]->name, e)
                : path_join("", plan->outputs.path, "", e);
    return output->path != NULL;
}

/* Rejects several pictures with one name. */
static bool check_several(const struct outputs_options *o, size_t pictures, struct err *e)
{
    if (!outputs_are_chosen(o) && outputs_is_stdout(o->path))
        return err_set(e, ERR_USAGE, "-o -: stdout can carry one picture, not %zu", pictures);
    return !outputs_are_chosen(o) || !o->name || strstr(o->name, OUTPUTS_NAME_MODE) ||
           err_set(e, ERR_USAGE,
                   "--name '%s': %zu pictures of a film would have the same name; "
                   "put " OUTPUTS_NAME_MODE " into it",
                   o->name, pictures);
}

/* Fails with ERR_USAGE: -o names one file for several films. The message names what makes many. */
static bool refuse_one_name(const char *output, const struct writer *w, size_t films, struct err *e)
{
    const char *ending = writer_usual_ending(w);
    char hint[80] = "give a folder (DIR/)";
    if (w->table)
        snprintf(hint, sizeof hint, "one table is made by --csv FILE");
    else if (w->gallery)
        snprintf(hint, sizeof hint, "--html DIR/index.html makes a page for each, and a gallery");
    else if (strcmp(ending, "png") != 0)
        snprintf(hint, sizeof hint, "give a folder, as in -o DIR/ --name '{stem}.%s'", ending);
    return err_set(e, ERR_USAGE, "-o %s: one name for %zu films; %s", output, films, hint);
}

/* Adds the outputs of -o. */
static bool add_pictures(const struct plan *plan, const struct inputs *in, size_t i,
                         struct outputs *list, struct err *e)
{
    const struct writer *w = outputs_format(plan);
    struct strips shown = shown_by(w, &plan->picture);
    size_t each = w->one_a_strip && !plan->picture.stacked ? 1 : shown.count;
    bool several = each < shown.count;
    if (!outputs_are_chosen(&plan->outputs) && inputs_films(in) > 1)
        return refuse_one_name(plan->outputs.path, w, inputs_films(in), e);
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
        return choose_name(plan, in, i, path, ending, false, output, e);
    output->path = path;
    return true;
}

/* Sets the name of a film's page in the gallery's folder. */
static bool name_page(const struct plan *plan, const struct inputs *in, size_t i,
                      const char *gallery, struct output *output, struct err *e)
{
    char *folder = outputs_gallery_folder(gallery, e);
    bool ok = folder && choose_name(plan, in, i, folder, writer_usual_ending(output->writer), false,
                                    output, e);
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
    if ((outputs_have_pictures(plan) && !add_pictures(plan, in, i, list, e)) ||
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
