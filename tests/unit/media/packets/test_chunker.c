/* test_chunker.c - GOPs to chunks: selection, display order, gaps */

#include "test.h"
#include "media/select/frame_times.h"
#include "../fuzz/chunker_trial.h"

enum { FRAME = 40000 };

/* A chunker, to which a test pushes pictures by hand, and the chunks that it made. */
static struct chunker_config config;
static struct chunker *g;
static struct err e;
static uint64_t next_serial;
static struct chunk *chunk[64];
static size_t chunks;
static bool refuse;

static bool catch_chunk(void *user, struct chunk *emitted, struct err *why)
{
    (void)user;
    if (refuse) {
        chunk_free(&emitted);
        return err_set(why, ERR_FAILED, "no more");
    }
    assert_true(chunks < 64);
    chunk[chunks++] = emitted;
    return true;
}

static void close_chunker(void)
{
    while (chunks > 0)
        chunk_free(&chunk[--chunks]);
    chunker_free(&g);
    next_serial = 0;
}

/* Opens the chunker of `config`, anew. */
static void open_chunker(enum bitstream stream, uint64_t every)
{
    close_chunker();
    config.selection.every = every;
    config.traits = codec_traits(stream);
    g = chunker_open(&config, &e);
    assert_non_null(g);
}

FIXTURE(begin)
{
    config =
        (struct chunker_config){.selection = {.end_us = INT64_MAX},
                                .clock = {.frame_us = FRAME, .origin_us = TIME_NONE, .wraps = true},
                                .emit = catch_chunk};
    err_clear(&e);
    refuse = false;
    return 0;
}

FIXTURE(end)
{
    close_chunker();
    assert_int_equal(live_packets, 0);
    return 0;
}

/* Pushes the next picture, with a packet unless it is lost. Returns false if that fails. */
static bool try_push(struct picture p)
{
    p.serial = next_serial++;
    p.packet = p.lost ? NULL : packet_make(10);
    return chunker_push(g, &p, &e);
}

#define PUSH(...) assert_true(try_push((struct picture){__VA_ARGS__}))

/* `gops` GOPs of `length` pictures in display order. */
static void push_gops(int gops, int length, bool times)
{
    for (int i = 0; i < gops * length; i++)
        PUSH(.rap = i % length == 0 ? RAP_CLOSED : RAP_NONE, .closed = i % length == 0,
             .order = TIME_NONE, .pts_us = times ? i * FRAME : TIME_NONE);
}

/* Ends the film. */
static struct chunker_counts counts_at_end(void)
{
    assert_true(chunker_end(g, &e));
    return chunker_counts_now(g);
}

/* ------------------------------------------------------------------ gaps */

/* Lost pictures have a time alone: in display order they stand by it, and no decoder is asked for
 * them. */
TEST_WITH(lost_ones_keep_their_place, begin, end)
{
    /* by decoding order; 4, the key of 8's GOP and 5 are lost */
    static const int64_t shown[] = {0, 4, 2, 1, 3, 8, 6, 5, 7};
    open_chunker(STREAM_H264, 1);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        bool lost = i == 1 || i == 5 || i == 7;
        PUSH(.pts_us = shown[i] * FRAME, .lost = lost, .rap = i == 0 ? RAP_CLOSED : RAP_NONE,
             .order = lost ? TIME_NONE : shown[i] - (i > 5 ? 8 : 0));
    }
    counts_at_end();
    assert_int_equal(chunks, 1);
    for (size_t i = 0; i < chunk[0]->count; i++) {
        const struct picture *p = &chunk[0]->picture[i];
        assert_true(p->selected);
        assert_int_equal(p->frame, shown[i]);
        assert_int_equal(p->tag.time_us, shown[i] * FRAME);
        assert_int_equal(p->suspect, i == 0 || i == 4 || i == 6); /* what came right before them */
    }
}

