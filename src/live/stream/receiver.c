#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barcode/base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "barcode/engine/light.h"

/* What a worker has sent so far. */
enum state { NOTHING, SHAPED, ENDED };

struct live_receiver {
    const struct live_clock *clock;
    int64_t step_us;
    const char *label;
    bool dated, linear; /* linear: the sums are of light */
    struct live_columns *columns;
    enum state state;
    bool current;  /* LIVE_CURRENT has come */
    bool listed;   /* it has come since the source was opened */
    uint8_t *data; /* [total] of a frame, of which `got` bytes have come */
    size_t got, total;
    struct cluster *cluster; /* [k] */
    int64_t delay_us;        /* of the last frame, from its arrival */
    int64_t failed_ns;       /* when a log could not be opened; 0: never */
    struct live_counts counts;
    struct err error;
};

int live_retry_seconds(int failed)
{
    enum { DOUBLED = 5, MOST = 30 };
    if (failed <= 0)
        return 0;
    return failed > DOUBLED ? MOST : 1 << (failed - 1);
}

/* Makes room for the frames of the columns' shape, if it is known. */
static bool make_room(struct live_receiver *r, struct err *e)
{
    const struct live_shape *shape = live_columns_shape(r->columns);
    if (!shape || r->data)
        return true;
    r->total = sizeof(struct live_frame_head) + live_record_bytes(shape);
    r->cluster = err_calloc((size_t)shape->k + 1, sizeof *r->cluster, e);
    r->data = r->cluster ? err_calloc(r->total, 1, e) : NULL;
    return r->data != NULL;
}

struct live_receiver *live_receiver_open(const struct live_columns_setup *s,
                                         const struct live_clock *clock, struct err *e)
{
    struct live_receiver *r = err_calloc(1, sizeof *r, e);
    if (!r)
        return NULL;
    r->clock = clock;
    r->step_us = s->plan->report.analysis.selection.interval_us;
    r->label = s->label;
    r->dated = s->dated;
    r->linear = s->plan->report.analysis.means != NULL;
    r->columns = live_columns_open(s, e);
    if (!r->columns || !make_room(r, e))
        live_receiver_free(&r);
    return r;
}

struct live_columns *live_receiver_columns(struct live_receiver *r) { return r->columns; }

/* ------------------------------------------------------------------ messages */

/* Ends the stream with an error of the parent. */
static void end_with(struct live_receiver *r, const struct err *e)
{
    r->error = *e;
    r->state = ENDED;
}

static bool handle_shape(struct live_receiver *r, const struct live_shape_message *m)
{
    struct err e = ERR_INIT;
    const struct live_shape size = {.step_us = 1, .width = m->width, .height = m->height},
                            *known = live_columns_shape(r->columns);
    if (r->state != NOTHING || !live_shape_is_valid(&size))
        return false;
    if (m->transfer < 0 || m->transfer >= TRANSFERS || m->peak < 0 || m->peak > LIGHT_PEAK_MOST)
        return false;
    if (known && (known->width != m->width || known->height != m->height))
        return false;
    r->state = SHAPED;
    if (known)
        return true;
    if (!live_columns_start(r->columns, (enum transfer)m->transfer, m->peak, m->width, m->height,
                            &e) ||
        !make_room(r, &e))
        end_with(r, &e);
    return true;
}

/* Returns true for some time after a log could not be opened, which may wait for seconds. */
static bool is_pausing(const struct live_receiver *r)
{
    const int64_t pause_ns = 10000000000;
    return r->failed_ns != 0 && r->clock->steady_ns() - r->failed_ns < pause_ns;
}

/*
 * Returns true if the frame may be of its time. Each day that is begun makes files, and the columns
 * after one of the future would be refused. What is older than a minute has waited for this process
 * too long. A folder that is opened may have pictures of any age (live_folder.c).
 */
static bool is_of_now(const struct live_receiver *r, const struct live_frame_head *h)
{
    enum { AGE_DAYS_MOST = 32 }; /* one more than a worker lets pass */
    const int64_t age_most_ns = 60000000000, now_us = r->clock->wall_us();
    if (h->time_us == 0)
        return r->clock->steady_ns() - h->arrived_ns <= age_most_ns;
    return h->time_us <= now_us + LIVE_DAY_US &&
           (!r->listed || h->time_us >= now_us - AGE_DAYS_MOST * LIVE_DAY_US);
}

/* Logs that a picture of a folder comes too late, or that its date is wrong. */
static void log_refused(const struct live_receiver *r, int64_t time_us)
{
    char time[TEXT_UTC];
    if (time_us == 0)
        return;
    text_utc(time_us, false, time);
    log_msg(LOG_VERBOSE,
            "'%s': a picture of %s is passed over: its column is over, or its date is wrong",
            r->label, time);
}

/* Returns true if the sums can be those of a frame. */
static bool is_average(const struct live_receiver *r, const struct live_average *a)
{
    const struct live_shape *shape = live_columns_shape(r->columns);
    const uint64_t rows = (uint64_t)shape->height, pixels = rows * (uint64_t)shape->width,
                   count = r->linear ? rows : pixels, most = r->linear ? LIGHT_WHITE : 255;
    if (a->count != count)
        return false;
    for (int i = 0; i < 3; i++)
        if (a->sum[i] > count * most)
            return false;
    return true;
}

