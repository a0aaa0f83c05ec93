#include "outputs_names.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/path.h"
#include "inputs.h"

bool outputs_names_folder(const char *path)
{
    size_t length = strlen(path);
    return !outputs_is_stdout(path) &&
           ((length > 0 && path[length - 1] == '/') || inputs_is_folder(path));
}

bool outputs_add_suffix(const struct plan *plan, const struct inputs *in, const char *folder)
{
    struct stat s;
    if (plan->outputs.name || stat(folder && *folder ? folder : ".", &s) != 0)
        return false;
    for (size_t i = 0; i < in->folders; i++) {
        const struct input_folder *f = &in->folder[i];
        if (f->device == (uint64_t)s.st_dev && f->inode == (uint64_t)s.st_ino)
            return f->named || folder;
    }
    return false;
}

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

bool outputs_choose_name(const struct plan *plan, const struct inputs *in, size_t i,
                         const char *folder, const char *ending, bool picture,
                         struct output *output, struct err *e)
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
        fprintf(f, "%s%s", last, outputs_add_suffix(plan, in, folder) ? OUTPUTS_SUFFIX : "");
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

bool outputs_refuse_one_name(const char *output, const struct writer *w, size_t films,
                             struct err *e)
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

const char *outputs_table(const struct outputs_options *o, const struct inputs *in)
{
    for (size_t k = 0; k < o->extras; k++) {
        const struct options_extra *extra = &o->extra[k];
        if (extra->writer->table && inputs_films(in) > 1 && !outputs_names_folder(extra->path))
            return extra->path;
    }
    return NULL;
}