/* Pushes ten pictures, of which those after the fifth follow `missing` frames later. */
static struct chunker_counts with_gap(bool after_gap, int64_t missing, struct columns *columns)
{
    config.columns = columns;
    config.emit = NULL;
    open_chunker(STREAM_VP9, 2);
    for (int64_t i = 0; i < 10; i++)
        PUSH(.rap = i == 0 ? RAP_CLOSED : RAP_NONE, .order = TIME_NONE,
             .pts_us = (i + (i >= 5 ? missing : 0)) * FRAME, .after_gap = after_gap && i == 5);
    return counts_at_end();
}

TEST_WITH(gaps_are_filled_and_jumps_in_time_are_not, begin, end)
{
    struct columns *columns = columns_open(0, 0, NULL);
    struct chunker_counts n = with_gap(true, 30, columns);
    assert_int_equal(n.displayed, 40);
    assert_int_equal(n.dropped, 30);
    assert_int_equal(n.dropped_selected, 15);
    assert_int_equal(columns_count(columns), 20);
    for (uint64_t i = 0; i < 20; i++) {
        assert_int_equal(columns_get(columns, i)->frame, 2 * i);
        assert_int_equal(columns_get(columns, i)->time_us, 80000 * i);
    }
    columns_free(&columns);
    assert_int_equal(with_gap(false, 30, NULL).displayed, 10);
    assert_int_equal(with_gap(true, 0, NULL).displayed, 10);
    /* more than an hour: a jump of the clock */
    assert_int_equal(with_gap(true, 100000, NULL).displayed, 10);
}

/*
 * MPEG-TS: a gap took five frames and the beginning of the next key, with its time. The order count
 * shows which pictures lead that key.
 */
TEST_WITH(a_truncated_key_has_no_time, begin, end)
{
    static const int64_t shown[] = {0, 1, 2, 11, 8, 9, 10, 12, 13};
    open_chunker(STREAM_H264, 1);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        PUSH(.pts_us = i == 3 ? TIME_NONE : shown[i] * FRAME, .order = shown[i],
             .rap = i == 0 || i == 3 ? RAP_OPEN : RAP_NONE, .after_gap = i == 3 || i == 4);
    assert_int_equal(counts_at_end().dropped, 5);
    assert_int_equal(chunker_counts_now(g).displayed, 14);
}

/*
 * Reading stops between a picture and its B pictures, near another stream's gap: no frame is
 * missing.
 */
TEST_WITH(what_was_not_read_is_not_lost, begin, end)
{
    static const int64_t shown[] = {0, 4, 1, 2, 3, 8};
    for (int stop = 0; stop < 2; stop++) {
        open_chunker(STREAM_H264, 1);
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
            PUSH(.pts_us = shown[i] * FRAME, .order = shown[i],
                 .rap = i == 0 ? RAP_CLOSED : RAP_NONE, .after_gap = i == 2);
        if (stop)
            chunker_stop(g);
        assert_int_equal(counts_at_end().dropped, stop ? 0 : 3);
    }
}

/*
 * A chunk of H.264 whose last pictures are copies of a key and its leading pictures. A gap or a
 * lost picture follows these.
 */
static const struct picture *copies_before(bool lost, bool after_gap, bool missing)
{
    open_chunker(STREAM_H264, 1);
    for (int64_t i = 0; i < CHUNK_PICTURES + 10; i++) {
        int64_t after = i - CHUNK_PICTURES, shown = i;
        if (after >= 0 && after <= 2)
            shown = after == 0 ? i + 2 : i - 1;
        bool is_lost = lost && after == 2;
        int64_t jump = missing && after >= 3 ? 20 : 0;
        PUSH(.rap = i == 0 || after == 0 || after == 3 ? RAP_OPEN : RAP_NONE, .lost = is_lost,
             .order = is_lost ? TIME_NONE : shown, .pts_us = (shown + jump) * FRAME,
             .after_gap = after_gap && after == (missing ? 3 : 2));
    }
    counts_at_end();
    assert_int_equal(chunk[0]->count, CHUNK_PICTURES + 3);
    return chunk[0]->picture + CHUNK_PICTURES;
}

