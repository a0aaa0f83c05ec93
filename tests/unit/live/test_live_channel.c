/*
 * test_live_channel.c - frames of a made source become columns: a channel, its messages, and their
 * receiver, with a clock that the test sets: from midnight on, faster than real time.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "live/live.h"
#include "live/stream/stream.h"
#include "base/worker.h"
#include "output/modes/strip.h"
#include "files.h"

static const int64_t second = 1000000, hour = INT64_C(3600000000),
                     midnight = INT64_C(1795651200000000); /* 2026-11-26 */

/* ------------------------------------------------------------------ a made clock and source */

static _Atomic int64_t wall_us, steady_ns;

static int64_t made_wall(void) { return wall_us; }
static int64_t made_steady(void) { return steady_ns; }
static const struct live_clock made_clock = {made_wall, made_steady};

static atomic_int asked, handled; /* for the source's thread to wait until its frames are columns */

/* Waits until the parent has handled what was sent. In the source's thread. */
static void wait_for_parent(void)
{
    for (int turn = ++asked; handled < turn;)
        usleep(50);
}

struct made;
typedef bool play_frames(struct made *m, const struct live_sink *sink, struct err *e);

/* Gives what `play` does, from run's thread. */
struct made {
    struct live_source base;
    play_frames *play;
    atomic_bool stop;
    int runs;
};

static bool run_made(struct live_source *s, const struct live_sink *sink, struct err *e)
{
    struct made *m = (struct made *)s;
    sink->current(sink->user);
    m->runs++;
    return m->play(m, sink, e);
}
static void stop_made(struct live_source *s) { ((struct made *)s)->stop = true; }
static void close_made(struct live_source **s) { *s = NULL; }
static struct live_source_kind made_kind = {
    .name = "made", .run = run_made, .stop = stop_made, .close = close_made};

static const struct film film = {.codec = "made", .width = 4, .height = 2, .rate_den = 1};

/* Gives a frame of one colour that arrives at the clock's time. */
static bool give(const struct live_sink *sink, uint8_t level, bool late, struct err *e)
{
    uint8_t plane[8];
    memset(plane, level, sizeof plane);
    const struct plane p = {plane, 4, 1, 4, 2};
    const struct frame_view view = {.model = MODEL_RGB,
                                    .matrix = MATRIX_RGB,
                                    .range = RANGE_FULL,
                                    .bits = 8,
                                    .width = 4,
                                    .height = 2,
                                    .plane = {p, p, p}};
    const struct live_frame frame = {.film = &film,
                                     .view = &view,
                                     .arrived_ns = steady_ns,
                                     .time_us = made_kind.dated ? wall_us : 0,
                                     .late = late};
    return sink->frame(sink->user, &frame, e);
}

/* ------------------------------------------------------------------ a channel */

static struct plan plan;
static struct live_plan days;
static struct engines engines;
static struct live_engines *all;
static struct light *light;
static struct made made;
static struct live_channel *channel;
static struct live_receiver *receiver;
static struct live_feed *feed;
static int ends[2] = {-1, -1}; /* of the link: the parent's and the channel's */

static void start_channel(play_frames *play, const char *to)
{
    struct err e = ERR_INIT;
    plan = (struct plan){.picture.strip = {strip_find("average", 7)},
                         .picture.strips = 1,
                         .kmeans = {.k = 2, .n_init = 1, .max_iter = 10},
                         .film.size = {.kind = SIZE_SIDE, .side = 4},
                         .picture.height = 2};
    days = live_plan_of(&plan, &(struct live_run_options){.column_us = 10 * second}, NULL);
    engines_init(&engines, ENGINE_CPU, &(struct engine_devices){.count = 0}, 1);
    made = (struct made){.base = {.kind = &made_kind}, .play = play};
    light = light_open(&plan.film.light, 0, &e);
    all = live_engines_open(&days.report, &engines, light, 1, &e);
    feed = live_feed_open(64, plan.picture.height, 10 * second, &e);
    const struct live_columns_setup columns = {.plan = &days,
                                               .folder = to,
                                               .stem = "made",
                                               .label = "made",
                                               .feed = feed,
                                               .now_us = wall_us,
                                               .dated = made_kind.dated};
    receiver = live_receiver_open(&columns, &made_clock, &e);
    assert_true(receiver && link_open(ends, &e));
    const struct live_shape *shape = live_columns_shape(live_receiver_columns(receiver));
    const struct live_channel_setup setup = {.report = &days.report,
                                             .crop = &plan.film.crop,
                                             .size = &plan.film.size,
                                             .clock = &made_clock,
                                             .engines = all,
                                             .link = ends[1],
                                             .source = &made.base,
                                             .label = "made",
                                             .width = shape ? shape->width : 0,
                                             .height = shape ? shape->height : 0};
    channel = live_channel_start(&setup, &e);
    assert_string_equal(e.text, "");
}

