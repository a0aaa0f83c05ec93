#include "live_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "barcode/base/clock.h"

enum { BUFFER = 1 << 16, TS_PACKET = 188, TS_SYNC = 0x47, PID_NONE = -1 };

struct live_input {
    AVIOContext *io;
    AVIOContext *url; /* NULL: a pipe */
    int fd;
    AVIOInterruptCB stop;
    int pid;
    bool paused, pause_next, ended;
    bool datagrams; /* a short one ends a picture */
    bool guessed;   /* the latest picture was ended by that */
    bool flushed;   /* the bytes that were read last are a short datagram */
    int largest;    /* datagram */
    uint8_t data[BUFFER];
    int at, count;      /* what the demuxer has not got yet */
    int64_t read_ns;    /* when data[] was read */
    int64_t last_ns;    /* when the latest packet of `pid` was read */
    int64_t picture_ns; /* when the latest packet was read that ended a picture */
};

/* ------------------------------------------------------------------ MPEG-TS: ISO/IEC 13818-1 */

enum { HAS_FIELD = 0x20, HAS_PAYLOAD = 0x10 }; /* in packet[3] */

bool live_input_is_stuffed(const uint8_t packet[188])
{
    enum { PCR = 0x10, OPCR = 0x08, SPLICE = 0x04, PRIVATE = 0x02, EXTENSION = 0x01 };
    int length = packet[4], flags = packet[5], used = 1;
    if ((packet[3] & (HAS_FIELD | HAS_PAYLOAD)) != (HAS_FIELD | HAS_PAYLOAD))
        return false;
    if (length == 0)
        return true;
    if (flags & (PRIVATE | EXTENSION))
        return false; /* their lengths are further on; such packets are rare */
    used += (flags & PCR ? 6 : 0) + (flags & OPCR ? 6 : 0) + (flags & SPLICE ? 1 : 0);
    return length > used;
}

/*
 * Returns true if the packet at data[from] ends a picture: it is stuffed, or the sender had nothing
 * to add to its datagram. A picture that goes on shows that this sender's datagrams tell nothing.
 */
static bool ends_picture(struct live_input *in, int from)
{
    const uint8_t *packet = in->data + from;
    bool begins = packet[1] & 0x40;
    if (!(packet[3] & HAS_PAYLOAD))
        return false;
    in->datagrams = in->datagrams && (begins || !in->guessed);
    in->guessed = in->datagrams && in->flushed && in->count - from == TS_PACKET;
    return in->guessed || live_input_is_stuffed(packet);
}

/*
 * Looks through the packets at data[at...]. Returns the bytes up to the end of a picture, or all.
 */
static int scan(struct live_input *in)
{
    int from = in->at;
    for (; in->count - from >= TS_PACKET; from += TS_PACKET) {
        const uint8_t *packet = in->data + from;
        if (packet[0] != TS_SYNC) { /* bytes are missing: go on without pauses */
            in->pid = PID_NONE;
            break;
        }
        if (((packet[1] & 0x1f) << 8 | packet[2]) != in->pid)
            continue;
        if (packet[1] & 0x40) /* another picture begins */
            in->picture_ns = in->last_ns;
        in->last_ns = in->read_ns;
        if (ends_picture(in, from)) {
            in->picture_ns = in->read_ns;
            in->pause_next = true;
            return from + TS_PACKET - in->at;
        }
    }
    return in->count - in->at;
}

/* ------------------------------------------------------------------ reading */

/* Reads what is there, at least a byte. Returns its bytes or an AVERROR. */
static int read_pipe(const struct live_input *in, uint8_t *to, int bytes)
{
    const int wait_ms = 400;
    struct pollfd ready = {.fd = in->fd, .events = POLLIN};
    for (;;) {
        if (in->stop.callback(in->stop.opaque))
            return AVERROR_EXIT;
        if (poll(&ready, 1, wait_ms) <= 0)
            continue;
        ssize_t n = read(in->fd, to, (size_t)bytes);
        if (n > 0)
            return (int)n;
        if (n == 0)
            return AVERROR_EOF;
        if (errno != EINTR && errno != EAGAIN)
            return AVERROR(errno);
    }
}