TEST_WITH(copies_know_of_gaps, begin, end)
{
    const struct picture *p = copies_before(true, false, false);
    /* its end may be gone, in this chunk too */
    assert_true(p[1].suspect && !p[0].suspect);
    p = copies_before(false, true, false); /* no frame is missing there */
    assert_false(p[1].suspect || p[2].after_gap);
    p = copies_before(false, true, true);
    assert_true(p[2].suspect);
}

TEST_WITH(where_films_begin, begin, end)
{
    /* pictures that refer back, one that does not, a lost one, packets without any */
    for (int kind = 0; kind < 4; kind++) {
        open_chunker(STREAM_H264, 1);
        for (int64_t i = 0; i < 10; i++)
            PUSH(.order = i, .pts_us = i * FRAME, .rap = i == 5 ? RAP_CLOSED : RAP_NONE,
                 .intra = kind == 1 && i == 0, .lost = kind == 2 && i == 0,
                 .hidden = kind == 3 && i < 5);
        struct chunker_counts n = counts_at_end();
        assert_int_equal(n.lead_in, kind == 0 ? 5 : 0);
        assert_int_equal(n.displayed, kind == 0 || kind == 3 ? 5 : 10);
    }
}

/*
 * MPEG-PS has times of some pictures only. In a GOP with gaps, the others get a time by their
 * distance in display order.
 */
TEST_WITH(times_by_order, begin, end)
{
    static const int64_t order[] = {2, 0, 1, 5, 3, 4, 11, 9, 10, 14, 12, 13}; /* 6 to 8 are gone */
    open_chunker(STREAM_MPEG2, 1);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        bool timed = i != 0 && i != 3 && i != 9;
        PUSH(.pts_us = timed ? order[i] * FRAME : TIME_NONE, .order = order[i], .after_gap = i == 6,
             .rap = i == 0 ? RAP_OPEN : RAP_NONE, .closed = true);
    }
    assert_int_equal(counts_at_end().dropped, 3);
    assert_int_equal(chunker_counts_now(g).displayed, 15);
    for (size_t i = 0; i < chunk[0]->count; i++)
        assert_int_equal(chunk[0]->picture[i].frame, order[i]);
}

/* ------------------------------------------------------------------ against the model */

TEST(random_films)
{
    int stuck_ones = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct dice d = {.state = seed};
        struct film_shape shape = random_shape(&d);
        bool stuck;
        const char *broken = chunker_trial(&shape, &d, &stuck);
        if (broken)
            fail_msg("film %llu: %s", (unsigned long long)seed, broken);
        stuck_ones += stuck;
    }
    assert_in_range(stuck_ones, 400, 1200); /* those that the trial itself cut short: a fifth */
}

TEST(no_films_at_all)
{
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct dice d = {.state = seed};
        const char *broken = chunker_chaos(&d);
        if (broken)
            fail_msg("chaos %llu: %s", (unsigned long long)seed, broken);
    }
}

static void one_trial(struct film_shape shape, uint64_t seed, bool expect_stuck)
{
    struct dice d = {.state = seed};
    bool stuck;
    const char *broken = chunker_trial(&shape, &d, &stuck);
    if (broken)
        fail_msg("film %llu: %s", (unsigned long long)seed, broken);
    assert_int_equal(stuck, expect_stuck);
}

/* A GOP that is too long to hold, alone, behind short ones, with and without leading pictures. */
TEST(too_long)
{
    static const enum bitstream streams[] = {STREAM_H264, STREAM_HEVC, STREAM_MPEG2, STREAM_VP9};
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct film_shape shape = {.stream = streams[seed % 4],
                                   .gops = 2,
                                   .gop_least = 1800,
                                   .gop_most = 1900,
                                   .open = (int)seed % 3 * 50,
                                   .lead_in = (int)seed % 2 * 3,
                                   .step_us = 40000};
        one_trial(shape, seed, true);
    }
}

