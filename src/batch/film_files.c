#include "film_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "media/container/playlists.h"
#include "output/sinks.h"

/* ---- What a film may read ---- */

/* Opens `path` if it is one of the film's files, or lies in the folder of its playlist. */
static int open_of_film(const struct inputs *in, struct slot *s, const char *path)
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
    const struct writer *w = output->kind->writer;
    if (outputs_is_stdout(output->path)) /* "-" would be a file of this name */
        return strcmp(path, "/dev/stdout") == 0;
    if (strcmp(output->path, path) == 0)
        return true;
    return w && w->is_part && w->is_part(output->path, path);
}

/* Returns the output of a slot that `path` belongs to, or NULL. */
static const struct output *find_output(const struct slot *s, const char *path)
{
    for (size_t k = 0; k < s->outputs->count; k++)
        if (is_output(&s->outputs->output[k], path))
            return &s->outputs->output[k];
    return NULL;
}

bool film_files_written(const struct slot *s)
{
    bool written = true;
    for (size_t k = 0; k < s->outputs->count; k++)
        written &= s->state[k] == OUTPUT_WRITTEN;
    return written;
}

/*
 * Returns true if an output may be written, by outputs_allowed. That may read thousands of files,
 * so a worker has it done once. The reason of a refusal becomes that of the film's failure. What an
 * earlier attempt has written is the film's own.
 */
static bool is_allowed(const struct batch *b, struct slot *s, const struct output *output)
{
    const size_t k = (size_t)(output - s->outputs->output);
    if (s->state[k] != OUTPUT_UNCHECKED)
        return s->state[k] != OUTPUT_REFUSED;
    bool allowed = s->again || outputs_allowed(b->context->inputs, s->film, output, &s->refusal);
    s->state[k] = allowed ? OUTPUT_ALLOWED : OUTPUT_REFUSED;
    return allowed;
}

/*
 * Opens a file that a film may read: its own, an older output that it replaces, or the gallery,
 * which decides how its page is called. The path of an output in memory names no file.
 */
static int open_to_read(struct slot *s, const struct batch *b, const char *path)
{
    const char *gallery = b->context->outputs->gallery;
    const struct output *output = find_output(s, path);
    bool older = (output && !output->kind->in_memory) || (gallery && strcmp(path, gallery) == 0);
    return older && file_is_regular(path) ? file_open_read(path)
                                          : open_of_film(b->context->inputs, s, path);
}

/* ---- Outputs ---- */

/* Returns a free grant, and its number; NULL with errno. */
static struct grant *new_grant(struct film_process *p, int slot, int32_t *number)
{
    int i = 0;
    while (i < GRANTS_MOST && p->grant[i].kind != GRANT_NONE)
        i++;
    if (i == GRANTS_MOST) {
        errno = EMFILE;
        return NULL;
    }
    p->grant[i] = (struct grant){.part = -1, .slot = slot};
    *number = i;
    return &p->grant[i];
}