/* Reads more into data[], behind a packet of which a part is there. */
static int fill(struct live_input *in)
{
    int left = in->count - in->at;
    memmove(in->data, in->data + in->at, (size_t)left);
    in->at = 0;
    in->count = left;
    uint8_t *to = in->data + left;
    int got =
        in->url ? avio_read_partial(in->url, to, BUFFER - left) : read_pipe(in, to, BUFFER - left);
    in->read_ns = clock_ns();
    in->count += got > 0 ? got : 0;
    in->flushed = got > 0 && got < in->largest;
    in->largest = got > in->largest ? got : in->largest;
    in->ended = got == 0 || got == AVERROR_EOF;
    return in->ended ? AVERROR_EOF : got;
}

/* Implements AVIOContext.read_packet. */
static int give(void *opaque, uint8_t *to, int bytes)
{
    struct live_input *in = opaque;
    if (in->pause_next) {
        in->pause_next = false;
        in->paused = true;
        return AVERROR(EAGAIN);
    }
    /* With pauses, the demuxer gets whole packets, so that it is never within one. */
    int whole = in->pid == PID_NONE ? 1 : TS_PACKET;
    while (in->count - in->at < whole) {
        int got = fill(in);
        if (got < 0)
            return got;
    }
    int given = in->pid == PID_NONE ? in->count - in->at : scan(in);
    if (in->pid != PID_NONE)
        given -= given % TS_PACKET;
    else
        in->picture_ns = in->read_ns;
    if (given > bytes) { /* what is left begins with a packet, too */
        given = in->pid == PID_NONE || bytes < TS_PACKET ? bytes : bytes - bytes % TS_PACKET;
        in->pause_next = false;
    }
    memcpy(to, in->data + in->at, (size_t)given);
    in->at += given;
    return given;
}

/* ------------------------------------------------------------------ opening */

static int open_bytes(struct live_input *in, const char *name, AVDictionary **options)
{
    if (strstr(name, "://")) {
        int code = avio_open2(&in->url, name, AVIO_FLAG_READ, &in->stop, options);
        in->datagrams = code >= 0 && in->url->max_packet_size > 0;
        return code;
    }
    /* O_NONBLOCK: does not wait for a writer */
    bool own = strcmp(name, "-") != 0;
    in->fd = own ? open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : STDIN_FILENO;
    return in->fd < 0 ? AVERROR(errno) : 0;
}

struct live_input *live_input_open(const char *name, AVIOInterruptCB stop, AVDictionary **options,
                                   int *code, struct err *e)
{
    struct live_input *in = err_calloc(1, sizeof *in, e);
    if (!in)
        return NULL;
    in->stop = stop;
    in->pid = PID_NONE;
    *code = open_bytes(in, name, options);
    uint8_t *buffer = *code < 0 ? NULL : av_malloc(BUFFER);
    in->io = buffer ? avio_alloc_context(buffer, BUFFER, 0, in, give, NULL, NULL) : NULL;
    if (in->io)
        return in;
    *code = *code < 0 ? *code : AVERROR(ENOMEM);
    av_free(buffer);
    live_input_close(&in);
    return NULL;
}

AVIOContext *live_input_context(struct live_input *in) { return in->io; }

void live_input_pause_after(struct live_input *in, int pid)
{
    /* what the demuxer has got so far ends with a packet, or pauses would come within one */
    int64_t given = avio_tell(in->io) + (in->io->buf_end - in->io->buf_ptr);
    if (given % TS_PACKET == 0)
        in->pid = pid;
}

bool live_input_resume(struct live_input *in)
{
    bool paused = in->paused;
    in->paused = false;
    in->io->eof_reached = 0;
    in->io->error = 0;
    return paused;
}

bool live_input_ended(const struct live_input *in) { return in->ended; }

int64_t live_input_arrived(const struct live_input *in) { return in->picture_ns; }

void live_input_close(struct live_input **in)
{
    if (!*in)
        return;
    if ((*in)->fd > STDIN_FILENO)
        close((*in)->fd);
    if ((*in)->io)
        av_freep(&(*in)->io->buffer);
    avio_context_free(&(*in)->io);
    avio_closep(&(*in)->url);
    free(*in);
    *in = NULL;
}