TEST_WITH(never_a_cut, begin, end)
{
    struct chunker_state s;
    open_chunker(STREAM_H264, 3);
    for (int i = 0; i < 40; i++)
        PUSH(.pts_us = i * FRAME, .order = i);
    assert_false(chunker_stuck(g, false)); /* a cut may still come */
    assert_true(chunker_stuck(g, true));
    assert_true(chunker_release(g, &s, &e));
    assert_int_equal(s.held->count, 40);
    assert_int_equal(s.next_frame, 0);
    assert_int_equal(s.cursor.seen, 0);
    chunk_free(&s.held);
}

/* One key's time is far too high, and there is no order: all that follows seems to lead it. Memory
 * stays bounded, nothing is lost. */
TEST_WITH(a_key_that_never_shows, begin, end)
{
    struct chunker_state s;
    open_chunker(STREAM_H264, 3);
    while (next_serial < 5000 && !chunker_stuck(g, false)) {
        bool first = next_serial == 0, far = next_serial == 100;
        enum rap rap = far ? RAP_OPEN : RAP_NONE;
        PUSH(.rap = first ? RAP_CLOSED : rap, .closed = first, .order = TIME_NONE,
             .pts_us = (int64_t)next_serial * FRAME + (far ? INT64_C(1000000000) : 0));
    }
    assert_in_range(next_serial, GOP_PICTURES_MAX, GOP_PICTURES_MAX + 110);
    assert_true(chunker_release(g, &s, &e));
    assert_int_equal(s.held->count, next_serial);
    assert_int_equal(s.next_frame, 0);
    for (size_t i = 0; i < s.held->count; i++)
        assert_false(s.held->picture[i].leading || s.held->picture[i].hidden);
    chunk_free(&s.held);
}

/* ------------------------------------------------------------------ by hand */

/* GOPs are merged until there are CHUNK_PICTURES or more. */
TEST_WITH(merging, begin, end)
{
    open_chunker(STREAM_VP9, 1);
    push_gops(20, 10, true);
    counts_at_end();
    assert_int_equal(chunks, 3);
    assert_int_equal(chunk[0]->count, 70);
    assert_int_equal(chunk[1]->count, 70);
    assert_int_equal(chunk[2]->count, 60);
    assert_int_equal(chunk[0]->frames, 70);
    assert_int_equal(chunk[2]->frames, 200);
    assert_int_equal(chunker_last_us(g), 199 * FRAME);
    open_chunker(STREAM_VP9, 1);
    push_gops(8, CHUNK_PICTURES / 4, true);
    counts_at_end();
    assert_int_equal(chunks, 2);
    assert_int_equal(chunk[0]->count, CHUNK_PICTURES);
}

/* Pictures lead a key only when they follow it directly, and never a clean one, whatever their
 * times and orders say. */
TEST_WITH(what_does_not_lead, begin, end)
{
    open_chunker(STREAM_H264, 1);
    for (int i = 0; i < 4; i++)
        PUSH(.rap = i % 2 ? RAP_NONE : RAP_CLOSED, .closed = i % 2 == 0, .order = TIME_NONE,
             .pts_us = (i < 2 ? i : 5 - i) * FRAME);
    counts_at_end();
    assert_int_equal(chunk[0]->count, 4);
    assert_int_equal(chunk[0]->picture[2].frame, 3);
    assert_int_equal(chunk[0]->picture[3].frame, 2);
    assert_false(chunk[0]->picture[3].leading);

    /* MPEG-2 counts orders modulo 1024. */
    open_chunker(STREAM_MPEG2, 1);
    for (int i = 0; i < 1030; i++)
        PUSH(.pts_us = i * FRAME, .order = (i + 2) % 1024, .rap = i ? RAP_NONE : RAP_OPEN);
    assert_int_equal(counts_at_end().displayed, 1030);
}

