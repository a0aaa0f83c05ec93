#include "outputs_options.h"

#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "inputs.h"

#define OPTION_STRUCT struct outputs_options

/* Returns the place of a writer in writer_table. */
static size_t number_of(const struct writer *w)
{
    size_t i = 0;
    while (i < writer_count && writer_table[i] != w)
        i++;
    return i;
}

/* Adds an output, or replaces its path: `extra` stays in the order of writer_table. */
static void add_extra(struct outputs_options *o, const struct writer *w, const char *path)
{
    size_t at = 0;
    while (at < o->extras && number_of(o->extra[at].writer) < number_of(w))
        at++;
    if (at == o->extras || o->extra[at].writer != w) {
        memmove(&o->extra[at + 1], &o->extra[at], (o->extras - at) * sizeof *o->extra);
        o->extras++;
    }
    o->extra[at] = (struct options_extra){w, path};
}

/*
 * Adds an output with an option of its own. Given again, the last value counts. Without a value the
 * path is stdout.
 */
static bool add_output(struct outputs_options *o, const struct writer *w, const char *arg,
                       struct err *e)
{
    char title[32];
    const char *path;
    snprintf(title, sizeof title, "--%s", writer_option(w));
    if (w->folder && atomic_file_is_stdout(arg))
        return err_set(e, ERR_USAGE, "%s: '%s' is not a folder", title, arg);
    if (!option_set_path(title, arg ? arg : "-", &path, e))
        return false;
    add_extra(o, w, path);
    return true;
}

/* Adds the output of the writer that has the option's name. */
static bool set_output(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    return add_output(options, writer_find(row->name), arg, e);
}

/* Returns the last part of the ending of the names that the program chooses: "csv". */
static const char *last_ending(const struct writer *w)
{
    const char *ending = writer_usual_ending(w), *dot = strrchr(ending, '.');
    return dot ? dot + 1 : ending;
}

/*
 * Sets the path of an option that several writers have, whose help ends in ": " and their endings.
 * The ending selects the format; a folder or stdout gets the first one. The option may be given
 * once per format.
 */
static bool set_by_ending(void *options, const struct option_row *row, const char *arg,
                          struct err *e)
{
    size_t length = strlen(arg);
    bool plain =
        !*arg || arg[length - 1] == '/' || inputs_is_folder(arg) || atomic_file_is_stdout(arg);
    for (size_t i = 0; i < writer_count; i++) {
        const struct writer *w = writer_table[i];
        const char *const ending[] = {last_ending(w), NULL};
        if (strcmp(writer_option(w), row->name) == 0 && (plain || writer_has_ending(arg, ending)))
            return add_output(options, w, arg, e);
    }
    return err_set(e, ERR_USAGE, "--%s: '%s' does not end in one of%s", row->name, arg,
                   strchr(row->help, ':') + 1);
}

/* Adds the writers of KIND[,KIND...]. Their files lie beside the films. */
static bool set_trickplay(void *options, const struct option_row *row, const char *arg,
                          struct err *e)
{
    for (size_t length;; arg += length + 1) {
        const struct writer *found = NULL;
        arg += strspn(arg, " ");
        length = strcspn(arg, ",");
        for (size_t i = 0; i < writer_count; i++) {
            const struct writer *w = writer_table[i];
            if (w->beside && strlen(w->name) == length && memcmp(arg, w->name, length) == 0)
                found = w;
        }
        if (!found)
            return err_set(e, ERR_USAGE, "--%s: '%.*s' is not jellyfin or bif", row->name,
                           (int)length, arg);
        add_extra(options, found, "");
        if (!arg[length])
            return true;
    }
}

/* Checks a pattern such as "{stem}-barcode". */
static bool set_name(void *options, const struct option_row *row, const char *arg, struct err *e)
{
    struct outputs_options *o = options;
    (void)row;
    if (!*arg || strchr(arg, '/'))
        return err_set(e, ERR_USAGE, "--name: '%s' is not a file name", arg);
    for (const char *c = arg + strcspn(arg, "{}"); *c; c += strcspn(c, "{}")) {
        size_t length = strcspn(c, "}") + 1;
        if (strncmp(c, OUTPUTS_NAME_STEM, length) != 0 &&
            strncmp(c, OUTPUTS_NAME_MODE, length) != 0)
            return err_set(e, ERR_USAGE,
                           "--name: '%s' has a brace outside of " OUTPUTS_NAME_STEM
                           " or " OUTPUTS_NAME_MODE,
                           arg);
        c += length;
    }
    o->name = arg;
    return true;
}

