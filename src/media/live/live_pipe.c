#include "live_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libavutil/error.h>
#include <libavutil/mem.h>

enum { BUFFER = 1 << 16 };

struct pipe {
    int fd;
    AVIOInterruptCB stop;
};

/* Implements AVIOContext.read_packet: returns what is there. */
static int read_pipe(void *opaque, uint8_t *to, int bytes)
{
    const int wait_ms = 50;
    const struct pipe *p = opaque;
    struct pollfd ready = {.fd = p->fd, .events = POLLIN};
    for (;;) {
        if (p->stop.callback(p->stop.opaque))
            return AVERROR_EXIT;
        if (poll(&ready, 1, wait_ms) <= 0)
            continue;
        ssize_t n = read(p->fd, to, (size_t)bytes);
        if (n > 0)
            return (int)n;
        if (n == 0)
            return AVERROR_EOF;
        if (errno != EINTR && errno != EAGAIN)
            return AVERROR(errno);
    }
}

AVIOContext *live_pipe_open(const char *name, AVIOInterruptCB stop, struct err *e)
{
    struct pipe *p = err_calloc(1, sizeof *p, e);
    if (!p)
        return NULL;
    p->stop = stop;
    bool own = strcmp(name, "-") != 0;
    /* O_NONBLOCK: does not wait for a writer */
    p->fd = own ? open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : STDIN_FILENO;
    uint8_t *buffer = p->fd >= 0 ? av_malloc(BUFFER) : NULL;
    AVIOContext *io =
        buffer ? avio_alloc_context(buffer, BUFFER, 0, p, read_pipe, NULL, NULL) : NULL;
    if (io)
        return io;
    if (p->fd < 0)
        err_set(e, ERR_FAILED, "cannot open '%s': %s", name, strerror(errno));
    else
        err_memory(e, BUFFER);
    if (own && p->fd >= 0)
        close(p->fd);
    av_free(buffer);
    free(p);
    return NULL;
}

void live_pipe_close(AVIOContext **io)
{
    if (!*io)
        return;
    struct pipe *p = (*io)->opaque;
    if (p->fd > STDIN_FILENO)
        close(p->fd);
    free(p);
    av_freep(&(*io)->buffer);
    avio_context_free(io);
}
