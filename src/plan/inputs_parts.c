#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "output/writer.h"
#include "inputs_list.h"
#include "inputs.h"

/* ---- Images ---- */

static const char *const image_ending[] = {"png",  "jpg", "jpeg", "jpe", "bmp", "tif", "tiff",
                                           "webp", "dpx", "exr",  "tga", "ppm", "pgm", "pnm",
                                           "pam",  "jp2", "j2k",  "jxl", "sgi", NULL};

bool inputs_is_image_name(const char *name) { return writer_has_ending(name, image_ending); }

/* Returns true if both images have one format by their endings. */
static bool same_format(const char *a, const char *b)
{
    static const char *const jpeg[] = {"jpg", "jpeg", "jpe", NULL};
    static const char *const tiff[] = {"tif", "tiff", NULL};
    const char *dot_a = strrchr(a, '.'), *dot_b = strrchr(b, '.');
    return (dot_a && dot_b && strcasecmp(dot_a, dot_b) == 0) ||
           (writer_has_ending(a, jpeg) && writer_has_ending(b, jpeg)) ||
           (writer_has_ending(a, tiff) && writer_has_ending(b, tiff));
}

bool inputs_set_rate(const struct inputs_options *o, struct film_parts *parts, struct err *e)
{
    enum { RATE_USUAL = 24 };
    const char *first = parts->part[0].path;
    if (inputs_is_image_name(first)) {
        parts->rate_num = o->rate_num > 0 ? o->rate_num : RATE_USUAL;
        parts->rate_den = o->rate_num > 0 ? o->rate_den : 1;
    }
    for (size_t i = 1; i < parts->count; i++) {
        const char *path = parts->part[i].path;
        bool image = inputs_is_image_name(path);
        if (image != (parts->rate_num > 0) || (image && !same_format(first, path)))
            return err_set(e, ERR_INPUT, "cannot join '%s' to '%s': they have different formats",
                           path, first);
    }
    return true;
}

/* ---- --join ---- */

static bool add_file(struct film_parts *parts, char *name, struct err *e)
{
    if (!*name)
        return err_set(e, ERR_USAGE, "the name of a FILM is empty");
    if (inputs_is_folder(name) || file_descriptor(name) >= 0 || strcmp(name, "-") == 0)
        return err_set(e, ERR_USAGE, "--join: '%s' is not a file", name);
    return film_parts_add(parts, &(struct film_part){.path = name}, e);
}

bool inputs_join(struct inputs_list *list, struct err *e)
{
    const struct inputs_options *o = list->options;
    struct film_parts *parts = err_calloc(1, sizeof *parts, e);
    if (!parts)
        return false;
    bool ok = true;
    for (size_t i = 0; i < o->count && ok; i++)
        ok = add_file(parts, o->argument[i], e);
    if (!ok || !inputs_set_rate(o, parts, e)) {
        film_parts_free(&parts);
        return false;
    }
    char *path = strdup(o->argument[0]);
    if (!path) {
        film_parts_free(&parts);
        return err_memory(e, strlen(o->argument[0]) + 1);
    }
    return inputs_list_parts(list, path, parts, o->argument[0], "", e);
}

/* ---- Patterns of image2 ---- */

/* A name with one number: "img%04d.png". */
struct pattern {
    const char *folder; /* [folder_length] of the path, with its slash */
    size_t folder_length, before_length;
    const char *before, *after; /* `before` is [before_length] */
    int width;                  /* the least number of digits, padded with zeros */
};

static bool parse_pattern(const char *path, struct pattern *p)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path,
               *percent = strchr(name, '%');
    *p = (struct pattern){
        .folder = path, .folder_length = (size_t)(name - path), .before = name, .after = ""};
    if (!percent)
        return false;
    p->before_length = (size_t)(percent - name);
    const char *digits = percent + 1, *end = digits + strspn(digits, "0123456789");
    bool padded = *digits == '0' && end - digits == 2;
    p->width = padded ? digits[1] - '0' : 1;
    p->after = end + 1;
    return *end == 'd' && (padded || end == digits) && !strchr(p->after, '%');
}