static const struct option_row rows[] = {
    {"update", NULL, "skip films whose outputs exist and are up to date", .group = OPTION_FILMS,
     .common = TASK_OUTPUT, OPTION_FLAG(update)},
    {"retry", NULL, "with --update, also try films that failed before and are unchanged",
     .group = OPTION_FILMS, OPTION_FLAG(retry)},
    {"output", "FILE|DIR",
     "output file (.png, .jpg, .webp, .pdf, .svg, .html), folder, "
     "or - for stdout (FILM.png in the working directory)",
     'o', OPTION_PICTURE, .common = TASK_OUTPUT, OPTION_PATH(path)},
    {"name", "PATTERN", "file names in folders, made of {stem} and {mode} (.jpg: JPEG)",
     .group = OPTION_PICTURE, OPTION_CUSTOM(set_name)},
    {"html", "FILE|DIR", "write a page for a browser; DIR/index.html: a gallery",
     .group = OPTION_OUTPUTS, .common = TASK_OUTPUT, OPTION_CUSTOM(set_output)},
    {"json", "FILE|DIR", "write every column's colours, counts and time", .group = OPTION_OUTPUTS,
     OPTION_CUSTOM(set_output)},
    {"csv", "FILE|DIR", "write a row per column: time, colour, lightness", .group = OPTION_OUTPUTS,
     .common = TASK_OUTPUT, OPTION_CUSTOM(set_output)},
    {"swatches", "FILE|DIR", "write the film's palette: .gpl, .ase, .css, .json",
     .group = OPTION_OUTPUTS, OPTION_CUSTOM(set_by_ending)},
    {"shot-list", "FILE|DIR",
     "write the film's shots: .csv, .json, .edl, .otio, .ffmeta, .xml, .vtt",
     .group = OPTION_OUTPUTS, OPTION_CUSTOM(set_by_ending)},
    {"thumbnails", "DIR", "write thumbnail sheets and WebVTT for players", .group = OPTION_OUTPUTS,
     OPTION_CUSTOM(set_output)},
    {"trickplay", "KIND[,KIND]", "write previews for media servers beside each film: jellyfin, bif",
     .group = OPTION_OUTPUTS, .words = OPTION_WORDS("jellyfin", "bif"), .list = true,
     OPTION_CUSTOM(set_trickplay)},
    {"trickplay-dir", "DIR", "write these previews to a folder, not beside the films",
     .group = OPTION_OUTPUTS, OPTION_PATH(previews)},
    {"landmarks", "FILE|DIR", "write the peaks of the sound's spectrogram as CSV",
     .group = OPTION_OUTPUTS, OPTION_CUSTOM(set_output)},
    {"spectrogram", "FILE|DIR", "write the sound's spectrogram for NumPy (.npy)",
     .group = OPTION_OUTPUTS, OPTION_CUSTOM(set_output)},
    {"dump", "FILE|DIR", "write the analysed frames as raw RGB24", .group = OPTION_OUTPUTS,
     OPTION_PATH(dump)},
    {"report", "FILE", "append a line of JSON per film", .group = OPTION_OUTPUTS,
     OPTION_PATH(report)},
    {"overwrite", NULL, "also replace outputs of other films", .group = OPTION_OUTPUTS,
     OPTION_FLAG(overwrite)},
    {"bench", NULL, "print stage times and rates to stdout as JSON", .group = OPTION_EXPERTS,
     OPTION_CUSTOM(set_output)},
    {"strict", NULL, "fail if a film is decoded only in part", .group = OPTION_RUN,
     OPTION_FLAG(strict)},
    {0}};

static const struct outputs_options defaults = {.path = NULL};

const struct option_table outputs_options = {rows, &defaults, sizeof defaults};
