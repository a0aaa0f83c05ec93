#include "outputs_names.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/path.h"
#include "options_fingerprint.h"
#include "output/html/gallery.h"

/* ---- What the options say ---- */

bool outputs_is_stdout(const char *path) { return strcmp(path, "-") == 0; }

bool outputs_names_folder(const char *path)
{
    size_t length = strlen(path);
    return !outputs_is_stdout(path) &&
           ((length > 0 && path[length - 1] == '/') || inputs_is_folder(path));
}

/* Returns true if the program chooses the names of -o's outputs. */
static bool are_chosen(const struct outputs_options *o)
{
    return !o->path || outputs_names_folder(o->path);
}

const struct writer *outputs_format(const struct plan *plan)
{
    const struct outputs_options *o = &plan->outputs;
    const char *name = are_chosen(o) ? o->name : o->path;
    const struct writer *w = name ? writer_by_ending(name) : NULL;
    if (w && are_chosen(o) && !w->one_a_strip)
        w = NULL; /* --name is for all outputs, but its ending only for pictures */
    if (!w)
        w = plan->poster.format;
    return w ? w : writer_table[0];
}

bool outputs_are_posters(const struct plan *plan)
{
    return plan->poster.wanted || outputs_format(plan)->page;
}

/* Returns true if pictures are made: other outputs suppress them without -o or --poster. */
static bool has_pictures(const struct plan *plan)
{
    bool other = false;
    /* --bench does not replace the picture */
    for (size_t k = 0; k < plan->outputs.extras; k++)
        other |= !plan->outputs.extra[k].writer->one_line;
    return plan->outputs.path || plan->poster.wanted || !other;
}

/*
 * Returns true if names in this folder get OUTPUTS_SUFFIX, because films come from it. NULL is the
 * working directory if no option names it ("" and "." do). It counts only if it is an argument
 * itself, so film.mkv gives film.png. With --name no folder counts.
 */
static bool add_suffix(const struct outputs_options *o, const struct inputs *in, const char *folder)
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

/* Returns true if `path` names a gallery of this writer's files (outputs.h). */
static bool names_gallery(const struct inputs_options *inputs, const struct writer *w,
                          const char *path)
{
    size_t length;
    static const char name[] = "index.";
    const char *last = path_last(path, &length);
    if (!w->gallery || inputs_is_folder(path) || last[length] != 0)
        return false;
    return strncmp(last, name, strlen(name)) == 0 &&
           strcmp(last + strlen(name), writer_usual_ending(w)) == 0 &&
           (inputs->count > 1 || (inputs->count == 1 && inputs_is_folder(inputs->argument[0])) ||
            gallery_exists(path));
}

