/* test_live_receiver.c - the parent believes no worker: messages that are wrong in any way. */
#include <string.h>

#include "test.h"
#include "chance.h"
#include "live/live.h"
#include "live/stream/stream.h"
#include "base/log.h"
#include "output/modes/strip.h"

enum { WIDTH = 8, HEIGHT = 6, SLIT = HEIGHT };

static struct plan plan;
static struct live_plan days;
static struct live_receiver *receiver;
static struct live_feed *feed;
static struct live_shape shape;

static const int64_t now_us = INT64_C(1795651200000000);
#define now_ns INT64_C(1000000000000)
static int64_t wall(void) { return now_us; }
static int64_t steady(void) { return now_ns; }
static const struct live_clock made_clock = {wall, steady};

/* All that a column can have: clusters, rows and a slit. */
static int open_receiver(bool dated)
{
    static const char *const modes[] = {"palette", "squeeze", "slit"};
    struct err e = ERR_INIT;
    log_set_level(LOG_ERROR);
    plan = (struct plan){.picture.strips = 3,
                         .kmeans = {.k = 3, .n_init = 1, .max_iter = 10},
                         .picture.slit = {.x = SLIT_X_USUAL},
                         .picture.height = 5};
    for (int i = 0; i < 3; i++)
        plan.picture.strip[i] = strip_find(modes[i], strlen(modes[i]));
    days = live_plan_of(&plan, &(struct live_run_options){.column_us = 10000000}, NULL);
    feed = live_feed_open(64, plan.picture.height, 10000000, &e);
    const struct live_columns_setup s = {.plan = &days,
                                         .folder = "",
                                         .stem = "made",
                                         .label = "made",
                                         .feed = feed,
                                         .now_us = now_us,
                                         .dated = dated};
    receiver = live_receiver_open(&s, &made_clock, &e);
    return receiver ? 0 : -1;
}

FIXTURE(enter) { return open_receiver(false); }

FIXTURE(leave)
{
    live_receiver_free(&receiver);
    live_feed_free(&feed);
    return 0;
}

/* ------------------------------------------------------------------ right messages */

union message {
    struct live_message head;
    struct live_shape_message shape;
    struct live_frame_message frame;
    struct live_end_message end;
};

static bool take(const union message *m, size_t size)
{
    return live_receiver_handle(receiver, m, size);
}

static bool send_head(enum live_kind kind)
{
    const union message m = {.head = {.kind = kind}};
    return take(&m, sizeof m.head);
}

static union message shape_message(void)
{
    return (union message){
        .shape = {.head = {.kind = LIVE_SHAPE}, .width = WIDTH, .height = HEIGHT}};
}

static bool send_shape(void)
{
    const union message m = shape_message();
    bool taken = take(&m, sizeof m.shape);
    if (live_columns_shape(live_receiver_columns(receiver)))
        shape = *live_columns_shape(live_receiver_columns(receiver));
    return taken;
}

/* What a frame's bytes say. */
struct made {
    struct live_frame_head head;
    struct column column;
    struct cluster cluster[4];
};

static struct made made_frame(void)
{
    return (struct made){
        .head = {.arrived_ns = now_ns - 1000000, .sum = {{100, 200, 300}, WIDTH * HEIGHT}},
        .column = {.status = COLUMN_OK, .clusters = 3},
        .cluster = {{{1, 2, 3}, 30}, {{4, 5, 6}, 17}, {{7, 8, 9}, 1}}};
}

/* Writes the message of a whole frame. Returns its size. */
static size_t frame_message(const struct made *made, union message *m)
{
    static uint8_t rows[HEIGHT * 3], slit[SLIT * 3];
    struct column column = made->column;
    struct cluster cluster[4];
    memcpy(cluster, made->cluster, sizeof cluster);
    column.cluster = cluster;
    column.row = rows;
    column.slit = slit;
    *m = (union message){.frame.head.kind = LIVE_FRAME};
    memcpy(m->frame.data, &made->head, sizeof made->head);
    live_record_write(&shape, 0, &column, m->frame.data + sizeof made->head);
    return offsetof(struct live_frame_message, data) + sizeof made->head +
           live_record_bytes(&shape);
}

static bool send_frame(const struct made *made)
{
    union message m;
    size_t size = frame_message(made, &m);
    return take(&m, size);
}

static uint64_t frames(void) { return live_receiver_counts(receiver)->frames; }

/* ------------------------------------------------------------------ tests */

