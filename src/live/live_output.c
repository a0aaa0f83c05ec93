#include "live_output.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "barcode/base/clock.h"
#include "base/log.h"
#include "live_text.h"

struct live_output {
    const struct live_feed *feed;
    int fd;
    enum live_format format;
    int64_t since; /* the column that was begun last; INT64_MIN: none */
    uint8_t *data; /* of a column */
    size_t at, size;
    uint64_t dropped;
    int error; /* of a write */
};

struct live_output *live_output_open(int fd, enum live_format format, const struct live_feed *f,
                                     struct err *e)
{
    if (format == LIVE_FORMAT_RGB && isatty(fd)) {
        err_set(e, ERR_USAGE, "pixels are not written to a terminal; redirect stdout");
        return NULL;
    }
    struct live_output *o = err_calloc(1, sizeof *o, e);
    if (!o)
        return NULL;
    *o = (struct live_output){.feed = f, .fd = fd, .format = format, .since = live_feed_newest(f)};
    const size_t pixels = (size_t)live_feed_height(f) * 3;
    o->data = err_calloc(pixels > LIVE_JSON ? pixels : LIVE_JSON, 1, e);
    if (o->data)
        return o;
    free(o);
    return NULL;
}

/* Takes the next column that is complete. Returns false if there is none. */
static bool take_column(struct live_output *o)
{
    const uint8_t *rgb;
    const int64_t oldest = live_feed_oldest(o->feed);
    int64_t number = o->since == INT64_MIN ? oldest : o->since + 1;
    if (number < oldest) {
        if (o->dropped == 0)
            log_msg(LOG_WARNING, "stdout: its reader is too slow, columns are dropped");
        o->dropped += (uint64_t)(oldest - number);
        number = oldest;
    }
    const struct live_column *c = live_feed_get(o->feed, number, &rgb);
    if (!c || c->open)
        return false;
    o->since = number;
    o->at = 0;
    if (o->format == LIVE_FORMAT_RGB) {
        o->size = (size_t)live_feed_height(o->feed) * 3;
        memcpy(o->data, rgb, o->size);
    } else {
        o->size = live_text_json(c, (char *)o->data);
        o->data[o->size++] = '\n';
    }
    return true;
}

struct pollfd live_output_poll(const struct live_output *o)
{
    return (struct pollfd){.fd = o->fd, .events = o->at < o->size ? POLLOUT : 0};
}

/* Writes a part of the column. Returns false if the reader takes nothing now. */
static bool write_part(struct live_output *o)
{
    struct pollfd p = live_output_poll(o);
    if (poll(&p, 1, 0) <= 0)
        return false;
    /* A pipe that poll reports as ready has room for PIPE_BUF bytes; more would block. */
    const size_t left = o->size - o->at, part = left < PIPE_BUF ? left : PIPE_BUF;
    ssize_t n = send(o->fd, o->data + o->at, part, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == ENOTSOCK)
        n = write(o->fd, o->data + o->at, part);
    if (n < 0 && errno != EINTR && errno != EAGAIN)
        o->error = errno;
    o->at += n > 0 ? (size_t)n : 0;
    return n > 0;
}

bool live_output_write(struct live_output *o)
{
    struct pollfd gone = {.fd = o->fd};
    bool taken = true;
    while (taken && o->error == 0 && (o->at < o->size || take_column(o)))
        taken = write_part(o);
    return o->error == 0 && poll(&gone, 1, 0) <= 0;
}

bool live_output_close(struct live_output **output, struct err *e)
{
    enum { LINGER_MS = 1000 };
    struct live_output *o = *output;
    if (!o)
        return true;
    const int64_t began = clock_ns();
    while (live_output_write(o) && o->at < o->size && clock_since(began) < LINGER_MS / 1e3) {
        struct pollfd p = live_output_poll(o);
        (void)poll(&p, 1, LINGER_MS / 10);
    }
    if (o->dropped > 0)
        log_msg(LOG_WARNING, "stdout: dropped %llu columns", (unsigned long long)o->dropped);
    bool good = o->error == 0 || o->error == EPIPE || o->error == ECONNRESET ||
                err_set(e, ERR_FAILED, "cannot write to stdout: %s", strerror(o->error));
    free(o->data);
    free(o);
    *output = NULL;
    return good;
}
