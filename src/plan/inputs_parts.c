#include "inputs_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/path.h"
#include "media/container/playlists.h"
#include "output/writer.h"

/* ---- Images ---- */

static const char *const image_ending[] = {
    "png", "jpg", "jpeg", "jpe", "bmp", "tif", "tiff", "webp", "dpx",  "exr", "tga", "ppm",
    "pgm", "pnm", "pam",  "jp2", "j2k", "jxl", "sgi",  "qoi",  "fits", "fit", "fts", NULL};

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

/* ---- Chapters ---- */

/*
 * Names of chapters: # stands for a digit of the recording's number, N for one of the chapter's.
 * Letters match in both cases.
 */
static const struct scheme {
    const char *first, *next; /* the name of the first chapter, and those of the following ones */
    int number;               /* that of the first chapter */
} scheme[] = {{"GOPR####.MP4", "GPNN####.MP4", 0},
              {"GHNN####.MP4", "GHNN####.MP4", 1},
              {"GXNN####.MP4", "GXNN####.MP4", 1},
              {"VTS_##_N.VOB", "VTS_##_N.VOB", 1}};

/* Returns the chapter's number if the name matches, or -1. */
static int match(const char *form, const char *name)
{
    int number = 0;
    for (; *form && *name; form++, name++) {
        bool digit = isdigit((unsigned char)*name);
        if (*form == 'N' && digit)
            number = number * 10 + *name - '0';
        else if (!(*form == '#' ? digit : toupper((unsigned char)*name) == *form))
            return -1;
    }
    return *form || *name ? -1 : number;
}

/*
 * Writes into `path` the name of chapter `n` of the recording that `name` belongs to: the end of
 * `path` that is as long as the name.
 */
static void put_chapter(const struct scheme *s, const char *name, int n, char *path)
{
    const char *form = n == s->number ? s->first : s->next;
    size_t length = strlen(form);
    char *to = path + strlen(path) - length;
    bool small = islower((unsigned char)name[0]);
    char digits[16];
    snprintf(digits, sizeof digits, strstr(form, "NN") ? "%02d" : "%d", n);
    const char *digit = digits;
    for (size_t i = 0; i < length; i++) {
        bool kept = strchr("#.", form[i]) || i + 4 > length;
        if (kept)
            to[i] = name[i];
        else if (form[i] == 'N' && digit[0])
            to[i] = *digit++;
        else
            to[i] = small ? (char)tolower((unsigned char)form[i]) : form[i];
    }
}

static const struct scheme *find_scheme(const char *name, int *number)
{
    for (size_t i = 0; i < sizeof scheme / sizeof *scheme; i++) {
        const struct scheme *s = &scheme[i];
        *number = match(s->next, name);
        if (s->next != s->first && match(s->first, name) == 0)
            *number = s->number;
        if (*number >= s->number)
            return s;
    }
    return NULL;
}

bool inputs_chapters(const char *path, struct film_parts **parts, size_t *place, struct err *e)
{
    enum { CHAPTERS_MOST = 99 };
    size_t length;
    int number = 0, last = -1;
    const char *name = path_last(path, &length);
    const struct scheme *s = name[length] ? NULL : find_scheme(name, &number);
    *parts = NULL;
    *place = 0;
    char *other = s ? strdup(path) : NULL;
    if (!other)
        return !s || err_memory(e, strlen(path) + 1);
    int most = strstr(s->next, "NN") ? CHAPTERS_MOST : 9;
    size_t there = 0;
    for (int n = s->number; n <= most; n++) {
        put_chapter(s, name, n, other);
        if (!file_is_regular(other))
            continue;
        there++;
        *place += n < number;
        last = n;
    }
    bool ok = true;
    if (there > 0 && (there > 1 || last > s->number)) {
        ok = (*parts = err_calloc(1, sizeof **parts, e)) != NULL;
        for (int n = s->number; n <= last && ok; n++) {
            put_chapter(s, name, n, other);
            ok = film_parts_add(*parts, &(struct film_part){.path = other}, e);
        }
    }
    if (!ok)
        film_parts_free(parts);
    free(other);
    return ok;
}

/* ---- The bytes of a playlist ---- */

/* Big-endian numbers; a playlist begins with "MPLS", its version, and where its list of items is.
 */
static size_t read_16(const uint8_t *p) { return (size_t)p[0] << 8 | p[1]; }
static size_t read_32(const uint8_t *p) { return read_16(p) << 16 | read_16(p + 2); }

/* The list: 4 bytes of length, 2 unused ones, the number of items, and that of sub-paths. */
enum { HEAD = 12, LIST_HEAD = 10, ITEM_BYTES = 20, CLOCK = 45000 };

size_t mpls_begin(const uint8_t *data, size_t size, size_t *at)
{
    if (size < HEAD || memcmp(data, "MPLS", 4) != 0)
        return 0;
    size_t list = read_32(data + 8);
    if (list > size || size - list < LIST_HEAD)
        return 0;
    *at = list + LIST_HEAD;
    return read_16(data + list + 6);
}