TEST_WITH(a_frame_becomes_a_column, enter, leave)
{
    const struct made made = made_frame();
    assert_true(send_head(LIVE_CURRENT) && send_shape());
    assert_int_equal(shape.k, 3);
    assert_int_equal(shape.rows, HEIGHT);
    assert_int_equal(shape.slit_length, SLIT);
    assert_true(send_frame(&made));
    assert_int_equal(frames(), 1);
    assert_int_equal(live_feed_newest(feed),
                     now_us / days.report.analysis.selection.interval_us - 1); /* 1 ms before */
    assert_true(send_head(LIVE_BREAK));
    union message m = {.end = {.head = {.kind = LIVE_END}, .code = ERR_INPUT, .late = 7}};
    memset(m.end.text, 'x', sizeof m.end.text); /* without an end */
    m.end.text[3] = '\033';
    assert_true(take(&m, sizeof m.end));
    assert_true(live_receiver_ended(receiver));
    assert_int_equal(live_receiver_counts(receiver)->late, 7);
    assert_int_equal(live_receiver_counts(receiver)->breaks, 1);
    assert_memory_equal(live_receiver_error(receiver)->text, "xxx?xxx", 7);
}

/* A frame may come in any pieces. */
TEST_WITH(pieces, enter, leave)
{
    const struct made made = made_frame();
    const size_t head = offsetof(struct live_frame_message, data);
    union message all, part;
    assert_true(send_shape());
    const size_t bytes = frame_message(&made, &all) - head;
    for (size_t each = 1; each <= bytes; each++)
        for (size_t at = 0; at < bytes; at += each) {
            size_t left = bytes - at < each ? bytes - at : each;
            part.frame = (struct live_frame_message){.head = all.head, .offset = (uint32_t)at};
            memcpy(part.frame.data, all.frame.data + at, left);
            assert_true(take(&part, head + left));
        }
    assert_int_equal(frames(), bytes);
}

TEST_WITH(messages_out_of_turn, enter, leave)
{
    const struct made made = made_frame();
    assert_false(send_frame(&made));
    assert_false(send_head(LIVE_FRAME));
    assert_false(send_head(LIVE_STOP));
    assert_false(send_head((enum live_kind)WORKER_LINE));
    assert_false(send_head((enum live_kind)1000));
    assert_true(send_shape());
    assert_false(send_shape());
    union message m;
    size_t size = frame_message(&made, &m);
    assert_true(take(&m, size - 1));
    assert_false(take(&m, size)); /* again from the start */
    m.frame.offset = UINT32_MAX;
    assert_false(take(&m, size));
    live_receiver_reset(receiver); /* another worker */
    assert_false(send_frame(&made));
    union message other = shape_message();
    other.shape.width++;
    assert_false(take(&other, sizeof other.shape));
    assert_true(send_shape());
    assert_int_equal(frames(), 0);
}

TEST_WITH(sizes_and_times_out_of_range, enter, leave)
{
    static const int32_t bad[] = {0, -1, INT32_MIN, INT32_MAX, 16385};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        for (int field = 0; field < 4; field++) {
            union message m = shape_message();
            int32_t *to[] = {&m.shape.width, &m.shape.height, &m.shape.transfer, &m.shape.peak};
            *to[field] = bad[i];
            if (field < 2 || bad[i] != 0)
                assert_false(take(&m, sizeof m.shape));
        }
    static const int64_t times[][2] = {{-1, 0},
                                       {now_ns + 1, 0},
                                       {INT64_MAX, 0},
                                       {now_ns, 1}, /* a stream's frames have no date */
                                       {now_ns, INT64_MAX},
                                       {now_ns, INT64_MIN}};
    assert_true(send_shape());
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct made made = made_frame();
        made.head.arrived_ns = times[i][0];
        made.head.time_us = times[i][1];
        assert_false(send_frame(&made));
    }
}

/* Dates, and whether they are taken after these messages. */
static void assert_dates(bool current, bool again)
{
    const int64_t day_us = INT64_C(86400000000), minute_ns = INT64_C(60000000000);
    const struct {
        int64_t time_us, age_ns;
        bool taken;
    } dates[] = {{INT64_C(95617584000000000), 0, false}, /* of the year 5000 */
                 {now_us + day_us + 1, 0, false},
                 {0, now_ns, false}, /* when the machine started */
                 {0, minute_ns + 1, false},
                 {now_us - 33 * day_us, 0, !current || again},
                 {now_us - 31 * day_us, 0, true},
                 {0, minute_ns, true},
                 {now_us + day_us, 0, true}};
    assert_int_equal(open_receiver(true), 0);
    assert_true(send_shape());
    if (current)
        assert_true(send_head(LIVE_CURRENT));
    if (again)
        assert_true(send_head(LIVE_BREAK));
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        struct made made = made_frame();
        const uint64_t before = frames();
        made.head.arrived_ns = now_ns - dates[i].age_ns;
        made.head.time_us = dates[i].time_us;
        assert_true(send_frame(&made));
        assert_int_equal(frames() - before, dates[i].taken);
    }
    assert_int_equal(live_receiver_counts(receiver)->refused, !current || again ? 4 : 5);
    leave(NULL);
}

/* A worker cannot begin days of other years, whose columns would keep all others out. */
TEST(dates_that_are_not_now_are_refused)
{
    assert_dates(false, false);
    assert_dates(true, false);
    assert_dates(true, true);
}

