#include "serve_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "live_text.h"

enum { FRAMING = 1024 }; /* room for an event's fields, and for the first event */

struct serve_stream {
    struct live_feed *feed;
    bool events;
    int64_t since, until; /* `until`: the last number of /columns */
    uint64_t puts;        /* those that have been read; events only */
    int64_t sent_ns;
    size_t room, at, length; /* of text[] */
    char *text;
    uint8_t *rgb;
};

static struct serve_stream *open_stream(struct live_feed *f, bool events, int64_t since,
                                        struct err *e)
{
    struct serve_stream *s = err_calloc(1, sizeof *s, e);
    if (!s)
        return NULL;
    const int height = live_feed_height(f);
    s->feed = f;
    s->events = events;
    s->since = since;
    s->until = live_feed_newest(f);
    s->sent_ns = clock_ns();
    s->room = FRAMING + live_text_json_room(height);
    s->text = err_calloc(s->room, 1, e);
    s->rgb = err_calloc((size_t)height, 3, e);
    if (!s->text || !s->rgb)
        serve_stream_free(&s);
    return s;
}

struct serve_stream *serve_stream_events(struct live_feed *f, const char *title, int64_t since,
                                         struct err *e)
{
    struct serve_stream *s = open_stream(f, true, since, e);
    if (!s)
        return NULL;
    char quoted[520], newest[24] = "null";
    live_text_quote(title, quoted, sizeof quoted);
    if (s->until != INT64_MIN)
        snprintf(newest, sizeof newest, "%" PRId64, s->until);
    s->length = (size_t)snprintf(
        s->text, s->room,
        "retry: 1000\nevent: feed\ndata: {\"title\":\"%s\",\"period_us\":%" PRId64
        ",\"height\":%d,\"kept\":%zu,\"newest\":%s}\n\n",
        quoted, live_feed_period_us(f), live_feed_height(f), live_feed_capacity(f), newest);
    return s;
}

struct serve_stream *serve_stream_columns(struct live_feed *f, int64_t since, struct err *e)
{
    struct serve_stream *s = open_stream(f, false, since, e);
    if (!s)
        return NULL;
    live_text_records_head(f, (uint8_t *)s->text);
    s->length = LIVE_RECORDS_HEAD;
    return s;
}

/* Makes the text of the next column. Returns false if there is none now. */
static bool make_event(struct serve_stream *s)
{
    struct live_column c;
    const uint64_t puts = live_feed_puts(s->feed);
    if (puts == s->puts)
        return false;
    if (live_feed_read(s->feed, s->since, 1, &c, s->rgb) == 0) {
        s->puts = puts;
        return false;
    }
    size_t n = 0;
    if (c.open)
        s->puts = puts;
    else {
        s->since = c.number;
        n = (size_t)snprintf(s->text, s->room, "id: %" PRId64 "\n", c.number);
    }
    n += (size_t)snprintf(s->text + n, s->room - n, "data: ");
    n += live_text_json(&c, s->rgb, live_feed_height(s->feed), s->text + n, s->room - n);
    memcpy(s->text + n, "\n\n", 2);
    s->length = n + 2;
    return true;
}

static bool make_record(struct serve_stream *s)
{
    struct live_column c;
    if (live_feed_read(s->feed, s->since, 1, &c, s->rgb) == 0 || c.number > s->until)
        return false;
    const int height = live_feed_height(s->feed);
    live_text_record(&c, s->rgb, height, (uint8_t *)s->text);
    s->since = c.number;
    s->length = LIVE_RECORD + (size_t)height * 3;
    return true;
}

static bool make_heartbeat(struct serve_stream *s)
{
    if (clock_since(s->sent_ns) < SERVE_HEARTBEAT_S)
        return false;
    s->length = (size_t)snprintf(s->text, s->room, ":\n\n");
    return true;
}

size_t serve_stream_read(struct serve_stream *s, char *to, size_t most, bool *over)
{
    size_t count = 0;
    *over = false;
    while (count < most) {
        if (s->at == s->length) {
            const bool closed = live_feed_closed(s->feed);
            s->at = s->length = 0;
            if (s->events ? !make_event(s) && !make_heartbeat(s) : !make_record(s)) {
                *over = count == 0 && (!s->events || closed);
                break;
            }
        }
        size_t n = s->length - s->at < most - count ? s->length - s->at : most - count;
        memcpy(to + count, s->text + s->at, n);
        s->at += n;
        count += n;
    }
    if (count > 0)
        s->sent_ns = clock_ns();
    return count;
}

void serve_stream_free(struct serve_stream **s)
{
    if (!*s)
        return;
    free((*s)->text);
    free((*s)->rgb);
    free(*s);
    *s = NULL;
}
