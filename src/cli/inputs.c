#include "barcode/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barcode/file.h"
#include "barcode/path.h"

/* What a film in a folder is called. A file named outright may have any ending. */
static const char *const ending[] = {
    "mkv", "mp4", "m4v", "mov", "qt", "avi", "webm", "ts", "m2ts", "mts", "m2t", "mpg", "mpeg", "mpe", "m1v", "m2v",
    "vob", "evo", "wmv", "asf", "flv", "f4v", "ogv", "ogm", "3gp", "3g2", "mxf", "gxf", "nut", "dv", "divx", "rm",
    "rmvb", "h264", "264", "avc", "h265", "265", "hevc", "ivf", "obu", "av1", "vp8", "vp9", "y4m", "mjpg", "mjpeg"
};

/* Formats that a user may hope for; the pictures are PNG. */
static const char *const picture_ending[] = {"jpg", "jpeg", "jpe", "gif", "webp", "bmp", "tif", "tiff", "svg", "pdf", "avif"};

static bool ends_in(const char *name, const char *const *list, size_t count)
{
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < count; i++) {
        if (strcasecmp(dot + 1, list[i]) == 0)
            return true;
    }
    return false;
}

static bool is_film_name(const char *name)
{
    return ends_in(name, ending, sizeof ending / sizeof *ending);
}

static bool is_folder(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* ---- Films ---- */

static bool is_synthetic(const char *path)
{
    return strncmp(path, "synth:", 6) == 0;
}

static bool stem_taken(const struct inputs *in, const char *stem)
{
    for (size_t i = 0; i < in->count; i++) {
        if (in->stem[i] && strcmp(in->stem[i], stem) == 0)
            return true;
    }
    return false;
}

/* The output name for a film's path; unlike every stem that is in `in` already. */
static char *make_stem(const struct inputs *in, const char *path, struct err *e)
{
    size_t length = 5;
    const char *name = is_synthetic(path) ? "synth" : path_last(path, &length);
    for (size_t i = length; !is_synthetic(path) && i > 1; i--) {
        if (name[i - 1] == '.') {
            length = i - 1;
            break;
        }
    }
    size_t bytes = length + 24;      /* room for "-" and any size_t */
    char *stem = malloc(bytes);
    if (!stem) {
        err_memory(e, bytes);
        return NULL;
    }
    snprintf(stem, bytes, "%.*s", (int)length, name);
    for (size_t n = 2; stem_taken(in, stem); n++)
        snprintf(stem + length, bytes - length, "-%zu", n);
    return stem;
}

/* Room for one more entry. The arrays that grew before one failed are freed with the rest. */
static bool grow(struct inputs *in, struct err *e)
{
    size_t n = in->count + 1;
    char **paths = realloc(in->path, n * sizeof *paths);
    if (paths)
        in->path = paths;
    char **stems = realloc(in->stem, n * sizeof *stems);
    if (stems)
        in->stem = stems;
    struct err *problems = realloc(in->problem, n * sizeof *problems);
    if (problems)
        in->problem = problems;
    return (paths && stems && problems) || err_memory(e, n * sizeof *problems);
}

/* Takes `path` (allocated) over, also on failure. */
static bool add_film(struct inputs *in, char *path, struct err *e)
{
    char *stem = grow(in, e) ? make_stem(in, path, e) : NULL;
    if (!stem) {
        free(path);
        return false;
    }
    in->path[in->count] = path;
    in->stem[in->count] = stem;
    in->problem[in->count++] = (struct err)ERR_INIT;
    return true;
}

/* A folder that gives no film stands in the list itself, with the reason: the other films do not suffer for it. */
static bool add_problem(struct inputs *in, const char *folder, const struct err *problem, struct err *e)
{
    char *path = strdup(folder);
    if (!path)
        return err_memory(e, strlen(folder) + 1);
    if (!grow(in, e)) {
        free(path);
        return false;
    }
    in->path[in->count] = path;
    in->stem[in->count] = NULL;
    in->problem[in->count++] = *problem;
    return true;
}

static int select_film(const struct dirent *d)
{
    return d->d_name[0] != '.' && is_film_name(d->d_name);
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);   /* not strcoll: the same order everywhere */
}

static bool add_folder(struct inputs *in, const char *folder, struct err *e)
{
    struct dirent **entry = NULL;
    struct err problem = ERR_INIT;
    int count = scandir(folder, &entry, select_film, by_bytes);
    if (count < 0) {
        err_set(&problem, ERR_INPUT, "cannot read the folder '%s': %s", folder, strerror(errno));
        return add_problem(in, folder, &problem, e);
    }
    size_t before = in->count;
    bool ok = true;
    for (int i = 0; i < count; i++) {
        char *path = ok ? path_join(folder, entry[i]->d_name, "", e) : NULL;
        if (path && !is_folder(path))
            ok = add_film(in, path, e);
        else
            free(path);
        ok = ok && path;
        free(entry[i]);
    }
    free(entry);
    if (!ok || in->count > before)
        return ok;
    err_set(&problem, ERR_INPUT, "no films in the folder '%s'", folder);
    return add_problem(in, folder, &problem, e);
}

