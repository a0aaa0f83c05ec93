#include "film_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "barcode/base/file.h"
#include "barcode/base/path.h"
#include "barcode/media/playlists.h"
#include "barcode/output/dump.h"

/* ---- What a film may read ---- */

/* Opens `path` if it is one of the film's files, or lies in the folder of its playlist. */
static int open_of_film(const struct inputs *in, struct seat *s, const char *path)
{
    const struct film_parts *parts = in->parts[s->film];
    const size_t count = film_files_count(parts);
    for (size_t i = 0; i < count; i++) {
        const size_t at = (s->next_file + i) % count;
        if (strcmp(path, film_file(in->path[s->film], parts, at)) != 0)
            continue;
        s->next_file = at + 1; /* images come one after another */
        return file_open_read(path);
    }
    int fd = -1;
    errno = EACCES;
    for (size_t i = 0; i < count && fd < 0 && !(parts && parts->rate_num > 0); i++) {
        const char *file = film_file(in->path[s->film], parts, i);
        char *found = playlists_may_be(file) ? playlists_file(file, path) : NULL;
        fd = found ? file_open_read(found) : -1;
        free(found);
    }
    return fd;
}

/* Returns true if `path` is `output`, or one of the sheets that belong to it. */
static bool is_output(const struct output *output, const char *path)
{
    const struct writer *w = output->writer;
    if (outputs_is_stdout(output->path)) /* "-" would be a file of this name */
        return strcmp(path, "/dev/stdout") == 0;
    if (strcmp(output->path, path) == 0)
        return true;
    return w && w->is_part && w->is_part(output->path, path);
}

/* Returns the output of a seat that `path` belongs to, or NULL. */
static const struct output *find_output(const struct seat *s, const char *path)
{
    for (size_t k = 0; k < s->outputs.count; k++)
        if (is_output(&s->outputs.output[k], path))
            return &s->outputs.output[k];
    const struct output *dump = &s->outputs.dump;
    return dump->path && is_output(dump, path) ? dump : NULL;
}

/*
 * Returns true if an output may be written, by outputs_allowed. That may read thousands of files,
 * so a worker has it done once. What an earlier attempt has written is the film's own.
 */
static bool is_allowed(const struct batch *b, struct seat *s, const struct output *output)
{
    struct err none = ERR_INIT;
    const size_t at =
        output == &s->outputs.dump ? s->outputs.count : (size_t)(output - s->outputs.output);
    if (s->checked[at] == OUTPUT_UNCHECKED)
        s->checked[at] = s->again || outputs_allowed(b->render->inputs, s->film, output, &none)
                             ? OUTPUT_ALLOWED
                             : OUTPUT_REFUSED;
    return s->checked[at] == OUTPUT_ALLOWED;
}

/*
 * Opens a file that a film may read: its own, an older output that it replaces, or the
 * gallery, which decides how its page is called.
 */
static int open_to_read(struct seat *s, const struct batch *b, const char *path)
{
    const char *gallery = outputs_gallery(b->render->options);
    bool older = find_output(s, path) || (gallery && strcmp(path, gallery) == 0);
    return older && file_is_regular(path) ? file_open_read(path)
                                          : open_of_film(b->render->inputs, s, path);
}

/* ---- Outputs ---- */

/* Returns a free grant, and its number; NULL with errno. */
static struct grant *new_grant(struct film_process *p, int seat, int32_t *number)
{
    int i = 0;
    while (i < GRANTS_MOST && p->grant[i].kind != GRANT_NONE)
        i++;
    if (i == GRANTS_MOST) {
        errno = EMFILE;
        return NULL;
    }
    p->grant[i] = (struct grant){.part = -1, .seat = seat};
    *number = i;
    return &p->grant[i];
}

/* Returns the grant of a seat by the number that a worker sent; NULL with EBADF. */
static struct grant *find_grant(struct film_process *p, int seat, int32_t number)
{
    if (number >= 0 && number < GRANTS_MOST && p->grant[number].kind != GRANT_NONE &&
        p->grant[number].seat == seat)
        return &p->grant[number];
    errno = EBADF;
    return NULL;
}

static void drop_grant(struct grant *g)
{
    atomic_target_discard(&g->target);
    if (g->part >= 0)
        close(g->part);
    *g = (struct grant){.kind = GRANT_NONE, .part = -1};
}

/*
 * Returns true if an output may be written to `path`; a sheet beside it only in place of another
 * sheet.
 */
static bool may_write(const struct batch *b, struct seat *s, const struct output *output,
                      const char *path)
{
    char film[FILM_ID_TEXT];
    bool beside = strcmp(output->path, path) != 0 && !outputs_is_stdout(output->path);
    bool ok = is_allowed(b, s, output);
    if (beside && ok)
        ok = !file_is_dangling(path) &&
             (access(path, F_OK) != 0 || writer_made(output->writer, path, film));
    errno = EACCES;
    return ok;
}

