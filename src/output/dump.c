#include "sinks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "writer.h"

struct dump {
    struct atomic_file *file;
    const char *path;
    FILE *scratch; /* holds the frames if the output cannot seek, else NULL */
    int fd;
    size_t frame_bytes;
};

const char *dump_scratch_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

/* tmpfile() would always use /tmp, which may be too small for the frames of a film. */
FILE *dump_scratch_open(void)
{
    int fd = file_open_scratch(dump_scratch_folder());
    FILE *f = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (!f && fd >= 0)
        close(fd);
    return f;
}

bool dump_scratch_copy(FILE *from, FILE *to, struct err *e)
{
    char block[65536];
    size_t n;
    errno = 0;
    rewind(from);
    while ((n = fread(block, 1, sizeof block, from)) > 0) {
        if (interrupted())
            return interrupt_error(e);
        if (fwrite(block, 1, n, to) != n)
            return writer_failed(e);
    }
    return !ferror(from) || writer_failed(e);
}

struct dump *dump_open(const char *path, size_t frame_bytes, struct err *e)
{
    struct dump *d = err_calloc(1, sizeof *d, e);
    if (!d)
        return NULL;
    d->path = atomic_file_shown(path);
    d->frame_bytes = frame_bytes;
    d->file = atomic_file_open(path, true, e);
    if (!d->file) {
        dump_discard(&d);
        return NULL;
    }
    d->fd = fileno(atomic_file_stream(d->file));
    struct stat st;
    /* /dev/stdout may be a file with content that must stay */
    bool own_file = strcmp(path, "-") != 0 && strncmp(path, "/dev/", 5) != 0 &&
                    fstat(d->fd, &st) == 0 && S_ISREG(st.st_mode);
    if (own_file)
        return d;
    d->scratch = dump_scratch_open();
    if (!d->scratch) {
        err_set(e, ERR_FAILED, "cannot create a temporary file in '%s' for --dump: %s",
                dump_scratch_folder(), strerror(errno));
        dump_discard(&d);
        return NULL;
    }
    d->fd = fileno(d->scratch);
    return d;
}

static bool put_at(struct dump *d, uint64_t at, const uint8_t *data, size_t bytes, struct err *e)
{
    while (bytes > 0) {
        ssize_t n = pwrite(d->fd, data, bytes, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_set(e, ERR_FAILED, "cannot write '%s': %s", d->path,
                           strerror(n < 0 ? errno : ENOSPC));
        data += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

bool dump_put(struct dump *d, uint64_t column, uint32_t repeat, const uint8_t *rgb, struct err *e)
{
    for (uint32_t i = 0; i < repeat; i++)
        if (!put_at(d, (column + i) * d->frame_bytes, rgb, d->frame_bytes, e))
            return false;
    return true;
}

static bool copy_out(struct dump *d, struct err *e)
{
    struct err why = ERR_INIT;
    if (dump_scratch_copy(d->scratch, atomic_file_stream(d->file), &why))
        return true;
    if (interrupted())
        return interrupt_output(d->path, e);
    return err_set(e, why.code, "cannot write '%s': %s", d->path, why.text);
}

bool dump_commit(struct dump **d, uint64_t columns, struct err *e)
{
    bool ok = true;
    if (ftruncate((*d)->fd, (off_t)(columns * (*d)->frame_bytes)) != 0)
        ok = err_set(e, ERR_FAILED, "cannot write '%s': %s", (*d)->path, strerror(errno));
    if (ok && (*d)->scratch)
        ok = copy_out(*d, e);
    if (ok)
        ok = atomic_file_commit(&(*d)->file, e);
    dump_discard(d);
    return ok;
}

void dump_discard(struct dump **d)
{
    if (!*d)
        return;
    if ((*d)->file)
        atomic_file_discard(&(*d)->file);
    if ((*d)->scratch)
        fclose((*d)->scratch);
    free(*d);
    *d = NULL;
}