static bool add_argument(struct inputs *in, const char *argument, struct err *e)
{
    if (!*argument)
        return err_set(e, ERR_USAGE, "the name of a FILM is empty");
    if (strcmp(argument, "-") == 0)
        return err_set(e, ERR_USAGE, "'-': a film cannot be read from stdin; give a file");
    if (!is_synthetic(argument) && is_folder(argument))
        return add_folder(in, argument, e);
    char *path = strdup(argument);
    return path ? add_film(in, path, e) : err_memory(e, strlen(argument) + 1);
}

bool inputs_expand(const struct options *o, struct inputs *in, struct err *e)
{
    *in = (struct inputs){0};
    for (size_t i = 0; i < o->inputs; i++) {
        if (!add_argument(in, o->input[i], e)) {
            inputs_free(in);
            return false;
        }
    }
    return true;
}

void inputs_free(struct inputs *in)
{
    for (size_t i = 0; i < in->count; i++) {
        free(in->path[i]);
        free(in->stem[i]);
    }
    free(in->path);
    free(in->stem);
    free(in->problem);
    *in = (struct inputs){0};
}

/* ---- Outputs ---- */

/* Whatever name the user gave it, cli_parse says "-". */
static bool is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

/* Entries that are films, not folders without any. */
static size_t film_count(const struct inputs *in)
{
    size_t count = 0;
    for (size_t i = 0; i < in->count; i++)
        count += in->stem[i] != NULL;
    return count;
}

/* How many pictures a film gives. */
static size_t pictures(const struct options *o)
{
    return o->stacked ? 1 : o->strips;
}

/* True if the text chunk names this program as the picture's software. iTXt has a few fields in between. */
static bool chunk_is_ours(const uint8_t *chunk, size_t length)
{
    static const char key[] = "Software", name[] = "barcode";
    const uint8_t *data = chunk + 8, *end = data + length;
    if (length < sizeof key || memcmp(data, key, sizeof key) != 0)
        return false;
    data += sizeof key;
    if (memcmp(chunk + 4, "iTXt", 4) == 0) {
        data += 2;                                  /* compression flag and method */
        for (int field = 0; field < 2; field++) {   /* language, translated keyword */
            const uint8_t *zero = data < end ? memchr(data, 0, (size_t)(end - data)) : NULL;
            if (!zero)
                return false;
            data = zero + 1;
        }
    } else if (memcmp(chunk + 4, "tEXt", 4) != 0) {
        return false;
    }
    return (size_t)(end - data) >= strlen(name) && memcmp(data, name, strlen(name)) == 0;
}

/* True for a picture that barcode made, by the text chunks of its first 4 KB. */
static bool is_ours(const char *path)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    uint8_t head[4096];
    struct stat s;
    /* A pipe without a writer would keep fopen waiting. */
    FILE *f = stat(path, &s) == 0 && S_ISREG(s.st_mode) ? fopen(path, "rb") : NULL;
    if (!f)
        return false;
    size_t size = fread(head, 1, sizeof head, f);
    fclose(f);
    if (size < sizeof signature || memcmp(head, signature, sizeof signature) != 0)
        return false;
    for (size_t at = sizeof signature; at + 12 <= size; ) {
        size_t length = (size_t)head[at] << 24 | (size_t)head[at + 1] << 16 | (size_t)head[at + 2] << 8 | head[at + 3];
        if (length > size - at - 12)
            return false;
        if (chunk_is_ours(head + at, length))
            return true;
        at += length + 12;
    }
    return false;
}

/* Refuses a path that would replace one of the films, or (`chosen` by the program) a file that barcode did not make. */
static bool allow_output(const struct inputs *in, const char *path, bool chosen, struct err *e)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return true;
    for (size_t i = 0; i < in->count; i++) {
        if (!is_synthetic(in->path[i]) && file_same(path, in->path[i]))
            return err_set(e, ERR_USAGE, "the output '%s' is the film itself; choose another name", path);
    }
    if (chosen && !is_ours(path))
        return err_set(e, ERR_FAILED, "'%s' is there and was not made by barcode; choose another name with -o", path);
    return true;
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

