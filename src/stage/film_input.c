#include "film_input.h"

#include <errno.h>
#include <libavutil/intreadwrite.h>
#include <libavutil/mem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barcode/file.h"
#include "barcode/interrupt.h"
#include "barcode/slow_file.h"

enum { BUFFER_BYTES = 32768, HEAD_BYTES = 1 << 20 };

struct film_input {
    int fd;
    int64_t size;                   /* -1: it cannot be sought in                              */
    int64_t at;
    uint8_t head[HEAD_BYTES];       /* looked at before libav asked for it                     */
    size_t head_bytes, head_taken;
};

bool film_input_wanted(const char *path)
{
    struct stat s;
    /* A disk can be sought in by its name, as a file can. */
    return file_descriptor(path) >= 0 || (stat(path, &s) == 0 && (S_ISFIFO(s.st_mode) || S_ISCHR(s.st_mode) || S_ISSOCK(s.st_mode)));
}

static int read_bytes(void *opaque, uint8_t *to, int bytes)
{
    struct film_input *f = opaque;
    if (f->head_taken < f->head_bytes) {
        size_t n = f->head_bytes - f->head_taken;
        n = n < (size_t)bytes ? n : (size_t)bytes;
        memcpy(to, f->head + f->head_taken, n);
        f->head_taken += n;
        return (int)n;
    }
    if (interrupted())
        return AVERROR_EXIT;
    ssize_t n = f->size >= 0 ? pread(f->fd, to, (size_t)bytes, (off_t)f->at) : slow_read(f->fd, to, (size_t)bytes);
    if (n < 0)
        return errno == EINTR && interrupted() ? AVERROR_EXIT : AVERROR(errno);
    f->at += n;
    return n == 0 ? AVERROR_EOF : (int)n;
}

static int64_t seek(void *opaque, int64_t offset, int whence)
{
    struct film_input *f = opaque;
    if (whence & AVSEEK_SIZE)
        return f->size;
    int64_t base = (whence & ~AVSEEK_FORCE) == SEEK_CUR ? f->at : (whence & ~AVSEEK_FORCE) == SEEK_END ? f->size : 0;
    if (offset < -base)
        return AVERROR(EINVAL);
    return f->at = base + offset;
}

AVIOContext *film_input_open(const char *path, struct err *e)
{
    struct film_input *f = calloc(1, sizeof *f);
    uint8_t *buffer = f ? av_malloc(BUFFER_BYTES) : NULL;
    AVIOContext *io = buffer ? avio_alloc_context(buffer, BUFFER_BYTES, 0, f, read_bytes, NULL, seek) : NULL;
    if (!io) {
        av_free(buffer);
        free(f);
        err_memory(e, BUFFER_BYTES);
        return NULL;
    }
    struct stat s;
    f->fd = slow_open(path, false);
    bool fine = f->fd >= 0 && fstat(f->fd, &s) == 0;
    if (!fine)
        err_set(e, ERR_INPUT, "cannot open '%s': %s", path, strerror(errno));
    else if (S_ISDIR(s.st_mode))
        fine = err_set(e, ERR_INPUT, "'%s' is a folder", path);
    if (!fine) {
        film_input_close(&io);
        return NULL;
    }
    f->size = S_ISREG(s.st_mode) ? s.st_size : -1;
    io->seekable = f->size >= 0 ? AVIO_SEEKABLE_NORMAL : 0;
    return io;
}

/* True when so many bytes of the film's beginning are in `head`. */
static bool look(struct film_input *f, size_t bytes)
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
    if (f->size >= 0 || !look(f, 12) || memcmp(f->head + 4, "ftyp", 4) != 0)
        return false;
    for (size_t at = 0; look(f, at + 8);) {
        uint32_t size = AV_RB32(f->head + at);
        const uint8_t *name = f->head + at + 4;
        if (memcmp(name, "mdat", 4) == 0 || memcmp(name, "moov", 4) == 0)
            return *name == 'm' && name[1] == 'd';
        if (size < 8 || size > HEAD_BYTES)
            return false;
        at += size;
    }
    return false;
}

void film_input_close(AVIOContext **io)
{
    if (!*io)
        return;
    struct film_input *f = (*io)->opaque;
    if (f->fd >= 0)
        close(f->fd);
    free(f);
    av_freep(&(*io)->buffer);      /* libav may have taken another for it */
    avio_context_free(io);
}
