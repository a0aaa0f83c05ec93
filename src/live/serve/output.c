/* output.c - columns to stdout. */
#include "serve.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "barcode/base/clock.h"
#include "base/log.h"
#include "base/text.h"

enum { JSON_ROOM = 256 };

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
    o->data = err_calloc(pixels > JSON_ROOM ? pixels : JSON_ROOM, 1, e);
    if (o->data)
        return o;
    free(o);
    return NULL;
}

static void write_colour(const struct live_column *c, const uint8_t rgb[3], char text[10])
{
    if (c->missing)
        snprintf(text, 10, "null");
    else
        snprintf(text, 10, "\"#%02x%02x%02x\"", rgb[0], rgb[1], rgb[2]);
}

/* Writes a column as JSON in a line. Returns the length. */
static size_t write_json(const struct live_column *c, char text[JSON_ROOM])
{
    char time[TEXT_UTC], average[10], dominant[10];
    text_utc(c->time_us, true, time);
    write_colour(c, c->average, average);
    write_colour(c, c->dominant, dominant);
    return (size_t)snprintf(text, JSON_ROOM,
                            "{\"number\":%" PRId64 ",\"time\":\"%s\",\"missing\":%s,"
                            "\"average\":%s,\"dominant\":%s}\n",
                            c->number, time, c->missing ? "true" : "false", average, dominant);
}

/* Begins to write the next column that is complete. Returns false if there is none. */
static bool begin_column(struct live_output *o)
{
    const uint8_t *rgb;
    const int64_t oldest = live_feed_oldest(o->feed);
    int64_t number = o->since == INT64_MIN ? oldest : o->since + 1;
    if (number < oldest) {
        if (o->dropped == 0)
            log_msg(LOG_WARNING, "standard output: its reader is too slow, columns are dropped");
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
        o->size = write_json(c, (char *)o->data);
    }
    return true;
}

struct pollfd live_output_poll(const struct live_output *o)
{
    return (struct pollfd){.fd = o->fd, .events = o->at < o->size ? POLLOUT : 0};
}

/* Writes a part of the column. Returns false if it would block. */
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
    bool written = true;
    while (written && o->error == 0 && (o->at < o->size || begin_column(o)))
        written = write_part(o);
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
        log_msg(LOG_WARNING, "standard output: dropped %llu columns",
                (unsigned long long)o->dropped);
    bool ok = o->error == 0 || o->error == EPIPE || o->error == ECONNRESET;
    if (!ok)
        err_set(e, ERR_FAILED, "cannot write 'standard output': %s", strerror(o->error));
    free(o->data);
    free(o);
    *output = NULL;
    return ok;
}