bool inputs_is_pattern(const char *path)
{
    struct pattern p;
    struct stat s;
    return parse_pattern(path, &p) && stat(path, &s) != 0;
}

/* Returns a new string, the path of number `n`, or NULL if out of memory. */
static char *numbered(const struct pattern *p, int n, struct err *e)
{
    char *path;
    if (asprintf(&path, "%.*s%.*s%0*d%s", (int)p->folder_length, p->folder, (int)p->before_length,
                 p->before, p->width, n, p->after) >= 0)
        return path;
    err_memory(e, p->folder_length + p->before_length + strlen(p->after) + 16);
    return NULL;
}

/* Returns the number that a name has by the pattern, or -1. */
static int number_of(const struct pattern *p, const char *name)
{
    enum { DIGITS_MOST = 9 };
    if (strncmp(name, p->before, p->before_length) != 0)
        return -1;
    const char *digits = name + p->before_length;
    size_t count = strspn(digits, "0123456789"), least = (size_t)p->width;
    bool good = count >= least && count <= DIGITS_MOST && (count == least || *digits != '0') &&
                strcmp(digits + count, p->after) == 0;
    return good ? (int)strtol(digits, NULL, 10) : -1;
}

/* Sets *first and *last to the lowest and the highest number of a file, or to -1. */
static bool find_numbers(const struct pattern *p, int *first, int *last, struct err *e)
{
    bool named = p->folder_length > 0;
    char *folder = named ? strndup(p->folder, p->folder_length) : strdup(".");
    if (!folder)
        return err_memory(e, p->folder_length + 1);
    DIR *d = opendir(folder);
    const struct dirent *entry;
    *first = *last = -1;
    while (d && (entry = readdir(d))) {
        int n = number_of(p, entry->d_name);
        if (n >= 0 && (*first < 0 || n < *first))
            *first = n;
        *last = n > *last ? n : *last;
    }
    if (d)
        closedir(d);
    free(folder);
    return true;
}

/* Appends the files up to the first one that is missing, which opening the film reports. */
static bool add_numbers(struct film_parts *parts, const struct pattern *p, int first, int last,
                        struct err *e)
{
    bool ok = true, there = true;
    for (int n = first; n <= last && ok && there; n++) {
        char *path = numbered(p, n, e);
        ok = path && film_parts_add(parts, &(struct film_part){.path = path}, e);
        there = path && file_is_regular(path);
        free(path);
        if (interrupted())
            return interrupt_error(e);
    }
    return ok;
}

/* Returns what outputs are named after: the pattern's path without the number. */
static char *name_of(const struct pattern *p, struct err *e)
{
    size_t length = p->before_length;
    while (length > 0 && strchr("-_. ", p->before[length - 1]))
        length--;
    char *name;
    if (length == 0 && p->folder_length > 1)
        name = strndup(p->folder, p->folder_length - 1);
    else if (length == 0)
        name = strdup("sequence");
    else
        name = strndup(p->folder, p->folder_length + length);
    if (!name)
        err_memory(e, p->folder_length + length + 1);
    return name;
}

bool inputs_pattern(struct inputs_list *list, const char *path, struct err *e)
{
    struct pattern p;
    struct err problem = ERR_INIT;
    int first = -1, last = -1;
    parse_pattern(path, &p);
    struct film_parts *parts = err_calloc(1, sizeof *parts, e);
    if (!parts || !find_numbers(&p, &first, &last, e) ||
        (first >= 0 && !add_numbers(parts, &p, first, last, e))) {
        film_parts_free(&parts);
        return false;
    }
    if (parts->count == 0) {
        film_parts_free(&parts);
        err_set(&problem, ERR_INPUT, "no file has a name such as '%s'", path);
        return inputs_list_problem(list, path, &problem, e);
    }
    inputs_set_rate(list->options, parts, e);
    char *copy = strdup(path), *name = copy ? name_of(&p, e) : NULL;
    if (!name) {
        film_parts_free(&parts);
        free(copy);
        return err_memory(e, strlen(path) + 1);
    }
    bool ok = inputs_list_parts(list, copy, parts, name, "", e);
    free(name);
    return ok;
}