TEST_WITH(gops_without_a_sample_are_skipped, begin, end)
{
    open_chunker(STREAM_VP8, 40);
    push_gops(20, 10, false);
    struct chunker_counts n = counts_at_end();
    assert_int_equal(n.chunks, 5);
    assert_int_equal(n.skipped, 15);
    assert_int_equal(n.displayed, 200);
    for (size_t i = 0; i < chunks; i++) {
        assert_int_equal(chunk[i]->count, 10);
        assert_int_equal(chunk[i]->picture[0].serial, 40 * i);
        assert_int_equal(chunk[i]->selected, 1);
        assert_true(chunk[i]->picture[0].selected);
    }
}

/* I b b P | I b b P ...: the leading pictures of the second key are decoded by the first one's run,
 * behind a copy of the key. */
TEST_WITH(next_leading, begin, end)
{
    static const int display[] = {0, 3, 1, 2, 6, 4, 5, 9, 7, 8}; /* K P b b | K l l P b b */
    open_chunker(STREAM_H264, 5);                                /* frames 0, 5 */
    for (int i = 0; i < 10; i++) {
        enum rap rap = i == 4 ? RAP_OPEN : RAP_NONE;
        PUSH(.rap = i == 0 ? RAP_CLOSED : rap, .closed = i == 0, .order = TIME_NONE,
             .pts_us = display[i] * FRAME);
    }
    assert_int_equal(counts_at_end().skipped, 1); /* its own pictures were not needed */
    assert_int_equal(chunks, 1);
    const struct chunk *r = chunk[0];
    assert_int_equal(r->own, 4);
    assert_int_equal(r->count, 7);
    assert_int_equal(r->selected, 2);
    assert_true(r->picture[0].selected && r->picture[6].selected);
    assert_int_equal(r->picture[6].frame, 5);
    assert_int_equal(chunk_reorder_depth(r), 1);
}

/* A film that begins with a CRA shows the leading pictures that need nothing before it (RADL), not
 * the others (RASL). */
TEST_WITH(first_leading_pictures, begin, end)
{
    static const int order[] = {-2, 2, 0, 1, 3}; /* lead-in, K r r P */
    open_chunker(STREAM_HEVC, 1);
    assert_false(chunker_begun(g));
    for (int i = 0; i < 5; i++) {
        PUSH(.pts_us = TIME_NONE, .order = order[i], .rap = i == 1 ? RAP_OPEN : RAP_NONE,
             .marked_leading = i == 2 || i == 3, .needs_before = i == 2);
        assert_int_equal(chunker_begun(g), i == 4);
    }
    assert_int_equal(counts_at_end().displayed, 3);
    assert_true(chunk[0]->picture[1].hidden);
    assert_false(chunk[0]->picture[2].hidden);
    assert_int_equal(chunk[0]->picture[2].frame, 0);
    assert_int_equal(chunk[0]->picture[0].frame, 1);
}

/* The delay that a chunk with extras asks of a decoder is its film's, whatever is wanted. */
TEST_WITH(extras_do_not_lengthen_the_delay, begin, end)
{
    static const int display[] = {2, 0, 1, 5, 3, 4, 8, 6, 7}; /* K l l P b b P b b */
    open_chunker(STREAM_H264, 1);
    for (int i = 0; i < 40 * 9; i++)
        PUSH(.rap = i % 9 == 0 ? RAP_OPEN : RAP_NONE, .order = TIME_NONE,
             .pts_us = (i / 9 * 9 + display[i % 9]) * FRAME);
    counts_at_end();
    assert_true(chunks > 3);
    for (size_t i = 0; i < chunks; i++) {
        assert_int_equal(chunk[i]->count - chunk[i]->own, i + 1 < chunks ? 3 : 0);
        assert_int_equal(chunk_reorder_depth(chunk[i]), 1);
    }
}

