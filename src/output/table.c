#include "barcode/output/table.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barcode/base/atomic_file.h"
#include "barcode/base/file.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/path.h"
#include "barcode/base/shared.h"
#include "barcode/output/dump.h"

/* The output of a film in the temporary file, with its header. */
struct part {
    uint64_t begin, bytes; /* 0 bytes: none */
};

/* In memory shared with the worker processes. */
struct table {
    const char *path;     /* the caller's */
    int fd;               /* of the temporary file */
    pthread_mutex_t lock; /* guards `end`, the position of `fd` and what lies behind `end` */
    uint64_t end;         /* of the parts */
    size_t films;
    struct part part[]; /* [films] */
};

static size_t size_of(size_t films) { return sizeof(struct table) + films * sizeof(struct part); }

/* Returns the folder for the temporary file; the caller frees it. Returns NULL if out of memory. */
static char *scratch_folder(const char *path)
{
    struct stat s;
    size_t length;
    if (strcmp(path, "-") == 0 || (stat(path, &s) == 0 && !S_ISREG(s.st_mode)))
        return strdup(dump_scratch_folder());
    char *target = atomic_file_target(path);
    if (!target)
        return NULL;
    size_t before = (size_t)(path_last(target, &length) - target);
    char *folder = before > 0 ? strndup(target, before) : strdup(".");
    free(target);
    return folder;
}

static const char *shown_path(const struct table *t)
{
    return strcmp(t->path, "-") == 0 ? "standard output" : t->path;
}

struct table *table_open(const char *path, size_t films, struct err *e)
{
    struct table *t = shared_alloc(size_of(films), e);
    if (!t)
        return NULL;
    shared_lock_init(&t->lock);
    t->path = path;
    t->films = films;
    char *folder = scratch_folder(path);
    t->fd = folder ? file_open_scratch(folder) : -1;
    if (t->fd < 0) {
        err_set(e, ERR_FAILED, "cannot write '%s': no temporary file in '%s': %s", shown_path(t),
                folder ? folder : "its folder", strerror(errno));
        table_close(&t);
    }
    free(folder);
    return t;
}

const char *table_path(const struct table *t) { return t->path; }

/* Sets the message about `why`, an error of a writer. */
static bool cannot_write(const struct table *t, const struct err *why, struct err *e)
{
    if (interrupted())
        return interrupt_output(shown_path(t), e);
    *e = *why;
    return err_prefix(e, "cannot write '%s'", shown_path(t));
}

/* Opens a stream that writes from `end` on. The caller holds the lock and closes the stream. */
static FILE *open_end(const struct table *t)
{
    int fd = fcntl(t->fd, F_DUPFD_CLOEXEC, 0);
    FILE *f = fd >= 0 && lseek(fd, (off_t)t->end, SEEK_SET) >= 0 ? fdopen(fd, "wb") : NULL;
    if (!f && fd >= 0)
        close(fd);
    return f;
}

bool table_add(struct table *t, size_t film, const struct writer *w, const struct report *r,
               struct strips strips, struct err *e)
{
    struct err why = ERR_INIT;
    off_t end = -1;
    shared_lock(&t->lock);
    FILE *f = open_end(t);
    bool ok = f && w->write(r, strips, f, &why) && fflush(f) == 0 && (end = ftello(f)) >= 0;
    if (!ok && why.code == ERR_NONE)
        err_set(&why, ERR_FAILED, "%s", strerror(errno));
    if (f)
        fclose(f);
    if (ok) {
        t->part[film].bytes = 0; /* a crash in between leaves the film out */
        t->part[film].begin = t->end;
        t->part[film].bytes = (uint64_t)end - t->end;
        t->end = (uint64_t)end;
    }
    pthread_mutex_unlock(&t->lock);
    return ok || cannot_write(t, &why, e);
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
            return err_set(e, ERR_FAILED, "%s", strerror(errno ? errno : EIO));
        const char *line = header ? block : memchr(block, '\n', n);
        size_t skipped = !line ? n : header ? 0 : (size_t)(line + 1 - block);
        header |= line != NULL;
        if (fwrite(block + skipped, 1, n - skipped, out) < n - skipped)
            return err_set(e, ERR_FAILED, "%s", strerror(errno));
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
    shared_free(*t, size_of((*t)->films));
    *t = NULL;
}