/* Handles the messages that are there. */
static void receive(void)
{
    static _Alignas(max_align_t) char message[LINK_BYTES];
    int fd, turn = asked;
    for (ssize_t n; (n = link_receive(ends[0], message, sizeof message, &fd)) > 0;)
        assert_true(live_receiver_handle(receiver, message, (size_t)n));
    handled = turn;
}

static void close_channel(void)
{
    live_channel_request_stop(channel);
    assert_true(live_channel_join(channel));
    receive();
    live_columns_close(live_receiver_columns(receiver));
    live_columns_write(live_receiver_columns(receiver));
    live_channel_close(&channel);
    live_receiver_free(&receiver);
    live_feed_free(&feed);
    live_engines_close(&all);
    light_close(&light);
    engines_close(&engines);
    close(ends[0]);
    close(ends[1]);
}

/* Runs `play` in a thread until it returns. */
static void play_to_end(play_frames *play)
{
    start_channel(play, ".");
    while (!live_receiver_ended(receiver)) {
        receive();
        usleep(100);
    }
}

static void at(int64_t us)
{
    wait_for_parent();
    steady_ns += (us - wall_us) * 1000;
    wall_us = us;
}

/* Sets the wall clock alone. */
static void set_clock(int64_t by_us)
{
    wait_for_parent();
    wall_us += by_us;
}

/* ------------------------------------------------------------------ what the log has */

struct logged {
    int count;
    int64_t first, last, number[64];
    uint8_t level[64];
    bool ordered;
};

static bool note(void *user, int64_t number, const struct column *c, struct err *e)
{
    struct logged *l = user;
    (void)e;
    if (l->count == 0)
        l->first = number;
    else
        l->ordered = l->ordered && number > l->last;
    if (l->count < 64) {
        l->number[l->count] = number - midnight / (10 * second);
        l->level[l->count] = c->average[0];
    }
    l->last = number;
    l->count++;
    return true;
}

/* Checks the numbers of the columns in the log, and their levels. */
static void expect_log(int count, const int64_t *number, const uint8_t *level)
{
    struct err e = ERR_INIT;
    struct logged l = {.ordered = true};
    const struct live_shape shape = {10 * second, 4, 2, 0, 0, 0, {0, 0}, 0};
    struct live_log *log = live_log_open("made-2026-11-26.columns", &shape, note, &l, &e);
    assert_string_equal(e.text, "");
    live_log_close(&log);
    assert_true(l.ordered);
    assert_int_equal(l.count, count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(l.number[i], number[i]);
        assert_int_equal(l.level[i], level[i]);
    }
}

/* ------------------------------------------------------------------ tests */

static bool play_some(struct made *m, const struct live_sink *sink, struct err *e)
{
    (void)m;
    /* column 0 has three frames, 1 none, 2 one and a late one, 3 a late one */
    at(midnight);
    give(sink, 10, false, e);
    at(midnight + 4 * second);
    give(sink, 20, false, e);
    at(midnight + 10 * second - 1);
    give(sink, 60, false, e);
    at(midnight + 20 * second);
    give(sink, 7, false, e);
    give(sink, 200, true, e);
    at(midnight + 35 * second);
    give(sink, 9, true, e);
    return e->code == ERR_NONE;
}

TEST_WITH(columns_of_wall_clock_time, enter, leave)
{
    play_to_end(play_some);
    const struct live_counts counts = *live_receiver_counts(receiver);
    assert_int_equal(counts.frames, 5);
    assert_int_equal(counts.late, 1);
    assert_int_equal(counts.refused, 0);
    assert_int_equal(counts.columns, 2); /* the last one is open */
    const int64_t first = midnight / (10 * second);
    const uint8_t *rgb;
    assert_int_equal(live_feed_oldest(feed), first);
    assert_int_equal(live_feed_newest(feed), first + 3);
    assert_int_equal(live_feed_get(feed, first, &rgb)->average[1], 30);
    assert_int_equal(rgb[5], 30);
    for (int i = 0; i < 4; i++) {
        const struct live_column *shown = live_feed_get(feed, first + i, &rgb);
        assert_int_equal(shown->missing, i == 1);
        assert_int_equal(shown->open, i == 3);
        assert_int_equal(shown->time_us, midnight + i * 10 * second);
    }
    close_channel();
    expect_log(3, (const int64_t[]){0, 2, 3}, (const uint8_t[]){30, 7, 9});
}

/* The clock is set an hour back, and an hour ahead: nothing twice, nothing moved. */
static bool play_jumps(struct made *m, const struct live_sink *sink, struct err *e)
{
    (void)m;
    int64_t begin = midnight + 6 * hour;
    for (int i = 0; i < 4; i++) {
        at(begin + i * 10 * second);
        give(sink, (uint8_t)(i + 1), false, e);
    }
    set_clock(-hour);
    for (int i = 0; i < 10; i++) {
        at(wall_us + 10 * second);
        give(sink, 99, false, e); /* refused: the time was here already */
    }
    set_clock(2 * hour);
    for (int i = 0; i < 4; i++) {
        at(wall_us + 10 * second);
        give(sink, (uint8_t)(i + 11), false, e);
    }
    return e->code == ERR_NONE;
}