/* Returns the modes that one file of this writer shows. */
static struct strips shown_by(const struct writer *w, const struct picture_options *o)
{
    return w->all_computed ? (struct strips){o->computed, o->computes}
                           : (struct strips){o->strip, o->strips};
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

/* ---- The kinds of outputs ---- */

/* Adds the outputs of -o. */
static bool add_pictures(struct output_plan *o, struct err *e)
{
    const char *path = o->plan->outputs.path;
    const struct writer *w = o->format;
    const struct strips shown = shown_by(w, &o->plan->picture);
    const size_t each = w->one_a_strip && !o->plan->picture.stacked ? 1 : shown.count;
    const bool chosen = are_chosen(&o->plan->outputs);
    for (size_t k = 0; k < shown.count; k += each) {
        struct output_kind *kind = &o->kind[o->kinds++];
        *kind = (struct output_kind){.writer = w,
                                     .strips = {shown.kind + k, each},
                                     .option = "-o",
                                     .path = path,
                                     .folder = path,
                                     .chosen = chosen};
        if (chosen || each == shown.count || outputs_is_stdout(path))
            continue;
        kind->path = kind->made = insert_strip(path, shown.kind[k]->name, e);
        if (!kind->path)
            return false;
    }
    o->pictures = o->kinds;
    return true;
}

/* Adds an output with an option of its own; the dump has no writer. */
static bool add_extra(struct output_plan *o, const struct writer *w, const char *path,
                      struct err *e)
{
    struct output_kind *kind = &o->kind[o->kinds++];
    *kind = (struct output_kind){.writer = w, .path = path, .folder = path};
    snprintf(kind->option, sizeof kind->option, "--%s", w ? writer_option(w) : "dump");
    if (w)
        kind->strips = shown_by(w, &o->plan->picture);
    kind->in_memory = o->plan->outputs.in_memory;
    if (kind->in_memory)
        return true;
    kind->gallery = w && names_gallery(&o->plan->inputs, w, path);
    kind->chosen = kind->gallery || (w && (w->beside || w->folder)) || outputs_names_folder(path);
    if (!kind->gallery)
        return true;
    size_t length;
    o->gallery = o->gallery ? o->gallery : path;
    kind->folder = kind->made = strndup(path, (size_t)(path_last(path, &length) - path));
    return kind->folder || err_memory(e, strlen(path));
}

/* Sets what follows from the kind's writer and modes. */
static void complete_kind(struct output_plan *o, const struct inputs *in, struct output_kind *kind)
{
    const struct writer *w = kind->writer;
    struct output_needs *needs = &o->needs;
    kind->suffix = kind->chosen && add_suffix(&o->plan->outputs, in, kind->folder);
    needs->columns |= !w || !w->beside;
    needs->sound_only &= w && w->sound;
    if (!w)
        return;
    options_fingerprint(o->plan, o->format, w, kind->strips, kind->fingerprint);
    if (!o->table && w->table && !kind->chosen && inputs_films(in) > 1)
        o->table = kind->path;
    unsigned strips = w->modeless ? 0 : strips_need(kind->strips);
    if (w->table)
        strips |= csv_columns_need(&o->plan->formats.csv_columns);
    needs->strips |= strips;
    needs->sheets |= w == &writer_jellyfin;
    needs->singles |= w == &writer_bif;
    needs->thumbs |= w->thumbnails;
    needs->palette |= w->palette || (w == o->format && o->posters);
    needs->sound |= w->sound || (strips & STRIP_SOUND);
    needs->spectrum |= w->spectrum;
}

static bool add_kinds(struct output_plan *o, struct err *e)
{
    const struct outputs_options *asked = &o->plan->outputs;
    if (asked->sound_only)
        return true;
    if (!asked->in_memory && has_pictures(o->plan) && !add_pictures(o, e))
        return false;
    for (size_t k = 0; k < asked->extras; k++)
        if (!add_extra(o, asked->extra[k].writer, asked->extra[k].path, e))
            return false;
    return !asked->dump || add_extra(o, NULL, asked->dump, e);
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
static void put_kind(FILE *f, const struct output_plan *o, struct strips strips)
{
    const struct plan *plan = o->plan;
    if (plan->picture.strips > 1 || strips.kind[0] != strip_table[0]) {
        fputc('-', f);
        put_modes(f, plan, strips);
    }
    if (plan->picture.shape != SHAPE_STRIP)
        fprintf(f, "-%s", strip_shape_name(plan->picture.shape));
    if (o->posters)
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
 * Sets the name of a film's output in the kind's folder. A picture without --name gets what
 * distinguishes the pictures of one film: mode, shape, "poster". Returns false if out of memory.
 */
static bool choose_name(const struct output_plan *o, const char *stem, bool picture,
                        struct output *output, struct err *e)
{
    const struct plan *plan = o->plan;
    const struct output_kind *kind = output->kind;
    const char *folder = kind->folder ? kind->folder : "";
    size_t length, size;
    const char *last = path_last(stem, &length);
    char *name = NULL;
    FILE *f = open_memstream(&name, &size);
    if (!f)
        return err_memory(e, strlen(stem));
    fprintf(f, "%.*s", (int)(last - stem), stem);
    if (plan->outputs.name)
        put_pattern(f, plan, last,
                    picture ? kind->strips
                            : (struct strips){plan->picture.strip, plan->picture.strips});
    else
        fprintf(f, "%s%s", last, kind->suffix ? OUTPUTS_SUFFIX : "");
    if (!plan->outputs.name && picture)
        put_kind(f, o, kind->strips);
    fprintf(f, ".%s", kind->writer ? writer_usual_ending(kind->writer) : "rgb");
    if (fclose(f) != 0) {
        free(name);
        return err_memory(e, strlen(stem));
    }
    output->path = output->made = path_join(folder, name, "", e);
    free(name);
    if (output->path && (*folder || strchr(stem, '/')))
        output->below = output->path + (*folder ? last_begins(folder) : 0);
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
                       film, output->kind->option);
    if (dot && dot > name)
        length = (size_t)(dot - name);
    output->kind->writer->beside(&plan->formats.previews, suffix);
    if (plan->outputs.previews) {
        output->path = output->made = path_join(plan->outputs.previews, in->stem[i], suffix, e);
        if (output->path)
            output->below = output->path + last_begins(plan->outputs.previews);
        return output->path != NULL;
    }
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

/* Rejects several pictures with one name. */
static bool check_several(const struct outputs_options *o, bool chosen, size_t pictures,
                          struct err *e)
{
    if (!chosen && outputs_is_stdout(o->path))
        return err_set(e, ERR_USAGE, "-o -: stdout can carry one picture, not %zu", pictures);
    return !chosen || !o->name || strstr(o->name, OUTPUTS_NAME_MODE) ||
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

/* Rejects one name for several films or pictures. */
static bool check_pictures(const struct output_plan *o, const struct inputs *in, struct err *e)
{
    if (o->pictures == 0)
        return true;
    if (!o->kind[0].chosen && inputs_films(in) > 1)
        return refuse_one_name(o->plan->outputs.path, o->format, inputs_films(in), e);
    return o->pictures == 1 ||
           check_several(&o->plan->outputs, o->kind[0].chosen, o->plan->picture.strips, e);
}

static void free_film(struct outputs *list)
{
    for (size_t k = 0; k < list->count; k++)
        free(list->output[k].made);
    free(list->output);
    *list = (struct outputs){.output = NULL};
}

const struct output *outputs_dump(const struct outputs *list)
{
    const struct output *last = list->count > 0 ? &list->output[list->count - 1] : NULL;
    return last && !last->kind->writer ? last : NULL;
}

/* Sets the names in film i's list. */
static bool name_all(const struct output_plan *o, const struct inputs *in, size_t i,
                     struct outputs *list, struct err *e)
{
    for (size_t k = 0; k < o->kinds; k++) {
        const struct output_kind *kind = &o->kind[k];
        struct output *output = &list->output[list->count++];
        bool ok = true;
        *output = (struct output){
            .kind = kind, .path = kind->path, .overwrite = o->plan->outputs.overwrite};
        if (kind->writer && kind->writer->beside)
            ok = outputs_name_beside(o->plan, in, i, output, e);
        else if (kind->chosen)
            ok = choose_name(o, in->stem[i], k < o->pictures, output, e);
        if (!ok)
            return false;
    }
    return true;
}

bool outputs_name(struct output_plan *o, const struct inputs *in, size_t i, struct err *e)
{
    struct outputs *list = &o->film[i];
    if (o->kinds == 0 || list->output)
        return true;
    if (!check_pictures(o, in, e))
        return false;
    list->output = err_calloc(o->kinds, sizeof *list->output, e);
    if (!list->output)
        return false;
    if (name_all(o, in, i, list, e))
        return true;
    free_film(list);
    return false;
}

bool outputs_plan(const struct plan *plan, const struct inputs *in, struct output_plan *o,
                  struct err *e)
{
    *o = (struct output_plan){
        .plan = plan, .format = outputs_format(plan), .posters = outputs_are_posters(plan)};
    if (!add_kinds(o, e))
        return false;
    o->needs.sound = plan->outputs.sound_only;
    o->needs.shots = plan->film.shots;
    o->needs.sound_only = plan->outputs.sound_only || (o->kinds > 0 && !plan->film.verify);
    for (size_t k = 0; k < o->kinds; k++)
        complete_kind(o, in, &o->kind[k]);
    o->film = err_calloc(in->count + 1, sizeof *o->film, e);
    if (!o->film)
        return false;
    o->films = in->count;
    for (size_t i = 0; i < in->count; i++) {
        struct err reported_later = ERR_INIT;
        if (interrupted())
            return interrupt_error(e);
        if (inputs_is_due(in, i))
            (void)outputs_name(o, in, i, &reported_later);
    }
    return true;
}

void outputs_free(struct output_plan *o)
{
    for (size_t k = 0; k < o->kinds; k++)
        free(o->kind[k].made);
    for (size_t i = 0; i < o->films; i++)
        free_film(&o->film[i]);
    free(o->film);
    *o = (struct output_plan){.kinds = 0};
}
