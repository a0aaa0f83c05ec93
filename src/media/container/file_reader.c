#include "file_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupt.h"

/* What --keep-going skips at once: a page, which is at least a sector. */
enum { SKIP_BYTES = 4096 };

struct file {
    int fd;
    const char *path;
    int64_t begin, end; /* among the bytes of all files */
};

struct file_reader {
    struct read_faults *faults;
    struct file *file;
    size_t count, room;
    int64_t first;  /* the number of the first byte */
    bool piecewise; /* the last bytes were unreadable: read no more than SKIP_BYTES at once */
};

struct file_reader *file_reader_new(struct read_faults *faults, struct err *e)
{
    struct file_reader *r = err_calloc(1, sizeof *r, e);
    if (!r)
        return NULL;
    r->faults = faults;
    return r;
}

/* Returns the size of a file or disk, or 0 if it is unknown. */
static int64_t size_of(int fd)
{
    struct stat s;
    if (fstat(fd, &s) != 0)
        return 0;
    off_t size = S_ISREG(s.st_mode) ? s.st_size : lseek(fd, 0, SEEK_END);
    return size > 0 ? size : 0;
}

bool file_reader_add(struct file_reader *r, int fd, const char *path, struct err *e)
{
    if (!err_reserve(&r->file, r->count + 1, &r->room, sizeof *r->file, e)) {
        close(fd);
        return false;
    }
    int64_t begin = r->count > 0 ? r->file[r->count - 1].end : 0;
    r->file[r->count++] = (struct file){fd, path, begin, begin + size_of(fd)};
    return true;
}

void file_reader_count_from(struct file_reader *r, int64_t first) { r->first = first; }

int64_t file_reader_size(const struct file_reader *r)
{
    return r->count == 1 ? size_of(r->file[0].fd) : r->file[r->count - 1].end;
}

static ssize_t read_at(const struct file *f, void *to, size_t bytes, int64_t at)
{
    while (!interrupted()) {
        ssize_t n = pread(f->fd, to, bytes, (off_t)(at - f->begin));
        if (n >= 0 || errno != EINTR)
            return n;
    }
    errno = EINTR;
    return -1;
}

static size_t piece_at(const struct file *f, size_t bytes, int64_t at)
{
    size_t piece = SKIP_BYTES - (size_t)(at - f->begin) % SKIP_BYTES;
    return piece < bytes ? piece : bytes;
}

static ssize_t fail_with(struct file_reader *r, const struct file *f, int error, int64_t at)
{
    if (error != EINTR)
        read_faults_fail(r->faults, f->path, error, at - f->begin);
    errno = error;
    return -1;
}

/*
 * Reads less, or skips an unreadable piece, after a read of `bytes` bytes failed with errno
 * `error`.
 */
static ssize_t read_piece(struct file_reader *r, const struct file *f, uint8_t *to, size_t bytes,
                          int64_t at, int error)
{
    int64_t left = file_reader_size(r) - at;
    size_t piece = piece_at(f, bytes, at);
    if (left <= 0 || !read_faults_may_skip(r->faults, error))
        return fail_with(r, f, error, at);
    r->piecewise = true;
    if (piece < bytes) {
        ssize_t n = read_at(f, to, piece, at);
        if (n >= 0)
            return n;
        error = errno;
        if (!read_faults_may_skip(r->faults, error))
            return fail_with(r, f, error, at);
    }
    piece = (int64_t)piece < left ? piece : (size_t)left;
    memset(to, 0, piece);
    read_faults_note(r->faults, f->path, error, at - f->begin);
    read_faults_skip(r->faults, r->first + at, r->first + at + (int64_t)piece);
    return (ssize_t)piece;
}

ssize_t file_reader_read(struct file_reader *r, int64_t at, void *to, size_t bytes)
{
    size_t i = 0;
    while (i + 1 < r->count && at >= r->file[i].end)
        i++;
    const struct file *f = &r->file[i];
    if (i + 1 < r->count && (int64_t)bytes > f->end - at)
        bytes = (size_t)(f->end - at);
    if (r->piecewise)
        bytes = piece_at(f, bytes, at);
    ssize_t n = read_at(f, to, bytes, at);
    if (n < 0)
        return read_piece(r, f, to, bytes, at, errno);
    r->piecewise = false;
    return n;
}

void file_reader_close(struct file_reader **reader)
{
    struct file_reader *r = *reader;
    if (!r)
        return;
    for (size_t i = 0; i < r->count; i++)
        close(r->file[i].fd);
    free(r->file);
    free(r);
    *reader = NULL;
}