/* Makes a frame the state of its column. */
static void add_frame(struct live_receiver *r, const struct live_frame_head *head,
                      const struct column *column)
{
    struct err e = ERR_INIT;
    const int64_t now = r->clock->steady_ns(),
                  number = live_clock_number(r->clock, head->arrived_ns, head->time_us, r->step_us);
    r->delay_us = (now - head->arrived_ns) / 1000;
    if (is_pausing(r) || !is_of_now(r, head) || !live_columns_accept(r->columns, number)) {
        r->counts.refused++;
        log_refused(r, head->time_us);
    } else if (live_columns_add(r->columns, number, column, &head->sum, &e)) {
        r->failed_ns = 0;
        r->counts.frames++;
    } else if (e.code == ERR_USAGE) {
        end_with(r, &e);
    } else {
        if (r->failed_ns == 0)
            log_msg(LOG_WARNING, "'%s': %s", r->label, e.text);
        r->failed_ns = now;
        r->counts.refused++;
    }
}

/* Checks the time and the sums of a frame. */
static bool is_head(const struct live_receiver *r, const struct live_frame_head *h)
{
    return h->arrived_ns >= 0 && h->arrived_ns <= r->clock->steady_ns() &&
           live_time_is_valid(h->time_us) && (r->dated || h->time_us == 0) &&
           is_average(r, &h->sum);
}

static bool handle_frame(struct live_receiver *r, const struct live_frame_message *m, size_t bytes)
{
    struct live_frame_head head;
    struct column column;
    int64_t number;
    if (r->state != SHAPED || m->offset != r->got || bytes > r->total - r->got)
        return false;
    memcpy(r->data + r->got, m->data, bytes);
    r->got += bytes;
    if (r->got < r->total)
        return true;
    r->got = 0;
    memcpy(&head, r->data, sizeof head);
    if (!is_head(r, &head) ||
        !live_record_read(live_columns_shape(r->columns), r->data + sizeof head, r->cluster,
                          &number, &column))
        return false;
    add_frame(r, &head, &column);
    return true;
}

static bool handle_end(struct live_receiver *r, const struct live_end_message *m)
{
    const uint64_t most = UINT64_C(1) << 40;
    if (!err_is_code((uint32_t)m->code) || m->late > most || m->dropped > most)
        return false;
    r->counts.late += m->late;
    r->counts.dropped += m->dropped;
    r->error.code = (enum err_code)m->code;
    snprintf(r->error.text, sizeof r->error.text, "%.*s", (int)sizeof m->text, m->text);
    text_make_plain(r->error.text);
    r->state = ENDED;
    return true;
}

bool live_receiver_handle(struct live_receiver *r, const void *message, size_t size)
{
    union {
        struct live_message head;
        struct live_shape_message shape;
        struct live_frame_message frame;
        struct live_end_message end;
    } m;
    const size_t data = offsetof(struct live_frame_message, data);
    if (size < sizeof m.head || size > sizeof m)
        return false;
    memcpy(&m, message, size);
    if (r->state == ENDED)
        /* of the parent, perhaps, which the worker does not know */
        return r->error.code != ERR_NONE;
    switch (m.head.kind) {
    case LIVE_CURRENT: r->current = r->listed = true; return size == sizeof m.head;
    case LIVE_SHAPE: return size == sizeof m.shape && handle_shape(r, &m.shape);
    case LIVE_FRAME: return size > data && handle_frame(r, &m.frame, size - data);
    case LIVE_BREAK:
        r->counts.breaks++;
        r->listed = false;
        return size == sizeof m.head;
    case LIVE_END: return size == sizeof m.end && handle_end(r, &m.end);
    default: return false;
    }
}

void live_receiver_reset(struct live_receiver *r)
{
    if (r->state == ENDED)
        return;
    live_columns_reset(r->columns);
    r->state = NOTHING;
    r->got = 0;
    r->listed = false;
    r->current = r->current && !r->dated;
}

int64_t live_receiver_tick(struct live_receiver *r, int64_t now_us)
{
    const int64_t least_us = 250000, most_us = 10000000;
    int64_t grace_us = 2 * r->delay_us;
    if (!r->current)
        return INT64_MAX;
    if (grace_us < least_us)
        grace_us = least_us;
    if (grace_us > most_us)
        grace_us = most_us;
    return live_columns_tick(r->columns, now_us, grace_us);
}

bool live_receiver_ended(const struct live_receiver *r) { return r->state == ENDED; }

const struct err *live_receiver_error(const struct live_receiver *r) { return &r->error; }

const struct live_counts *live_receiver_counts(struct live_receiver *r)
{
    r->counts.columns = live_columns_closed(r->columns);
    return &r->counts;
}

void live_receiver_free(struct live_receiver **r)
{
    if (!*r)
        return;
    live_columns_free(&(*r)->columns);
    free((*r)->cluster);
    free((*r)->data);
    free(*r);
    *r = NULL;
}