/* Begins an output, or with `folder` a folder of sheets. Returns its descriptor, or -1. */
static int begin_output(struct film_process *p, struct batch *b, int seat,
                        const struct output *output, const char *path, bool folder, int32_t *file)
{
    struct err none = ERR_INIT;
    struct grant *g = new_grant(p, seat, file);
    if (!g)
        return -1;
    if (b->table && output->writer && output->writer->table && !output->chosen) {
        g->part = table_open_part(b->table);
        g->kind = g->part >= 0 ? GRANT_TABLE : GRANT_NONE;
        return g->part;
    }
    if (!may_write(b, &p->seat[seat], output, folder ? output->path : path) ||
        !outputs_make_folders(output, &none))
        return -1;
    g->target = folder ? atomic_target_open_folder(path, jellyfin_made) : atomic_target_open(path);
    g->kind = g->target ? GRANT_OUTPUT : GRANT_NONE;
    return g->target && !folder ? atomic_target_descriptor(g->target) : -1;
}

/* Returns true if `path` is the folder of `output`. */
static bool is_folder_of(const char *path, const struct output *output)
{
    size_t length;
    const char *last = path_last(output->path, &length);
    return last > output->path && (size_t)(last - output->path - 1) == strlen(path) &&
           strncmp(path, output->path, strlen(path)) == 0;
}

static int open_to_write(struct film_process *p, struct batch *b, int seat, const char *path,
                         int32_t *file)
{
    const struct output *output = find_output(&p->seat[seat], path);
    errno = EACCES;
    return output ? begin_output(p, b, seat, output, path, false, file) : -1;
}

/* Begins the folder of trickplay sheets. Returns false with errno. */
static bool open_folder(struct film_process *p, struct batch *b, int seat, const char *path,
                        int32_t *file)
{
    const struct outputs *outputs = &p->seat[seat].outputs;
    errno = EACCES;
    for (size_t k = 0; k < outputs->count; k++) {
        const struct output *output = &outputs->output[k];
        if (output->writer != &writer_jellyfin || !is_folder_of(path, output))
            continue;
        *file = -1;
        (void)begin_output(p, b, seat, output, path, true, file);
        return *file >= 0 && p->grant[*file].kind == GRANT_OUTPUT;
    }
    return false;
}

static int add_to_folder(struct film_process *p, int seat, const char *name, int32_t file)
{
    const struct grant *g = find_grant(p, seat, file);
    return g && g->target ? atomic_target_add(g->target, name) : -1;
}

static bool publish(struct film_process *p, struct batch *b, int seat, int32_t file)
{
    struct grant *g = find_grant(p, seat, file);
    if (!g)
        return false;
    bool ok = g->kind == GRANT_TABLE ? table_add(b->table, p->seat[seat].film, g->part)
                                     : atomic_target_publish(&g->target);
    int error = errno;
    drop_grant(g);
    errno = error;
    return ok;
}

static bool discard(struct film_process *p, int seat, int32_t file)
{
    struct grant *g = find_grant(p, seat, file);
    if (g)
        drop_grant(g);
    return g;
}

/* ---- Requests ---- */

/* Returns a descriptor of the worker's own, which shares nothing with that of the parent but the
 * file. */
static int copy_of(int fd) { return fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1; }

int film_files_handle(struct film_process *p, struct batch *b, int seat, enum file_request request,
                      const char *path, int32_t *file, int32_t *error)
{
    int fd = -1;
    bool ok = false;
    errno = EINVAL;
    switch (request) {
    case FILE_READ: fd = open_to_read(&p->seat[seat], b, path); break;
    case FILE_SCRATCH: fd = file_open_scratch(dump_scratch_folder()); break;
    case FILE_WRITE: fd = copy_of(open_to_write(p, b, seat, path, file)); break;
    case FILE_ADD: fd = add_to_folder(p, seat, path, *file); break;
    case FILE_FOLDER: ok = open_folder(p, b, seat, path, file); break;
    case FILE_PUBLISH: ok = publish(p, b, seat, *file); break;
    case FILE_DISCARD: ok = discard(p, seat, *file); break;
    }
    *error = ok || fd >= 0 ? 0 : errno ? errno : EIO;
    return fd;
}

void film_files_discard(struct film_process *p, int seat)
{
    for (int i = 0; i < GRANTS_MOST; i++)
        if (p->grant[i].kind != GRANT_NONE && p->grant[i].seat == seat)
            drop_grant(&p->grant[i]);
}
