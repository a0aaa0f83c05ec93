#include "live_output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "barcode/base/clock.h"
#include "barcode/base/log.h"
#include "live_text.h"

enum { WAIT_MS = 100, LINGER_S = 1 };

struct live_output {
    struct live_feed *feed;
    int fd, watch;
    enum live_format format;
    int64_t since;
    uint8_t *rgb;
    atomic_bool over;
    _Atomic int64_t closing_ns; /* 0: not yet */
    _Atomic uint64_t dropped;
    int error; /* of a write; for the thread, and after its end */
    pthread_t thread;
};

/* Returns false if close does not wait any longer. */
static bool has_time(struct live_output *o)
{
    int64_t closing = atomic_load(&o->closing_ns);
    return closing == 0 || clock_since(closing) < LINGER_S;
}

/* A pipe that poll reports as ready has room for PIPE_BUF bytes; more would block. */
static bool write_all(struct live_output *o, const void *from, size_t bytes)
{
    const uint8_t *at = from;
    while (bytes > 0 && has_time(o)) {
        struct pollfd p = {.fd = o->fd, .events = POLLOUT};
        if (poll(&p, 1, WAIT_MS) <= 0)
            continue;
        ssize_t n = write(o->fd, at, bytes < PIPE_BUF ? bytes : PIPE_BUF);
        if (n < 0 && errno != EINTR && errno != EAGAIN) {
            o->error = errno;
            return false;
        }
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return bytes == 0;
}

static bool write_column(struct live_output *o, const struct live_column *c)
{
    char line[LIVE_JSON];
    const int height = live_feed_height(o->feed);
    if (o->format == LIVE_FORMAT_RGB)
        return write_all(o, o->rgb, (size_t)height * 3);
    size_t length = live_text_json(c, NULL, height, line, sizeof line);
    line[length] = '\n';
    return write_all(o, line, length + 1);
}

static void count_dropped(struct live_output *o, int64_t number)
{
    if (o->since == INT64_MIN || number == o->since + 1)
        return;
    uint64_t lost = (uint64_t)number - (uint64_t)o->since - 1;
    if (atomic_fetch_add(&o->dropped, lost) == 0)
        log_msg(LOG_WARNING, "stdout: its reader is too slow, columns are dropped");
}

/* Waits for a put, or for the reader to close its end. */
static bool wait_for_column(struct live_output *o)
{
    uint64_t count;
    struct pollfd p[2] = {{.fd = o->watch, .events = POLLIN}, {.fd = o->fd}};
    if (poll(p, 2, -1) < 0 && errno != EINTR)
        return false;
    while (read(o->watch, &count, sizeof count) > 0)
        continue;
    return !(p[1].revents & (POLLERR | POLLHUP | POLLNVAL));
}

static void *write_columns(void *output)
{
    struct live_output *o = output;
    struct live_column c;
    for (bool good = true; good;) {
        const bool closed = live_feed_closed(o->feed);
        if (live_feed_read(o->feed, o->since, 1, &c, o->rgb) == 0 || c.open) {
            if (closed)
                break;
            good = wait_for_column(o);
            continue;
        }
        count_dropped(o, c.number);
        o->since = c.number;
        good = write_column(o, &c);
    }
    atomic_store(&o->over, true);
    return NULL;
}

struct live_output *live_output_open(int fd, enum live_format format, struct live_feed *f,
                                     struct err *e)
{
    if (format == LIVE_FORMAT_RGB && isatty(fd)) {
        err_set(e, ERR_USAGE, "pixels are not written to a terminal; redirect stdout");
        return NULL;
    }
    struct live_output *o = err_calloc(1, sizeof *o, e);
    if (!o)
        return NULL;
    o->feed = f;
    o->fd = fd;
    o->format = format;
    o->since = live_feed_newest(f);
    o->rgb = err_calloc((size_t)live_feed_height(f), 3, e);
    o->watch = o->rgb ? live_feed_watch(f, e) : -1;
    int error = o->watch < 0 ? 0 : pthread_create(&o->thread, NULL, write_columns, o);
    if (error)
        err_set(e, ERR_FAILED, "cannot start a thread: %s", strerror(error));
    if (!error && o->watch >= 0)
        return o;
    free(o->rgb);
    free(o);
    return NULL;
}

bool live_output_is_over(const struct live_output *o) { return atomic_load(&o->over); }

uint64_t live_output_dropped(const struct live_output *o) { return atomic_load(&o->dropped); }

bool live_output_close(struct live_output **output, struct err *e)
{
    struct live_output *o = *output;
    if (!o)
        return true;
    atomic_store(&o->closing_ns, clock_ns());
    live_feed_close(o->feed);
    pthread_join(o->thread, NULL);
    const uint64_t dropped = live_output_dropped(o);
    if (dropped > 0)
        log_msg(LOG_WARNING, "stdout: dropped %llu columns", (unsigned long long)dropped);
    bool good = o->error == 0 || o->error == EPIPE ||
                err_set(e, ERR_FAILED, "cannot write to stdout: %s", strerror(o->error));
    free(o->rgb);
    free(o);
    *output = NULL;
    return good;
}