/* An emit that fails ends the push, and nothing is leaked or freed twice. */
TEST_WITH(refusal, begin, end)
{
    int pushed = 0;
    refuse = true;
    open_chunker(STREAM_MPEG2, 1);
    for (bool ok = true; pushed < 500 && ok; pushed++)
        ok = try_push((struct picture){.pts_us = pushed * FRAME,
                                       .order = pushed % 10,
                                       .rap = pushed % 10 ? RAP_NONE : RAP_OPEN,
                                       .closed = true});
    assert_true(pushed > CHUNK_PICTURES && pushed < 2 * CHUNK_PICTURES);
    assert_string_equal(e.text, "no more");
}

TEST_WITH(counting_alone, begin, end)
{
    config.emit = NULL;
    open_chunker(STREAM_VP9, 2);
    push_gops(10, 30, true);
    assert_int_equal(counts_at_end().displayed, 300);
    assert_int_equal(chunker_counts_now(g).chunks, 0);
}

TEST_WITH(empty_film, begin, end)
{
    open_chunker(STREAM_H264, 1);
    assert_false(chunker_stuck(g, false) || chunker_stuck(g, true) || chunker_done(g));
    counts_at_end();
    assert_int_equal(chunks, 0);
    assert_int_equal(chunker_last_us(g), -1);
}

TEST_WITH(announcing, begin, end)
{
    struct columns *columns = columns_open(0, 0, &e);
    struct frame_tag tag = {.column = 3, .repeat = 4, .frame = 77, .time_us = 123};
    assert_true(columns_announce(columns, &tag, &e));
    assert_int_equal(columns_count(columns), 7);
    const struct column *column = columns_get(columns, 3);
    assert_int_equal(column->frame, 77);
    assert_int_equal(column->time_us, 123);
    assert_int_equal(column->repeat, 4);
    assert_int_equal(column->status, COLUMN_MISSING);
    assert_true(columns_announce(NULL, &tag, &e));
    tag.column = UINT64_C(1) << 32;
    assert_false(columns_announce(columns, &tag, &e));
    assert_int_equal(e.code, ERR_FAILED);
    columns_free(&columns);
}

/* ------------------------------------------------------------------ frames that exist */

struct there {
    uint64_t first, last; /* frames from first to before last are there */
    size_t taken;
};

static bool is_there(void *user, const struct frame_tag *tag, bool take)
{
    struct there *t = user;
    bool there = tag->frame >= t->first && tag->frame < t->last;
    assert_true(there || !take);
    t->taken += take;
    return there;
}

static bool count_pick(void *user, const struct frame_tag *tag)
{
    (void)tag;
    ++*(size_t *)user;
    return true;
}

/* A GOP whose wanted frames are all there is not decoded; of any other one every wanted frame is.
 * All are announced and timed. */
TEST_WITH(frames_that_are_there, begin, end)
{
    struct there t = {.first = 15, .last = 62};
    struct frame_times_walked walked;
    struct selection all = {.every = 1, .end_us = INT64_MAX};
    config.columns = columns_open(0, 0, NULL);
    config.frame_times = frame_times_open(NULL);
    config.have = is_there;
    config.have_user = &t;
    assert_true(config.columns && config.frame_times);
    open_chunker(STREAM_VP9, 5);
    frame_times_begin(config.frame_times, FRAME);
    push_gops(10, 10, true);
    counts_at_end();
    assert_int_equal(columns_count(config.columns), 20);
    size_t timed = 0;
    /* it was not told of an end */
    assert_false(frame_times_walk(config.frame_times, &all, count_pick, &timed, &walked));
    assert_int_equal(timed, 100);
    assert_int_equal(t.taken, 2 * 4); /* the GOPs of frames 20 to 59 */
    size_t selected = 0;
    for (size_t r = 0; r < chunks; r++)
        for (size_t i = 0; i < chunk[r]->count; i++) {
            assert_false(chunk[r]->picture[i].frame >= 20 && chunk[r]->picture[i].frame < 60);
            selected += chunk[r]->picture[i].selected;
        }
    assert_int_equal(selected, 20 - 8);
    columns_free(&config.columns);
    frame_times_free(&config.frame_times);
}