TEST_WITH(frames_that_are_none, enter, leave)
{
    struct made made = made_frame();
    assert_true(send_shape());
    made.head.sum.count = 0;
    assert_false(send_frame(&made));
    made = made_frame();
    made.head.sum.sum[2] = 255 * WIDTH * HEIGHT + 1;
    assert_false(send_frame(&made));
    static const struct {
        uint8_t status, clusters, chosen;
        uint32_t count;
    } bad[] = {{COLUMN_MISSING, 3, 0, 30}, {9, 3, 0, 30},
               {COLUMN_OK, 4, 0, 30},      {COLUMN_OK, 0, 0, 30},
               {COLUMN_OK, 3, 3, 30},      {COLUMN_OK, 3, 0, 0},
               {COLUMN_OK, 3, 0, 31},      {COLUMN_OK, 3, 0, UINT32_MAX}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        made = made_frame();
        made.column.status = bad[i].status;
        made.column.chosen = bad[i].chosen;
        made.cluster[0].count = bad[i].count;
        union message m;
        size_t size = frame_message(&made, &m);
        /* of struct head in record.c: status, clusters */
        m.frame.data[sizeof made.head + 9] = bad[i].clusters;
        if (take(&m, size))
            fail_msg("frame %zu was taken", i);
    }
    assert_int_equal(frames(), 0);
    assert_true(live_feed_newest(feed) == INT64_MIN);
}

/* ------------------------------------------------------------------ anything */

static int64_t any_time(void)
{
    static const int64_t least = INT64_C(-62135596800000000), end = INT64_C(253402300800000000),
                         odd[] = {0, -1, least - 1, end, INT64_MAX, INT64_MIN};
    switch (chance() % 10) {
    case 0: return odd[chance() % 6];
    case 1: return least + (int64_t)(chance() % UINT32_MAX) * (end / UINT32_MAX);
    case 2: return end - 1 - (int64_t)(chance() % 1000);
    default: return now_us + (int64_t)(chance() % 100000) * 1000000;
    }
}

/* Makes a message of a worker that works. */
static size_t right_message(union message *m, bool dated)
{
    struct made made = made_frame();
    if (chance() % 30 == 0) {
        *m = shape_message();
        return sizeof m->shape;
    }
    made.head.arrived_ns = now_ns - (int64_t)(chance() % 100) * 1000000000;
    made.head.time_us = dated ? any_time() : 0;
    made.cluster[0].count = 1 + chance() % 30;
    made.column.chosen = (uint8_t)(chance() % 3);
    return frame_message(&made, m);
}

/* Sends that message, or the one before again, or one of any kind; some are changed or cut. */
static bool send_any(union message *m, size_t *size, bool dated)
{
    uint8_t *bytes = (uint8_t *)m;
    uint32_t what = chance() % 40;
    if (what == 0) {
        m->head = (struct live_message){.kind = LIVE_CURRENT + chance() % 9};
        *size = sizeof m->head;
    } else if (what == 1) {
        *size = chance() % (sizeof *m + 1);
        for (size_t i = 0; i < *size && i < 4096; i++)
            bytes[i] = (uint8_t)(chance() % 256);
        m->head.kind = LIVE_CURRENT + chance() % 7;
    } else if (what > 2) {
        *size = right_message(m, dated);
    }
    for (uint32_t n = chance() % 20 == 0 && *size > 0 ? 1 + chance() % 3 : 0; n > 0; n--)
        bytes[chance() % ((uint32_t)(*size < 200 ? *size : 200))] ^= (uint8_t)(1 << chance() % 8);
    return take(m, chance() % 40 > 0 ? *size : chance() % ((uint32_t)*size + 1));
}

static void send_much(bool dated, int count)
{
    static union message m;
    size_t size = 0;
    uint64_t taken = 0, columns = 0;
    shape = (struct live_shape){.k = 3, .rows = HEIGHT, .slit_length = SLIT};
    assert_int_equal(open_receiver(dated), 0);
    for (int i = 0; i < count; i++) {
        if (send_any(&m, &size, dated)) {
            taken++;
        } else {
            live_receiver_reset(receiver);
            (void)send_shape();
        }
        if (chance() % 10 == 0)
            live_receiver_tick(receiver, now_us + (int64_t)(chance() % 1000) * 1000000);
        if (live_receiver_ended(receiver) || i == count - 1) {
            columns += frames();
            leave(NULL);
            assert_int_equal(open_receiver(dated), 0);
        }
    }
    print_message("%u of %d messages were taken, %u frames\n", (unsigned)taken, count,
                  (unsigned)columns);
    assert_true(taken > 10000 && columns > 500);
    leave(NULL);
}

TEST(fifty_thousand_messages)
{
    send_much(false, 30000);
    send_much(true, 20000);
}

TEST(retries)
{
    static const int seconds[] = {0, 1, 2, 4, 8, 16, 30, 30, 30};
    for (int i = 0; i < 9; i++)
        assert_int_equal(live_retry_seconds(i), seconds[i]);
    assert_int_equal(live_retry_seconds(INT32_MAX), 30);
    assert_int_equal(live_retry_seconds(-1), 0);
}