bool mpls_next(const uint8_t *data, size_t size, size_t *at, struct mpls_item *item)
{
    if (size - *at < 2 + ITEM_BYTES || read_16(data + *at) < ITEM_BYTES ||
        size - *at < 2 + read_16(data + *at))
        return false;
    /* name[5], "M2TS", two bytes of flags, the number of its clock, start and end */
    const uint8_t *p = data + *at + 2;
    for (int k = 0; k < 5; k++)
        if (p[k] < '0' || p[k] > '9')
            return false;
    snprintf(item->name, sizeof item->name, "%.5s", (const char *)p);
    item->start_us = (int64_t)read_32(p + 12) * 1000000 / CLOCK;
    item->end_us = (int64_t)read_32(p + 16) * 1000000 / CLOCK;
    *at += 2 + read_16(data + *at);
    return memcmp(p + 5, "M2TS", 4) == 0 && item->end_us > item->start_us;
}

/* ---- The film of a playlist ---- */

/* A playlist has a few hundred bytes, rarely some hundred thousand. */
enum { PLAYLIST_MOST = 16 << 20 };

/* Reads the whole file, which the caller frees. Returns NULL with ERR_INPUT. */
static uint8_t *read_playlist(const char *path, size_t *size, struct err *e)
{
    struct stat s = {.st_size = 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &s) != 0)
        err_set(e, file_is_fault(errno) ? ERR_FAILED : ERR_INPUT, "cannot open '%s': %s", path,
                strerror(errno));
    bool fits = fd >= 0 && s.st_size > 0 && s.st_size <= PLAYLIST_MOST;
    uint8_t *data = fits ? malloc((size_t)s.st_size) : NULL;
    *size = (size_t)s.st_size;
    if (data && !file_read_at(fd, data, *size, 0)) {
        if (file_is_fault(errno))
            err_set(e, ERR_FAILED, "cannot read '%s': %s", path, strerror(errno));
        free(data);
        data = NULL;
    }
    if (fd >= 0)
        close(fd);
    if (!data)
        err_set(e, ERR_INPUT, "'%s' is not a playlist of a Blu-ray", path);
    return data;
}

/* Checks that a clip is no link out of the disc, whose file `root` is. A missing one is no error.
 */
static bool check_clip(const char *path, const char *root, const char *clip, struct err *e)
{
    char *file = playlists_file(root, clip);
    bool ok = file || errno != EPERM;
    free(file);
    return ok ||
           err_set(e, ERR_INPUT, "'%s' names '%s', which is not a file of its disc", path, clip);
}

/* Returns the ending of clips by that of their playlist. AVCHD has names of 8.3 characters. */
static const char *clip_ending(const char *path)
{
    static const char *const ending[][2] = {{".MPLS", ".M2TS"}, {".mpl", ".mts"}, {".MPL", ".MTS"}};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof ending / sizeof *ending; i++)
        if (strcmp(dot, ending[i][0]) == 0)
            return ending[i][1];
    return ".m2ts";
}

/* Appends the clips, which lie in the folder STREAM beside the playlist's. */
static bool add_clips(struct film_parts *parts, const char *path, const uint8_t *data, size_t size,
                      struct err *e)
{
    size_t at = 0, count = mpls_begin(data, size, &at);
    char *folder = path_beside(path, "../STREAM", e);
    char *root = path_beside(path, "../index.bdmv", e);
    bool ok = folder && root;
    for (size_t i = 0; i < count && ok; i++) {
        struct mpls_item item;
        ok = mpls_next(data, size, &at, &item);
        if (!ok) {
            err_set(e, ERR_INPUT, "'%s': the playlist is damaged", path);
            break;
        }
        char *clip = path_join(folder, item.name, clip_ending(path), e);
        struct film_part part = {.path = clip, .start_us = item.start_us, .end_us = item.end_us};
        ok = clip && check_clip(path, root, clip, e) && film_parts_add(parts, &part, e);
        free(clip);
    }
    free(folder);
    free(root);
    if (ok && count == 0)
        return err_set(e, ERR_INPUT, "'%s' is not a playlist of a Blu-ray", path);
    return ok;
}

bool inputs_playlist(struct inputs_list *list, const char *path, struct err *e)
{
    size_t size = 0;
    struct err problem = ERR_INIT;
    struct film_parts *parts = err_calloc(1, sizeof *parts, e);
    char *copy = parts ? strdup(path) : NULL;
    uint8_t *data = copy ? read_playlist(path, &size, &problem) : NULL;
    bool ok = data && add_clips(parts, path, data, size, &problem);
    free(data);
    if (ok)
        return inputs_list_parts(list, copy, parts, path, "", e);
    film_parts_free(&parts);
    free(copy);
    return copy ? inputs_list_problem(list, path, &problem, e) : err_memory(e, strlen(path) + 1);
}