TEST_WITH(a_clock_that_is_set, enter, leave)
{
    play_to_end(play_jumps);
    assert_int_equal(live_receiver_counts(receiver)->refused, 10);
    close_channel();
    static const int64_t numbers[] = {2160, 2161, 2162, 2163, 2534, 2535, 2536, 2537};
    static const uint8_t levels[] = {1, 2, 3, 4, 11, 12, 13, 14};
    expect_log(8, numbers, levels);
}

/* Restarts take up the day; the column that was open at a kill is the only one that is lost. */
static bool play_one(struct made *m, const struct live_sink *sink, struct err *e)
{
    (void)m;
    return give(sink, 50, false, e);
}

TEST_WITH(a_restart_takes_up_the_day, enter, leave)
{
    for (int i = 0; i < 5; i++) {
        steady_ns += 20 * second * 1000;
        wall_us = midnight + i * 20 * second;
        play_to_end(play_one);
        const int64_t first = live_feed_oldest(feed);
        const uint8_t *rgb;
        assert_int_equal(live_feed_newest(feed), first + 2 * i);
        for (int k = 0; k < 2 * i + 1; k++)
            assert_int_equal(live_feed_get(feed, first + k, &rgb)->missing, k % 2);
        close_channel();
    }
    static const int64_t numbers[] = {0, 2, 4, 6, 8};
    static const uint8_t levels[] = {50, 50, 50, 50, 50};
    expect_log(5, numbers, levels);
    /* in the same column again: it was written already */
    play_to_end(play_one);
    assert_int_equal(live_receiver_counts(receiver)->refused, 1);
    close_channel();
    expect_log(5, numbers, levels);
}

/* A source that breaks after each frame: each gap is where it was. */
static bool play_break(struct made *m, const struct live_sink *sink, struct err *e)
{
    at(midnight + (m->runs - 1) * 30 * second);
    give(sink, (uint8_t)m->runs, false, e);
    return m->runs == 4 || err_set(e, ERR_FAILED, "it broke");
}

TEST_WITH(a_source_that_breaks, enter, leave)
{
    play_to_end(play_break);
    assert_int_equal(live_receiver_counts(receiver)->breaks, 3);
    close_channel();
    expect_log(4, (const int64_t[]){0, 3, 6, 9}, (const uint8_t[]){1, 2, 3, 4});
}

/* What cannot be mended ends the stream. So does its end: stdin's, after a damaged stream has asked
 * for too much memory once. */
static bool play_final(struct made *m, const struct live_sink *sink, struct err *e)
{
    (void)m;
    (void)sink;
    return err_set(e, ERR_USAGE, "no such stream");
}

static bool play_short(struct made *m, const struct live_sink *sink, struct err *e)
{
    (void)sink;
    m->base.over = m->runs == 2;
    return err_set(e, m->runs == 1 ? ERR_MEMORY : ERR_INPUT, "no");
}

TEST_WITH(errors_for_good, enter, leave)
{
    for (int runs = 1; runs <= 2; runs++) {
        play_to_end(runs == 1 ? play_final : play_short);
        assert_int_equal(made.runs, runs);
        assert_int_equal(live_receiver_counts(receiver)->breaks, runs - 1);
        assert_int_equal(live_receiver_error(receiver)->code, runs == 1 ? ERR_USAGE : ERR_INPUT);
        close_channel();
    }
}

/* ------------------------------------------------------------------ many columns */

static long resident_pages(void)
{
    long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_int_equal(fscanf(f, "%ld %ld", &size, &resident), 2);
    fclose(f);
    return resident;
}

/* A sanitizer is slow, and keeps what was freed. */
#ifdef SANITIZED
enum { MANY = 50000, WARM = 10000, PAGES_MOST = 1 << 20 };
#else
enum { MANY = 200000, WARM = 10000, PAGES_MOST = 64 };
#endif
static _Atomic int played;

static bool play_many(struct made *m, const struct live_sink *sink, struct err *e)
{
    for (int i = 0; i < MANY && e->code == ERR_NONE && !m->stop; i++) {
        wall_us = midnight + (int64_t)i * 10 * second; /* the pictures' time */
        give(sink, (uint8_t)i, false, e);
        played = i + 1;
    }
    return e->code == ERR_NONE;
}

/* Resident memory grows by nothing after the first day and a bit. */
TEST_WITH(many_columns, enter, leave)
{
    long before = 0;
    made_kind.dated = true;
    start_channel(play_many, "");
    while (!live_receiver_ended(receiver)) {
        receive();
        if (before == 0 && played >= 2 * WARM)
            before = resident_pages();
    }
    assert_int_equal(live_receiver_counts(receiver)->frames, MANY);
    assert_int_equal(live_receiver_counts(receiver)->columns, MANY - 1);
    long grown = resident_pages() - before;
    close_channel();
    made_kind.dated = false;
    print_message("resident memory: %ld pages, %+ld after %d columns\n", before, grown, MANY);
    assert_true(grown < PAGES_MOST);
}