char *inputs_output(const struct options *o, const struct inputs *in, size_t i, const struct strip_kind *kind, struct err *e)
{
    bool several = pictures(o) > 1;
    size_t length = o->output ? strlen(o->output) : 0;
    bool chosen = !o->output || (length > 0 && o->output[length - 1] == '/') || is_folder(o->output);
    char *path = NULL;
    if (is_stdout(o->output))
        chosen = false;
    if (!chosen && film_count(in) > 1) {
        err_set(e, ERR_USAGE, "-o %s: one name for %zu films; give a folder", o->output, film_count(in));
        return NULL;
    }
    if (is_stdout(o->output)) {
        if (several)
            err_set(e, ERR_USAGE, "-o -: stdout can carry one picture, not %zu", pictures(o));
        else if (!(path = strdup("-")))
            err_memory(e, 2);
        return path;
    }
    if (chosen) {
        char tail[80];
        snprintf(tail, sizeof tail, "%s%s.png", several ? "-" : "", several ? kind->name : "");
        path = path_join(o->output ? o->output : "", in->stem[i], tail, e);
    } else {
        path = several ? insert_strip(o->output, kind->name, e) : path_join("", o->output, "", e);
    }
    if (path && !allow_output(in, path, chosen, e)) {
        free(path);
        path = NULL;
    }
    return path;
}

/* ---- Before decoding ---- */

/* True if the folder of `path` exists and can be written to: what atomic_file_open will find, but before hours of work. */
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

/* True if what is at `path`, if anything, may be replaced. */
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

/* --json or --dump: one file for one film, never a picture's or the film's own. */
static bool check_extra(const struct inputs *in, const char *name, const char *path, struct err *e)
{
    if (!path)
        return true;
    if (film_count(in) > 1)
        return err_set(e, ERR_USAGE, "%s %s: one file for %zu films; run them one by one", name, path, film_count(in));
    if (is_stdout(path))
        return true;
    return allow_output(in, path, false, e) && check_old(path, e) && check_folder(path, e);
}

/* False: the run is impossible. What concerns this film alone goes into `problem`. */
static bool check_picture(const struct options *o, const struct inputs *in, size_t i, const struct strip_kind *kind,
                          struct err *problem, struct err *e)
{
    char *path = inputs_output(o, in, i, kind, problem);
    bool ok = true;
    if (!path && problem->code == ERR_USAGE) {
        *e = *problem;
        err_clear(problem);
        return false;
    }
    if (path && !is_stdout(path) && check_old(path, problem))
        ok = check_folder(path, e);      /* the same for all films */
    if (ok && path && ((o->json && file_same(path, o->json)) || (o->dump && file_same(path, o->dump))))
        ok = err_set(e, ERR_USAGE, "'%s' is asked for twice: as the picture and as another output", path);
    free(path);
    return ok;
}

static bool check_film(const struct options *o, struct inputs *in, size_t i, struct err *e)
{
    struct err *problem = &in->problem[i];
    for (size_t k = 0; k < pictures(o) && problem->code == ERR_NONE; k++) {
        if (!check_picture(o, in, i, o->strip[k], problem, e))
            return false;
    }
    return true;
}

/* `-o a.mkv b.mkv` is a slip that would cost a film; `-o a.jpg` would not give what its name says. */
static bool check_name(const char *option, const char *path, bool picture, struct err *e)
{
    if (!path || is_folder(path))
        return true;
    if (is_film_name(path))
        return err_set(e, ERR_USAGE, "%s '%s' is the name of a film, and an output would replace it", option, path);
    if (picture && ends_in(path, picture_ending, sizeof picture_ending / sizeof *picture_ending))
        return err_set(e, ERR_USAGE, "%s '%s': the picture is a PNG; give it a name that ends in .png", option, path);
    return true;
}

bool inputs_check(const struct options *o, struct inputs *in, struct err *e)
{
    if (isatty(STDOUT_FILENO) && (is_stdout(o->output) || is_stdout(o->dump)))
        return err_set(e, ERR_USAGE, "%s: pixels are not for a terminal; send stdout to a file or a pipe",
                       is_stdout(o->dump) ? "--dump -" : "-o -");
    for (size_t i = 0; i < in->count; i++) {
        if (in->problem[i].code == ERR_NONE && !check_film(o, in, i, e))
            return false;
    }
    if (!check_extra(in, "--json", o->json, e) || !check_extra(in, "--dump", o->dump, e))
        return false;
    if (o->json && o->dump && !is_stdout(o->json) && file_same(o->json, o->dump))
        return err_set(e, ERR_USAGE, "'%s' is asked for twice: by --json and by --dump", o->json);
    return check_name("-o", o->output, true, e) && check_name("--json", o->json, false, e) &&
           check_name("--dump", o->dump, false, e);
}
