#include "run_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/path.h"
#include "writer.h"
#include "sinks.h"

/* The output of a film in the temporary file, with its header. */
struct part {
    uint64_t begin, bytes; /* 0 bytes: none */
};

struct table {
    const char *path; /* the caller's */
    char *folder;     /* of temporary files */
    int fd;           /* of the one that has the parts */
    uint64_t end;     /* of the parts */
    size_t films;
    struct part part[]; /* [films] */
};

/* Returns the folder for the temporary file; the caller frees it. Returns NULL if out of memory. */
static char *scratch_folder(const char *path)
{
    struct stat s;
    size_t length;
    if (strcmp(path, "-") == 0 || (stat(path, &s) == 0 && !S_ISREG(s.st_mode)))
        return strdup(dump_scratch_folder());
    char *target = atomic_target_path(path);
    if (!target)
        return NULL;
    size_t before = (size_t)(path_last(target, &length) - target);
    char *folder = before > 0 ? strndup(target, before) : strdup(".");
    free(target);
    return folder;
}

struct table *table_open(const char *path, size_t films, struct err *e)
{
    struct table *t = err_calloc(1, sizeof *t + films * sizeof *t->part, e);
    if (!t)
        return NULL;
    t->path = path;
    t->films = films;
    t->folder = scratch_folder(path);
    t->fd = t->folder ? file_open_scratch(t->folder) : -1;
    if (t->fd < 0) {
        err_set(e, ERR_FAILED, "cannot write '%s': no temporary file in '%s': %s",
                atomic_file_shown(t->path), t->folder ? t->folder : "its folder", strerror(errno));
        table_close(&t);
    }
    return t;
}

const char *table_path(const struct table *t) { return t->path; }

/* Sets the message about `why`, an error of a writer. */
static bool cannot_write(const struct table *t, const struct err *why, struct err *e)
{
    if (interrupted())
        return interrupt_output(atomic_file_shown(t->path), e);
    *e = *why;
    return err_prefix(e, "cannot write '%s'", atomic_file_shown(t->path));
}

int table_open_part(const struct table *t) { return file_open_scratch(t->folder); }

bool table_add(struct table *t, size_t film, int part)
{
    const off_t most = (off_t)4 << 30;
    char block[1 << 16], last;
    struct stat s;
    if (fstat(part, &s) != 0 || lseek(t->fd, (off_t)t->end, SEEK_SET) < 0)
        return false;
    if (s.st_size > most || t->part[film].bytes > 0) {
        errno = s.st_size > most ? EFBIG : EEXIST;
        return false;
    }
    /* without a line feed the next film's row would follow in the same line */
    if (s.st_size == 0 || !file_read_at(part, &last, 1, (uint64_t)s.st_size - 1) || last != '\n') {
        errno = EINVAL;
        return false;
    }
    for (uint64_t done = 0, n; done < (uint64_t)s.st_size; done += n) {
        n = (uint64_t)s.st_size - done < sizeof block ? (uint64_t)s.st_size - done : sizeof block;
        if (interrupted()) {
            errno = EINTR;
            return false;
        }
        if (!file_read_at(part, block, n, done) || !file_write(t->fd, block, n))
            return false;
    }
    t->part[film] = (struct part){t->end, (uint64_t)s.st_size};
    t->end += (uint64_t)s.st_size;
    return true;
}

void table_remove(struct table *t, size_t film)
{
    if (t)
        t->part[film].bytes = 0;
}

/* Copies a part to `out`, with its header line or without it. */
static bool copy_part(const struct table *t, const struct part *part, bool header, FILE *out,
                      struct err *e)
{
    char block[1 << 16];
    for (uint64_t done = 0, n; done < part->bytes; done += n) {
        n = part->bytes - done < sizeof block ? part->bytes - done : sizeof block;
        if (interrupted())
            return interrupt_error(e);
        if (!file_read_at(t->fd, block, n, part->begin + done))
            return writer_failed(e);
        const char *line = header ? block : memchr(block, '\n', n);
        size_t skipped = n;
        if (line)
            skipped = header ? 0 : (size_t)(line + 1 - block);
        header |= line != NULL;
        if (fwrite(block + skipped, 1, n - skipped, out) < n - skipped)
            return err_set(e, file_write_code(errno), "%s", strerror(errno));
    }
    return true;
}

static bool copy_parts(const struct table *t, FILE *out, size_t *films, struct err *e)
{
    *films = 0;
    for (size_t i = 0; i < t->films; i++) {
        if (t->part[i].bytes == 0)
            continue;
        if (!copy_part(t, &t->part[i], *films == 0, out, e))
            return false;
        ++*films;
    }
    return true;
}

bool table_write(struct table *t, size_t *films, struct err *e)
{
    struct err why = ERR_INIT;
    bool any = false;
    for (size_t i = 0; i < t->films; i++)
        any |= t->part[i].bytes > 0;
    *films = 0;
    if (!any)
        return true;
    struct atomic_file *f = atomic_file_open(t->path, false, e);
    if (!f)
        return false;
    if (copy_parts(t, atomic_file_stream(f), films, &why))
        return atomic_file_commit(&f, e);
    atomic_file_discard(&f);
    return cannot_write(t, &why, e);
}

void table_close(struct table **t)
{
    if (!*t)
        return;
    if ((*t)->fd >= 0)
        close((*t)->fd);
    free((*t)->folder);
    free(*t);
    *t = NULL;
}
