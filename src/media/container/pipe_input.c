#include "pipe_input.h"

#include <errno.h>
#include <fcntl.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "media/bitstream/mp4_box.h"
#include "barcode/base/file.h"
#include "barcode/base/interrupt.h"
#include "barcode/base/slow_file.h"

enum { BUFFER_BYTES = 32768, HEAD_BYTES = 1 << 20, KEPT_MOST = 64 << 20 };

struct film_input {
    int fd;
    int64_t size; /* -1: the input is not seekable */
    int64_t at;
    uint8_t head[HEAD_BYTES]; /* read before libavformat requests it */
    size_t head_bytes, head_taken;
    bool keeping; /* a pipe's bytes are kept while they are read */
    uint8_t *kept;
    size_t kept_bytes, kept_room, kept_taken;
};

static void drop_kept(struct film_input *f)
{
    av_freep(&f->kept);
    f->kept_bytes = f->kept_room = f->kept_taken = 0;
    f->keeping = false;
}

/*
 * Keeps bytes that were read. With too many bytes, or if out of memory, drops all: the film cannot
 * be read again then.
 */
static void keep_bytes(struct film_input *f, const uint8_t *bytes, size_t count)
{
    if (f->kept_bytes + count > f->kept_room) {
        size_t room = 2 * (f->kept_bytes + count);
        uint8_t *more = room <= 2 * (size_t)KEPT_MOST ? av_realloc(f->kept, room) : NULL;
        if (!more) {
            drop_kept(f);
            return;
        }
        f->kept = more;
        f->kept_room = room;
    }
    memcpy(f->kept + f->kept_bytes, bytes, count);
    f->kept_bytes += count;
}

/* Reads from the kept bytes. */
static int read_kept(struct film_input *f, uint8_t *to, size_t bytes)
{
    size_t n = f->kept_bytes - f->kept_taken;
    n = n < bytes ? n : bytes;
    memcpy(to, f->kept + f->kept_taken, n);
    f->kept_taken += n;
    if (f->kept_taken == f->kept_bytes)
        drop_kept(f);
    return (int)n;
}

static int read_new(struct film_input *f, uint8_t *to, int bytes)
{
    if (f->head_taken < f->head_bytes) {
        size_t n = f->head_bytes - f->head_taken;
        n = n < (size_t)bytes ? n : (size_t)bytes;
        memcpy(to, f->head + f->head_taken, n);
        f->head_taken += n;
        return (int)n;
    }
    if (interrupted())
        return AVERROR_EXIT;
    if (f->size >= 0 && bytes > f->size - f->at)
        bytes = f->at < f->size ? (int)(f->size - f->at) : 0;
    ssize_t n = f->size >= 0 ? pread(f->fd, to, (size_t)bytes, (off_t)f->at)
                             : slow_read(f->fd, to, (size_t)bytes);
    if (n < 0)
        return errno == EINTR && interrupted() ? AVERROR_EXIT : AVERROR(errno);
    f->at += n;
    return n == 0 ? AVERROR_EOF : (int)n;
}

static int read_bytes(void *opaque, uint8_t *to, int bytes)
{
    struct film_input *f = opaque;
    if (f->kept_bytes > 0 && !f->keeping)
        return read_kept(f, to, (size_t)bytes);
    int n = read_new(f, to, bytes);
    if (n > 0 && f->keeping)
        keep_bytes(f, to, (size_t)n);
    return n;
}

static int64_t seek_input(void *opaque, int64_t offset, int whence)
{
    struct film_input *f = opaque;
    if (whence & AVSEEK_SIZE)
        return f->size;
    int64_t base = (whence & ~AVSEEK_FORCE) == SEEK_CUR   ? f->at
                   : (whence & ~AVSEEK_FORCE) == SEEK_END ? f->size
                                                          : 0;
    if (offset < -base)
        return AVERROR(EINVAL);
    return f->at = base + offset;
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
    io->seekable = f->size >= 0 ? AVIO_SEEKABLE_NORMAL : 0;
    return io;
}