/* Returns the grant of a slot by the number that a worker sent; NULL with EBADF. */
static struct grant *find_grant(struct film_process *p, int slot, int32_t number)
{
    if (number >= 0 && number < GRANTS_MOST && p->grant[number].kind != GRANT_NONE &&
        p->grant[number].slot == slot)
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
static bool may_write(const struct batch *b, struct slot *s, const struct output *output,
                      const char *path)
{
    char film[FILM_ID_TEXT];
    bool beside = strcmp(output->path, path) != 0 && !outputs_is_stdout(output->path);
    bool ok = is_allowed(b, s, output);
    if (beside && ok)
        ok = !file_is_dangling(path) &&
             (access(path, F_OK) != 0 || writer_made(output->kind->writer, path, film));
    errno = EACCES;
    return ok;
}

/* Opens the target of an output, or with `folder` that of its folder. Returns NULL with errno. */
static struct atomic_target *open_target(const char *path, bool folder)
{
    if (!folder)
        return atomic_target_open(path);
    size_t length;
    char *name = strndup(path, (size_t)(path_last(path, &length) - path - 1));
    struct atomic_target *t = name ? atomic_target_open_folder(name, jellyfin_made) : NULL;
    free(name);
    return t;
}

/*
 * Begins the output at `path`, or with `folder` the folder of trickplay sheets of which it is the
 * first. Returns false with errno. Otherwise `*file` is the number of its grant.
 */
static bool begin_output(struct film_process *p, struct batch *b, int slot, const char *path,
                         bool folder, int32_t *file)
{
    struct slot *s = &p->slot[slot];
    const struct output *output = find_output(s, path);
    struct grant *g = new_grant(p, slot, file);
    if (!g)
        return false;
    errno = EACCES;
    if (!output ||
        (folder && (output->kind->writer != &writer_jellyfin || strcmp(output->path, path) != 0)))
        return false;
    g->output = (size_t)(output - s->outputs->output);
    if (output->kind->in_memory) {
        g->part = folder ? -1 : file_open_scratch(dump_scratch_folder());
        g->kind = g->part >= 0 ? GRANT_MEMORY : GRANT_NONE;
    } else if (b->table && output->kind->writer && output->kind->writer->table &&
               !output->kind->chosen) {
        g->part = table_open_part(b->table);
        g->kind = g->part >= 0 ? GRANT_TABLE : GRANT_NONE;
    } else if (may_write(b, s, output, path) && outputs_make_folders(output, &s->refusal)) {
        g->target = open_target(path, folder);
        g->kind = g->target ? GRANT_OUTPUT : GRANT_NONE;
    }
    return g->kind != GRANT_NONE;
}

/* Begins the output at `path`. Returns its descriptor, or -1 with errno. */
static int open_to_write(struct film_process *p, struct batch *b, int slot, const char *path,
                         int32_t *file)
{
    if (!begin_output(p, b, slot, path, false, file))
        return -1;
    const struct grant *g = &p->grant[*file];
    return g->part >= 0 ? g->part : atomic_target_descriptor(g->target);
}

static int add_to_folder(struct film_process *p, int slot, const char *name, int32_t file)
{
    const struct grant *g = find_grant(p, slot, file);
    return g && g->target ? atomic_target_add(g->target, name) : -1;
}

/* Hands what a worker has written over to the sink. Returns false with errno. */
static bool take_in_memory(const struct batch *b, const struct slot *s, const struct grant *g)
{
    const off_t most = 1 << 28;
    struct stat st;
    if (fstat(g->part, &st) != 0)
        return false;
    if (st.st_size >= most) {
        errno = EFBIG;
        return false;
    }
    const size_t size = (size_t)st.st_size;
    uint8_t *bytes = malloc(size + 1);
    if (!bytes)
        return false;
    if (!file_read_at(g->part, bytes, size, 0)) {
        free(bytes);
        return false;
    }
    const struct output *output = &s->outputs->output[g->output];
    return b->sink->take(b->sink->user, s->film, output->kind->writer, bytes, size);
}

/* Completes an output. Returns false with errno. */
static bool complete(struct batch *b, const struct slot *s, struct grant *g)
{
    switch (g->kind) {
    case GRANT_TABLE: return table_add(b->table, s->film, g->part);
    case GRANT_MEMORY: return take_in_memory(b, s, g);
    default: return atomic_target_publish(&g->target);
    }
}

static bool publish(struct film_process *p, struct batch *b, int slot, int32_t file)
{
    struct grant *g = find_grant(p, slot, file);
    if (!g)
        return false;
    bool ok = complete(b, &p->slot[slot], g);
    int error = errno;
    if (ok)
        p->slot[slot].state[g->output] = OUTPUT_WRITTEN;
    drop_grant(g);
    errno = error;
    return ok;
}

static bool discard(struct film_process *p, int slot, int32_t file)
{
    struct grant *g = find_grant(p, slot, file);
    if (g)
        drop_grant(g);
    return g;
}

/* ---- Requests ---- */

/* Returns a duplicate that may be closed; the target keeps its own. */
static int copy_of(int fd) { return fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1; }

int film_files_handle(struct film_process *p, struct batch *b, int slot, enum file_request request,
                      const char *path, int32_t *file, int32_t *error)
{
    int fd = -1;
    bool ok = false;
    errno = EINVAL;
    switch (request) {
    case FILE_READ: fd = open_to_read(&p->slot[slot], b, path); break;
    case FILE_SCRATCH: fd = file_open_scratch(dump_scratch_folder()); break;
    case FILE_WRITE: fd = copy_of(open_to_write(p, b, slot, path, file)); break;
    case FILE_ADD: fd = add_to_folder(p, slot, path, *file); break;
    case FILE_FOLDER: ok = begin_output(p, b, slot, path, true, file); break;
    case FILE_PUBLISH: ok = publish(p, b, slot, *file); break;
    case FILE_DISCARD: ok = discard(p, slot, *file); break;
    }
    *error = 0;
    if (!ok && fd < 0)
        *error = errno ? errno : EIO;
    return fd;
}

void film_files_discard(struct film_process *p, int slot)
{
    for (int i = 0; i < GRANTS_MOST; i++)
        if (p->grant[i].kind != GRANT_NONE && p->grant[i].slot == slot)
            drop_grant(&p->grant[i]);
}
