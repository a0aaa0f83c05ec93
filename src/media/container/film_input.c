#include "film_input.h"

#include <errno.h>
#include <libavformat/avformat.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/interrupt.h"

/* ---- boxes of MP4 ---- */

static uint64_t read_number(const uint8_t *bytes, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

bool mp4_box_is(const uint8_t *head, int count, const char *name)
{
    return count >= MP4_BOX_HEAD && memcmp(head + 4, name, 4) == 0;
}

int64_t mp4_box_next(const uint8_t *head, int count, int64_t at)
{
    uint64_t size = count >= MP4_BOX_HEAD ? read_number(head, 4) : 0;
    if (size == 1)
        size = count >= MP4_BOX_HEAD_LONG ? read_number(head + MP4_BOX_HEAD, 8) : 0;
    return size >= MP4_BOX_HEAD && size <= (uint64_t)(INT64_MAX - at) ? at + (int64_t)size : -1;
}

/* ------------------------------------------------------------------ files and disks */

/* What --keep-going skips at once: a page, which is at least a sector. */
enum { SKIP_BYTES = 4096 };

struct file {
    int fd;
    const char *path;
    int64_t begin, end; /* among the bytes of all files */
};

/* Regular files and disks, whose bytes follow one another. Faults are recorded. */
struct file_reader {
    struct read_faults *faults;
    struct file *file;
    size_t count, room;
    int64_t first;  /* the number under which the first byte is recorded if it is skipped */
    bool piecewise; /* the last bytes were unreadable: read no more than SKIP_BYTES at once */
};

/* Returns the size of a file or disk, or 0 if it is unknown. */
static int64_t size_of(int fd)
{
    struct stat s;
    if (fstat(fd, &s) != 0)
        return 0;
    off_t size = S_ISREG(s.st_mode) ? s.st_size : lseek(fd, 0, SEEK_END);
    return size > 0 ? size : 0;
}

/* Appends the bytes of a file. Owns `fd`, also after a failure; borrows `path`. */
static bool file_reader_add(struct file_reader *r, int fd, const char *path, struct err *e)
{
    if (!err_reserve(&r->file, r->count + 1, &r->room, sizeof *r->file, e)) {
        close(fd);
        return false;
    }
    int64_t begin = r->count > 0 ? r->file[r->count - 1].end : 0;
    r->file[r->count++] = (struct file){fd, path, begin, begin + size_of(fd)};
    return true;
}

/* Returns the number of bytes; of a single file, the current one. */
static int64_t file_reader_size(const struct file_reader *r)
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

/* Reads less, or skips an unreadable piece, after a read of `bytes` bytes failed. */
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

/*
 * Reads up to `bytes` bytes at offset `at`, like pread(2). Bytes that are skipped (--keep-going)
 * are 0. Returns -1 with errno on failure; EINTR if interrupted.
 */
static ssize_t file_reader_read(struct file_reader *r, int64_t at, void *to, size_t bytes)
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

static void file_reader_close(struct file_reader **reader)
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

/* ------------------------------------------------------------------ inputs */

/* The numbers of a playlist's bytes have the inode of their file, and so distinguish the files. */
#define FILE_BYTES_MOST (INT64_C(1) << 42)
#define INODES_MOST ((ino_t)1 << 20)

/* PAST_LEAST is kept of a pipe: FFmpeg's GIF demuxer seeks to the start of each frame. */
enum { BUFFER_BYTES = 32768, HEAD_BYTES = 1 << 20, PAST_LEAST = 8 << 20, PAST_MOST = 64 << 20 };

struct film_input {
    struct read_faults *faults;
    const char *path;         /* of a pipe */
    char *name;               /* of a file of a playlist; owned */
    struct file_reader *file; /* NULL: the input is a pipe, `fd`, or a text, which is its past */
    int fd;                   /* -1: none */
    bool inherited;           /* such as stdin: a slow producer is the user's business */
    int64_t at;               /* where libavformat reads */
    /* a pipe's last bytes, up to the last one that was read */
    uint8_t *past;
    size_t past_bytes, past_room;
    int64_t past_at; /* the position of its first byte */
    bool keeping;    /* drop no byte of it */
};

/*
 * Makes room for more bytes after those of the past. Drops old bytes unless they are kept. No more
 * than PAST_MOST are kept: the film cannot be read again then. Returns false if out of memory.
 */
static bool make_room(struct film_input *f, size_t bytes)
{
    f->keeping = f->keeping && f->past_bytes + bytes <= PAST_MOST;
    bool large = !f->keeping && f->past_room > 4 * (size_t)PAST_LEAST;
    if (f->past_bytes + bytes <= f->past_room && !large)
        return true;
    if (!f->keeping && f->past_bytes > PAST_LEAST) {
        size_t old = f->past_bytes - PAST_LEAST;
        memmove(f->past, f->past + old, PAST_LEAST);
        f->past_bytes = PAST_LEAST;
        f->past_at += (int64_t)old;
    }
    size_t room = 2 * (f->past_bytes + bytes);
    if (room <= f->past_room && !large)
        return true;
    uint8_t *more = av_realloc(f->past, room);
    if (!more)
        return false;
    f->past = more;
    f->past_room = room;
    return true;
}

/* Reads up to `bytes` new bytes of a pipe into the past. Returns as slow_read does. */
static ssize_t read_new(struct film_input *f, size_t bytes)
{
    bytes = bytes < HEAD_BYTES ? bytes : HEAD_BYTES;
    if (!make_room(f, bytes)) {
        errno = ENOMEM;
        return -1;
    }
    ssize_t n = slow_read(f->fd, f->past + f->past_bytes, bytes, f->inherited);
    if (n < 0 && errno != EINTR)
        read_faults_fail(f->faults, f->path, errno, f->past_at + (int64_t)f->past_bytes);
    f->past_bytes += n > 0 ? (size_t)n : 0;
    return n;
}

static ssize_t read_pipe(struct film_input *f, uint8_t *to, size_t bytes)
{
    ssize_t n = (ssize_t)f->past_bytes - (ssize_t)(f->at - f->past_at);
    if (n == 0 && f->fd >= 0) {
        if (interrupted()) {
            errno = EINTR;
            return -1;
        }
        n = read_new(f, bytes);
    }
    n = n > (ssize_t)bytes ? (ssize_t)bytes : n;
    if (n > 0)
        memcpy(to, f->past + (f->at - f->past_at), (size_t)n);
    return n;
}

static int read_bytes(void *opaque, uint8_t *to, int bytes)
{
    struct film_input *f = opaque;
    ssize_t n = f->file ? file_reader_read(f->file, f->at, to, (size_t)bytes)
                        : read_pipe(f, to, (size_t)bytes);
    if (n < 0)
        return errno == EINTR && interrupted() ? AVERROR_EXIT : AVERROR(errno);
    f->at += n;
    return n == 0 ? AVERROR_EOF : (int)n;
}

/* Seeks anywhere in a file, and in what is left of a pipe's past. */
static int64_t seek_input(void *opaque, int64_t offset, int whence)
{
    struct film_input *f = opaque;
    int from = whence & ~(AVSEEK_SIZE | AVSEEK_FORCE);
    if (!f->file && (whence & AVSEEK_SIZE || from == SEEK_END))
        return AVERROR(ESPIPE);
    if (whence & AVSEEK_SIZE)
        return file_reader_size(f->file);
    int64_t base = 0;
    if (from == SEEK_CUR)
        base = f->at;
    else if (from == SEEK_END)
        base = file_reader_size(f->file);
    if (offset < -base)
        return AVERROR(EINVAL);
    int64_t to = base + offset;
    if (!f->file && (to < f->past_at || to > f->past_at + (int64_t)f->past_bytes))
        return AVERROR(ESPIPE);
    return f->at = to;
}

static AVIOContext *make_io(struct film_input *f, struct err *e)
{
    uint8_t *buffer = av_malloc(BUFFER_BYTES);
    AVIOContext *io =
        buffer ? avio_alloc_context(buffer, BUFFER_BYTES, 0, f, read_bytes, NULL, seek_input)
               : NULL;
    if (!io) {
        av_free(buffer);
        err_memory(e, BUFFER_BYTES);
        return NULL;
    }
    io->seekable = f->file ? AVIO_SEEKABLE_NORMAL : 0;
    return io;
}

/* Makes an input of a pipe or of files. It owns both from then on, also after a failure. */
static AVIOContext *open_bytes(int fd, const char *path, bool inherited, struct file_reader *file,
                               struct read_faults *faults, struct err *e)
{
    struct film_input *f = calloc(1, sizeof *f);
    AVIOContext *io = NULL;
    if (f) {
        *f = (struct film_input){.faults = faults,
                                 .path = path,
                                 .file = file,
                                 .fd = fd,
                                 .inherited = inherited,
                                 .keeping = !file};
        io = make_io(f, e);
    } else {
        err_memory(e, sizeof *f);
    }
    if (!io) {
        free(f);
        file_reader_close(&file);
        if (fd >= 0)
            close(fd);
    }
    return io;
}

/* Makes an input of a regular file or a disk, which it owns from then on, also after a failure. */
static AVIOContext *open_file(int fd, const char *path, struct read_faults *faults, struct err *e)
{
    struct file_reader *file = err_calloc(1, sizeof *file, e);
    if (!file) {
        close(fd);
        return NULL;
    }
    file->faults = faults;
    if (!file_reader_add(file, fd, path, e)) {
        file_reader_close(&file);
        return NULL;
    }
    return open_bytes(-1, path, false, file, faults, e);
}

static bool refuse_open(const char *path, int error, struct err *e)
{
    return err_set(e, file_is_fault(error) ? ERR_FAILED : ERR_INPUT, "cannot open '%s': %s", path,
                   strerror(error));
}

/* Returns true for a folder, a wrong name or a pattern of images: libavformat reports errors. */
static bool is_for_libavformat(const char *path, const struct stat *s)
{
    int score = AVPROBE_SCORE_RETRY;
    AVProbeData name = {.filename = path};
    return S_ISDIR(s->st_mode) || ((S_ISREG(s->st_mode) || S_ISBLK(s->st_mode)) &&
                                   av_probe_input_format2(&name, false, &score));
}

bool film_input_open(const char *path, struct read_faults *faults, AVIOContext **io, struct err *e)
{
    struct stat s = {0};
    bool numbered = file_descriptor(path) >= 0;
    *io = NULL;
    if (!numbered && stat(path, &s) != 0) {
        if (file_is_fault(errno))
            return refuse_open(path, errno, e);
        return true;
    }
    if (!numbered && is_for_libavformat(path, &s))
        return true;
    int fd = slow_open(path, false);
    if (fd < 0)
        return refuse_open(path, errno, e);
    if (fstat(fd, &s) != 0 || S_ISDIR(s.st_mode)) {
        int error = errno;
        close(fd);
        if (S_ISDIR(s.st_mode))
            return err_set(e, ERR_INPUT, "'%s' is a folder", path);
        return refuse_open(path, error, e);
    }
    bool pipe = !S_ISREG(s.st_mode) && !S_ISBLK(s.st_mode);
    *io = pipe ? open_bytes(fd, path, numbered, NULL, faults, e) : open_file(fd, path, faults, e);
    return *io != NULL;
}

bool film_input_open_parts(const struct film_parts *parts, struct read_faults *faults,
                           AVIOContext **io, struct err *e)
{
    struct file_reader *file = err_calloc(1, sizeof *file, e);
    bool ok = file != NULL;
    *io = NULL;
    if (ok)
        file->faults = faults;
    for (size_t i = 0; ok && i < parts->count; i++) {
        const char *path = parts->part[i].path;
        int fd = slow_open(path, false);
        ok = fd >= 0 ? file_reader_add(file, fd, path, e) : refuse_open(path, errno, e);
    }
    if (ok)
        *io = open_bytes(-1, NULL, false, file, faults, e);
    else
        file_reader_close(&file);
    return *io != NULL;
}

bool film_input_open_text(const char *text, AVIOContext **io, struct err *e)
{
    *io = open_bytes(-1, NULL, false, NULL, NULL, e);
    if (!*io)
        return false;
    struct film_input *f = (*io)->opaque;
    f->past_bytes = f->past_room = strlen(text);
    f->past = av_memdup(text, f->past_bytes);
    (*io)->seekable = AVIO_SEEKABLE_NORMAL;
    if (!f->past) {
        film_input_close(io);
        return err_memory(e, strlen(text));
    }
    return true;
}

/* Opens the file `path` with the faults of `film`. Returns 0 or an errno. */
static int open_beside(const struct film_input *film, const char *path, const char *name,
                       AVIOContext **io)
{
    struct stat s = {.st_ino = 0};
    int fd = slow_open(path, false);
    *io = NULL;
    if (fd < 0)
        return errno;
    char *copy = strdup(name);
    if (copy && fstat(fd, &s) == 0)
        *io = open_file(fd, copy, film->faults, NULL);
    else
        close(fd);
    if (!*io) {
        free(copy);
        return ENOMEM;
    }
    struct film_input *f = (*io)->opaque;
    f->name = copy;
    f->file->first = (int64_t)(s.st_ino % INODES_MOST + 1) * FILE_BYTES_MOST;
    if (file_reader_size(f->file) == 0)
        read_faults_lack(film->faults, "its part '%s' is empty", name);
    return 0;
}

int film_input_open_beside(const AVIOContext *film, const char *path, const char *name,
                           AVIOContext **io)
{
    const struct film_input *f = film->opaque;
    int error = path ? open_beside(f, path, name, io) : errno;
    if (error == 0 || error == EINTR || error == ENOMEM)
        return error;
    if (file_is_fault(error) && !read_faults_may_skip(f->faults, error))
        read_faults_fail(f->faults, name, error, 0);
    else
        read_faults_lack(f->faults, "cannot open its part '%s': %s", name, strerror(error));
    return error;
}

bool film_input_again(AVIOContext **io, struct err *e)
{
    struct film_input *f = (*io)->opaque;
    if (!f->file && !f->keeping)
        return false;
    AVIOContext *fresh = make_io(f, e);
    if (!fresh)
        return false;
    av_freep(&(*io)->buffer);
    avio_context_free(io);
    *io = fresh;
    f->keeping = false;
    f->at = 0;
    return true;
}

void film_input_go_on(AVIOContext *io)
{
    struct film_input *f = io->opaque;
    f->keeping = false;
}

/* Reads until `bytes` bytes of the film's beginning are there. Returns false if it cannot. */
static bool fill_head(struct film_input *f, size_t bytes)
{
    while (f->past_bytes < bytes && bytes <= HEAD_BYTES)
        if (read_new(f, bytes - f->past_bytes) <= 0)
            return false;
    return bytes <= HEAD_BYTES;
}

bool film_input_index_last(AVIOContext *io)
{
    struct film_input *f = io->opaque;
    /* a box with a 64-bit size is larger than HEAD_BYTES */
    enum { HEAD = MP4_BOX_HEAD };
    bool pictures = false, index = false;
    if (f->file || !fill_head(f, HEAD) || !mp4_box_is(f->past, HEAD, "ftyp"))
        return false;
    for (int64_t at = 0; !pictures && !index && at >= 0 && fill_head(f, (size_t)at + HEAD);
         at = mp4_box_next(f->past + at, HEAD, at)) {
        pictures = mp4_box_is(f->past + at, HEAD, "mdat");
        index = mp4_box_is(f->past + at, HEAD, "moov");
    }
    return pictures;
}

void film_input_close(AVIOContext **io)
{
    if (!*io)
        return;
    struct film_input *f = (*io)->opaque;
    file_reader_close(&f->file);
    if (f->fd >= 0)
        close(f->fd);
    av_freep(&f->past);
    free(f->name);
    free(f);
    av_freep(&(*io)->buffer); /* libavformat may have replaced it */
    avio_context_free(io);
}