/*
 * Makes an input of the open file `fd`, which has `size` bytes, or -1 if it is not seekable. Owns
 * `fd` from then on, also after a failure.
 */
static AVIOContext *open_bytes(int fd, int64_t size, struct err *e)
{
    struct film_input *f = calloc(1, sizeof *f);
    AVIOContext *io = NULL;
    if (f) {
        f->fd = fd;
        f->size = size;
        f->keeping = size < 0;
        io = make_io(f, e);
    } else {
        err_memory(e, sizeof *f);
    }
    if (!io) {
        free(f);
        close(fd);
    }
    return io;
}

bool film_input_open(const char *path, AVIOContext **io, struct err *e)
{
    struct stat s = {0};
    bool numbered = file_descriptor(path) >= 0;
    *io = NULL;
    /* libavformat opens files and disks by name, and reports a folder or a missing file. */
    bool found = !numbered && stat(path, &s) == 0;
    if (!numbered && (!found || S_ISREG(s.st_mode) || S_ISDIR(s.st_mode) || S_ISBLK(s.st_mode)))
        return true;
    int fd = slow_open(path, false);
    bool ok = fd >= 0 && fstat(fd, &s) == 0, folder = ok && S_ISDIR(s.st_mode);
    if (ok && !folder) {
        *io = open_bytes(fd, S_ISREG(s.st_mode) ? s.st_size : -1, e);
        return *io != NULL;
    }
    if (fd >= 0)
        close(fd);
    return folder ? err_set(e, ERR_INPUT, "'%s' is a folder", path)
                  : err_set(e, ERR_INPUT, "cannot open '%s': %s", path, strerror(errno));
}

bool film_input_again(AVIOContext **io, struct err *e)
{
    struct film_input *f = (*io)->opaque;
    if (f->size < 0 && !f->keeping)
        return false;
    AVIOContext *anew = make_io(f, e);
    if (!anew)
        return false;
    av_freep(&(*io)->buffer);
    avio_context_free(io);
    *io = anew;
    f->keeping = false;
    f->at = f->size < 0 ? f->at : 0;
    return true;
}

void film_input_go_on(AVIOContext *io)
{
    struct film_input *f = io->opaque;
    if (f->keeping)
        drop_kept(f);
}

/*
 * Reads until `head` has this many bytes of the film's beginning. Returns false if the input ends
 * earlier or fails.
 */
static bool fill_head(struct film_input *f, size_t bytes)
{
    while (f->head_bytes < bytes && bytes <= HEAD_BYTES) {
        ssize_t n = slow_read(f->fd, f->head + f->head_bytes, bytes - f->head_bytes);
        if (n <= 0)
            return false;
        f->head_bytes += (size_t)n;
        f->at += n;
    }
    return bytes <= HEAD_BYTES;
}

bool film_input_index_last(AVIOContext *io)
{
    struct film_input *f = io->opaque;
    /* a box with a 64-bit size is larger than `head` */
    enum { HEAD = MP4_BOX_HEAD };
    bool pictures = false, index = false;
    if (f->size >= 0 || !fill_head(f, HEAD) || !mp4_box_is(f->head, HEAD, "ftyp"))
        return false;
    for (int64_t at = 0; !pictures && !index && at >= 0 && fill_head(f, (size_t)at + HEAD);
         at = mp4_box_next(f->head + at, HEAD, at)) {
        pictures = mp4_box_is(f->head + at, HEAD, "mdat");
        index = mp4_box_is(f->head + at, HEAD, "moov");
    }
    return pictures;
}

void film_input_close(AVIOContext **io)
{
    if (!*io)
        return;
    struct film_input *f = (*io)->opaque;
    if (f->fd >= 0)
        close(f->fd);
    drop_kept(f);
    free(f);
    av_freep(&(*io)->buffer); /* libavformat may have replaced it */
    avio_context_free(io);
}
