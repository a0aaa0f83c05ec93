/* test_chunker.c - GOPs to chunks: selection, display order, gaps */

#include "test.h"
#include "media/select/frame_times.h"
#include "../fuzz/chunker_chaos.h"
#include "chunker_hand.h"

/* ------------------------------------------------------------------ gaps */

/* Lost pictures have a time alone: in display order they stand by it, and no decoder is asked for
 * them. */
TEST(lost_ones_keep_their_place)
{
    struct err e = ERR_INIT;
    struct caught c = {.chunks = 0};
    struct chunker *g = hand_chunker(STREAM_H264, 1, &c);
    /* by decoding order; 4, the key of 8's GOP and 5 are lost */
    static const int64_t shown[] = {0, 4, 2, 1, 3, 8, 6, 5, 7};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        bool lost = i == 1 || i == 5 || i == 7;
        struct picture p = {.packet = lost ? NULL : packet_make(10),
                            .serial = i,
                            .pts_us = shown[i] * 40000,
                            .lost = lost,
                            .rap = i == 0 ? RAP_CLOSED : RAP_NONE,
                            .order = lost    ? TIME_NONE
                                     : i > 5 ? shown[i] - 8
                                             : shown[i]};
        assert_true(chunker_push(g, &p, &e));
    }
    assert_true(chunker_end(g, &e));
    assert_int_equal(c.chunks, 1);
    for (size_t i = 0; i < c.chunk[0]->count; i++) {
        const struct picture *p = &c.chunk[0]->picture[i];
        assert_true(p->selected);
        assert_int_equal(p->frame, shown[i]);
        assert_int_equal(p->tag.time_us, shown[i] * 40000);
        assert_int_equal(p->suspect, i == 0 || i == 4 || i == 6); /* what came right before them */
    }
    drop_runs(&c);
    chunker_free(&g);
    assert_int_equal(live_packets, 0);
}

/* Pushes ten pictures, of which those after the fifth follow `missing` frames later. */
static struct chunker_counts with_gap(bool after_gap, int64_t missing, struct columns *columns)
{
    struct err e = ERR_INIT;
    struct chunker_config config = {
        .selection = {.every = 2, .end_us = INT64_MAX},
        .clock = {.frame_us = 40000, .origin_us = TIME_NONE, .wraps = true},
        .columns = columns,
        .traits = codec_traits(STREAM_VP9)};
    struct chunker *g = chunker_open(&config, &e);
    for (int64_t i = 0; i < 10; i++) {
        struct picture p = {.packet = packet_make(10),
                            .serial = (uint64_t)i,
                            .rap = i == 0 ? RAP_CLOSED : RAP_NONE,
                            .order = TIME_NONE,
                            .pts_us = (i + (i >= 5 ? missing : 0)) * 40000,
                            .after_gap = after_gap && i == 5};
        assert_true(chunker_push(g, &p, &e));
    }
    assert_true(chunker_end(g, &e));
    struct chunker_counts counts = chunker_counts_now(g);
    chunker_free(&g);
    assert_int_equal(live_packets, 0);
    return counts;
}

TEST(gaps_are_filled_and_jumps_in_time_are_not)
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
TEST(a_truncated_key_has_no_time)
{
    struct err e = ERR_INIT;
    static const int64_t shown[] = {0, 1, 2, 11, 8, 9, 10, 12, 13};
    struct chunker *g = hand_chunker(STREAM_H264, 1, NULL);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        bool key = i == 0 || i == 3;
        struct picture p = {.packet = packet_make(10),
                            .serial = i,
                            .pts_us = i == 3 ? TIME_NONE : shown[i] * 40000,
                            .order = shown[i],
                            .rap = key ? RAP_OPEN : RAP_NONE,
                            .after_gap = i == 3 || i == 4};
        assert_true(chunker_push(g, &p, &e));
    }
    assert_true(chunker_end(g, &e));
    assert_int_equal(chunker_counts_now(g).dropped, 5);
    assert_int_equal(chunker_counts_now(g).displayed, 14);
    chunker_free(&g);
    assert_int_equal(live_packets, 0);
}

/*
 * Reading stops between a picture and its B pictures, near another stream's gap: no frame is
 * missing.
 */
TEST(what_was_not_read_is_not_lost)
{
    struct err e = ERR_INIT;
    static const int64_t shown[] = {0, 4, 1, 2, 3, 8};
    for (int stop = 0; stop < 2; stop++) {
        struct chunker *g = hand_chunker(STREAM_H264, 1, NULL);
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
            struct picture p = {.packet = packet_make(10),
                                .serial = i,
                                .pts_us = shown[i] * 40000,
                                .order = shown[i],
                                .rap = i == 0 ? RAP_CLOSED : RAP_NONE,
                                .after_gap = i == 2};
            assert_true(chunker_push(g, &p, &e));
        }
        if (stop)
            chunker_stop(g);
        assert_true(chunker_end(g, &e));
        assert_int_equal(chunker_counts_now(g).dropped, stop ? 0 : 3);
        chunker_free(&g);
    }
    assert_int_equal(live_packets, 0);
}

/*
 * A chunk of H.264 whose last pictures are copies of a key and its leading pictures. A gap or a
 * lost picture follows these.
 */
struct behind {
    bool lost, after_gap, missing;
};

static struct chunk *run_before(struct behind b, struct caught *c)
{
    struct err e = ERR_INIT;
    struct chunker *g = hand_chunker(STREAM_H264, 1, c);
    for (int64_t i = 0; i < CHUNK_PICTURES + 10; i++) {
        int64_t shown = i < CHUNK_PICTURES        ? i
                        : i == CHUNK_PICTURES     ? i + 2
                        : i <= CHUNK_PICTURES + 2 ? i - 1
                                                  : i;
        bool key = i == 0 || i == CHUNK_PICTURES || i == CHUNK_PICTURES + 3;
        bool here = i == CHUNK_PICTURES + (b.missing ? 3 : 2);
        int64_t jump = b.missing && i >= CHUNK_PICTURES + 3 ? 20 : 0;
        struct picture p = {.packet = packet_make(10),
                            .serial = (uint64_t)i,
                            .rap = key ? RAP_OPEN : RAP_NONE,
                            .order = shown,
                            .pts_us = (shown + jump) * 40000,
                            .after_gap = b.after_gap && here};
        if (b.lost && i == CHUNK_PICTURES + 2) {
            packet_free(&p.packet);
            p.lost = true;
            p.order = TIME_NONE;
        }
        assert_true(chunker_push(g, &p, &e));
    }
    assert_true(chunker_end(g, &e));
    chunker_free(&g);
    assert_int_equal(c->chunk[0]->count, CHUNK_PICTURES + 3);
    return c->chunk[0];
}

TEST(copies_know_of_gaps)
{
    struct caught c = {.chunks = 0};
    const struct chunk *r = run_before((struct behind){.lost = true}, &c);
    /* its end may be gone, in this chunk too */
    assert_true(r->picture[CHUNK_PICTURES + 1].suspect);
    assert_false(r->picture[CHUNK_PICTURES].suspect);
    drop_runs(&c);
    r = run_before((struct behind){.after_gap = true}, &c); /* no frame is missing there */
    assert_false(r->picture[CHUNK_PICTURES + 1].suspect ||
                 r->picture[CHUNK_PICTURES + 2].after_gap);
    drop_runs(&c);
    r = run_before((struct behind){.after_gap = true, .missing = true}, &c);
    assert_true(r->picture[CHUNK_PICTURES + 2].suspect);
    drop_runs(&c);
    assert_int_equal(live_packets, 0);
}

TEST(where_films_begin)
{
    struct err e = ERR_INIT;
    /* pictures that refer back, one that does not, a lost one, packets without any */
    for (int kind = 0; kind < 4; kind++) {
        struct chunker *g = hand_chunker(STREAM_H264, 1, NULL);
        for (int64_t i = 0; i < 10; i++) {
            struct picture p = {.packet = packet_make(10),
                                .serial = (uint64_t)i,
                                .order = i,
                                .pts_us = i * 40000,
                                .rap = i == 5 ? RAP_CLOSED : RAP_NONE,
                                .intra = kind == 1 && i == 0,
                                .hidden = kind == 3 && i < 5};
            if (kind == 2 && i == 0) {
                packet_free(&p.packet);
                p.lost = true;
            }
            assert_true(chunker_push(g, &p, &e));
        }
        assert_true(chunker_end(g, &e));
        assert_int_equal(chunker_counts_now(g).lead_in, kind == 0 ? 5 : 0);
        assert_int_equal(chunker_counts_now(g).displayed, kind == 0 || kind == 3 ? 5 : 10);
        chunker_free(&g);
    }
    assert_int_equal(live_packets, 0);
}

/*
 * MPEG-PS has times of some pictures only. In a GOP with gaps, the others get a time by their
 * distance in display order.
 */
TEST(times_by_order)
{
    struct err e = ERR_INIT;
    struct caught c = {.chunks = 0};
    struct chunker *g = hand_chunker(STREAM_MPEG2, 1, &c);
    static const int64_t order[] = {2, 0, 1, 5, 3, 4, 11, 9, 10, 14, 12, 13}; /* 6 to 8 are gone */
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        bool timed = i != 0 && i != 3 && i != 9;
        struct picture p = {.packet = packet_make(10),
                            .serial = i,
                            .pts_us = timed ? order[i] * 40000 : TIME_NONE,
                            .order = order[i],
                            .after_gap = i == 6,
                            .rap = i == 0 ? RAP_OPEN : RAP_NONE,
                            .closed = true};
        assert_true(chunker_push(g, &p, &e));
    }
    assert_true(chunker_end(g, &e));
    assert_int_equal(chunker_counts_now(g).dropped, 3);
    assert_int_equal(chunker_counts_now(g).displayed, 15);
    for (size_t i = 0; i < c.chunk[0]->count; i++)
        assert_int_equal(c.chunk[0]->picture[i].frame, order[i]);
    drop_runs(&c);
    chunker_free(&g);
    assert_int_equal(live_packets, 0);
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

TEST(never_a_cut)
{
    struct film_shape shape = {
        .stream = STREAM_H264, .gop_least = 1, .gop_most = 1, .lead_in = 40, .step_us = 40000};
    struct dice d = {.state = 1};
    struct random_film f = random_film_make(&shape, &d);
    struct chunker_config config = {
        .selection = {.every = 3, .end_us = INT64_MAX},
        .clock = {.frame_us = 40000, .origin_us = TIME_NONE, .wraps = true},
        .traits = codec_traits(STREAM_H264)};
    struct err e = ERR_INIT;
    struct chunker *g = chunker_open(&config, &e);
    for (size_t i = 0; i < f.count; i++) {
        struct picture p = f.picture[i];
        p.packet = packet_make(1);
        assert_true(chunker_push(g, &p, &e));
    }
    assert_false(chunker_stuck(g, false)); /* a cut may still come */
    assert_true(chunker_stuck(g, true));
    struct chunker_state s;
    assert_true(chunker_release(g, &s, &e));
    assert_int_equal(s.held->count, 40);
    assert_int_equal(s.next_frame, 0);
    assert_int_equal(s.cursor.seen, 0);
    chunk_free(&s.held);
    chunker_free(&g);
    random_film_free(&f);
    assert_int_equal(live_packets, 0);
}

/* ------------------------------------------------------------------ by hand */

static uint64_t next_serial;

static void hand_push(struct chunker *g, enum rap rap, int64_t pts_us, bool hidden)
{
    struct err e = ERR_INIT;
    struct picture p = {.packet = packet_make(10),
                        .serial = next_serial++,
                        .pts_us = pts_us,
                        .order = TIME_NONE,
                        .rap = rap,
                        .closed = rap == RAP_CLOSED,
                        .hidden = hidden};
    assert_true(chunker_push(g, &p, &e));
}

/* `gops` GOPs of `length` pictures in display order. */
static void push_gops(struct chunker *g, int gops, int length, bool times)
{
    for (int i = 0; i < gops * length; i++)
        hand_push(g, i % length == 0 ? RAP_CLOSED : RAP_NONE,
                  times ? (int64_t)next_serial * 40000 : TIME_NONE, false);
}

/* One key's time is far too high, and there is no order: all that follows seems to lead it. Memory
 * stays bounded, nothing is lost. */
TEST(a_key_that_never_shows)
{
    struct chunker_config config = {
        .selection = {.every = 3, .end_us = INT64_MAX},
        .clock = {.frame_us = 40000, .origin_us = TIME_NONE, .wraps = true},
        .traits = codec_traits(STREAM_H264)};
    struct err e = ERR_INIT;
    struct chunker *g = chunker_open(&config, &e);
    uint64_t pushed = next_serial = 0;
    for (; pushed < 5000 && !chunker_stuck(g, false); pushed++)
        hand_push(g,
                  pushed == 0     ? RAP_CLOSED
                  : pushed == 100 ? RAP_OPEN
                                  : RAP_NONE,
                  (int64_t)pushed * 40000 + (pushed == 100 ? INT64_C(1000000000) : 0), false);
    assert_in_range(pushed, GOP_PICTURES_MAX, GOP_PICTURES_MAX + 110);
    struct chunker_state s;
    assert_true(chunker_release(g, &s, &e));
    assert_int_equal(s.held->count, pushed);
    assert_int_equal(s.next_frame, 0);
    for (size_t i = 0; i < s.held->count; i++)
        assert_false(s.held->picture[i].leading || s.held->picture[i].hidden);
    chunk_free(&s.held);
    chunker_free(&g);
    assert_int_equal(live_packets, 0);
}

static struct caught c;
static struct chunker *g;
static struct err e;

static int begin(void **state)
{
    (void)state;
    c = (struct caught){.chunks = 0};
    err_clear(&e);
    next_serial = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    drop_runs(&c);
    chunker_free(&g);
    assert_int_equal(live_packets, 0);
    return 0;
}

TEST_WITH(merging, begin, end)
{
    g = hand_chunker(STREAM_VP9, 1, &c);
    push_gops(g, 20, 10, true);
    assert_true(chunker_end(g, &e));
    /* GOPs are merged until there are CHUNK_PICTURES or more: 7 of 10 make 70. */
    assert_int_equal(c.chunks, 3);
    assert_int_equal(c.chunk[0]->count, 70);
    assert_int_equal(c.chunk[1]->count, 70);
    assert_int_equal(c.chunk[2]->count, 60);
    assert_int_equal(c.chunk[0]->frames, 70);
    assert_int_equal(c.chunk[2]->frames, 200);
    assert_int_equal(chunker_last_us(g), 199 * 40000);
}

/* 64 pictures are enough: four GOPs of 16. */
TEST_WITH(merged_until_enough, begin, end)
{
    g = hand_chunker(STREAM_VP9, 1, &c);
    push_gops(g, 8, CHUNK_PICTURES / 4, true);
    assert_true(chunker_end(g, &e));
    assert_int_equal(c.chunks, 2);
    assert_int_equal(c.chunk[0]->count, CHUNK_PICTURES);
}

/* Pictures lead a key only when they follow it directly, and never a clean one, whatever their
 * times and orders say. */
TEST_WITH(what_does_not_lead, begin, end)
{
    g = hand_chunker(STREAM_H264, 1, &c);
    hand_push(g, RAP_CLOSED, 0, false);
    hand_push(g, RAP_NONE, 40000, false);
    hand_push(g, RAP_CLOSED, 120000, false);
    hand_push(g, RAP_NONE, 80000, false);
    assert_true(chunker_end(g, &e));
    assert_int_equal(c.chunk[0]->count, 4);
    assert_int_equal(c.chunk[0]->picture[2].frame, 3);
    assert_int_equal(c.chunk[0]->picture[3].frame, 2);
    assert_false(c.chunk[0]->picture[3].leading);
    drop_runs(&c);
    chunker_free(&g);

    /* MPEG-2 counts orders modulo 1024. */
    g = hand_chunker(STREAM_MPEG2, 1, NULL);
    for (int i = 0; i < 1030; i++) {
        struct picture p = {.serial = (uint64_t)i,
                            .pts_us = i * 40000,
                            .order = (i + 2) % 1024,
                            .rap = i ? RAP_NONE : RAP_OPEN};
        assert_true(chunker_push(g, &p, &e));
    }
    assert_true(chunker_end(g, &e));
    assert_int_equal(chunker_counts_now(g).displayed, 1030);
}

TEST_WITH(gops_without_a_sample_are_skipped, begin, end)
{
    g = hand_chunker(STREAM_VP8, 40, &c);
    push_gops(g, 20, 10, false);
    assert_true(chunker_end(g, &e));
    struct chunker_counts n = chunker_counts_now(g);
    assert_int_equal(n.chunks, 5);
    assert_int_equal(n.skipped, 15);
    assert_int_equal(n.displayed, 200);
    for (size_t i = 0; i < c.chunks; i++) {
        assert_int_equal(c.chunk[i]->count, 10);
        assert_int_equal(c.chunk[i]->picture[0].serial, 40 * i);
        assert_int_equal(c.chunk[i]->selected, 1);
        assert_true(c.chunk[i]->picture[0].selected);
    }
}

/* I b b P | I b b P ...: the leading pictures of the second key are decoded by the first one's run,
 * behind a copy of the key. */
TEST_WITH(next_leading, begin, end)
{
    static const int display[] = {0, 3, 1, 2, 6, 4, 5, 9, 7, 8}; /* K P b b | K l l P b b */
    g = hand_chunker(STREAM_H264, 5, &c);                        /* frames 0, 5 */
    for (int i = 0; i < 10; i++)
        hand_push(g, i == 0 ? RAP_CLOSED : i == 4 ? RAP_OPEN : RAP_NONE, display[i] * 40000, false);
    assert_true(chunker_end(g, &e));
    assert_int_equal(c.chunks, 1);
    const struct chunk *r = c.chunk[0];
    assert_int_equal(r->own, 4);
    assert_int_equal(r->count, 7);
    assert_int_equal(r->selected, 2);
    assert_true(r->picture[0].selected && r->picture[6].selected);
    assert_int_equal(r->picture[6].frame, 5);
    assert_int_equal(chunk_reorder_depth(r), 1);
    assert_int_equal(chunker_counts_now(g).skipped, 1); /* its own pictures were not needed */
}

/* A film that begins with a CRA shows the leading pictures that need nothing before it (RADL), not
 * the others (RASL). */
TEST_WITH(first_leading_pictures, begin, end)
{
    g = hand_chunker(STREAM_HEVC, 1, &c);
    assert_false(chunker_begun(g));
    for (int i = 0; i < 5; i++) { /* K r r P, and lead-in before */
        struct picture p = {.packet = packet_make(10),
                            .serial = (uint64_t)i,
                            .pts_us = TIME_NONE,
                            .order = i == 1   ? 2
                                     : i == 4 ? 3
                                              : i - 2,
                            .rap = i == 1 ? RAP_OPEN : RAP_NONE,
                            .marked_leading = i == 2 || i == 3,
                            .needs_before = i == 2};
        assert_true(chunker_push(g, &p, &e));
        assert_int_equal(chunker_begun(g), i == 4);
    }
    assert_true(chunker_end(g, &e));
    assert_int_equal(chunker_counts_now(g).displayed, 3);
    assert_true(c.chunk[0]->picture[1].hidden);
    assert_false(c.chunk[0]->picture[2].hidden);
    assert_int_equal(c.chunk[0]->picture[2].frame, 0);
    assert_int_equal(c.chunk[0]->picture[0].frame, 1);
}

/* The delay that a chunk with extras asks of a decoder is its film's, whatever is wanted. */
TEST_WITH(extras_do_not_lengthen_the_delay, begin, end)
{
    g = hand_chunker(STREAM_H264, 1, &c);
    for (int gop = 0; gop < 40; gop++) {
        static const int display[] = {2, 0, 1, 5, 3, 4, 8, 6, 7}; /* K l l P b b P b b */
        for (int i = 0; i < 9; i++)
            hand_push(g, i == 0 ? RAP_OPEN : RAP_NONE, (gop * 9 + display[i]) * 40000, false);
    }
    assert_true(chunker_end(g, &e));
    assert_true(c.chunks > 3);
    for (size_t i = 0; i < c.chunks; i++) {
        assert_int_equal(c.chunk[i]->count - c.chunk[i]->own, i + 1 < c.chunks ? 3 : 0);
        assert_int_equal(chunk_reorder_depth(c.chunk[i]), 1);
    }
}

/* An emit that fails ends the push, and nothing is leaked or freed twice. */
TEST_WITH(refusal, begin, end)
{
    c.refuse = true;
    g = hand_chunker(STREAM_MPEG2, 1, &c);
    bool ok = true;
    int pushed = 0;
    for (; pushed < 500 && ok; pushed++) {
        struct picture p = {.packet = packet_make(1),
                            .serial = next_serial++,
                            .pts_us = pushed * 40000,
                            .order = pushed % 10,
                            .rap = pushed % 10 ? RAP_NONE : RAP_OPEN,
                            .closed = true};
        ok = chunker_push(g, &p, &e);
    }
    assert_false(ok);
    assert_true(pushed > CHUNK_PICTURES && pushed < 2 * CHUNK_PICTURES);
    assert_string_equal(e.text, "no more");
}

TEST_WITH(counting_alone, begin, end)
{
    g = hand_chunker(STREAM_VP9, 2, NULL);
    push_gops(g, 10, 30, true);
    assert_true(chunker_end(g, &e));
    struct chunker_counts n = chunker_counts_now(g);
    assert_int_equal(n.displayed, 300);
    assert_int_equal(n.chunks, 0);
}

TEST_WITH(empty_film, begin, end)
{
    g = hand_chunker(STREAM_H264, 1, &c);
    assert_false(chunker_stuck(g, false));
    assert_false(chunker_stuck(g, true));
    assert_false(chunker_done(g));
    assert_true(chunker_end(g, &e));
    assert_int_equal(c.chunks, 0);
    assert_int_equal(chunker_last_us(g), -1);
    chunker_free(&g);
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

/* ------------------------------------------------------------------ frames that are there already
 */

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
    struct chunker_config config = {
        .selection = {.every = 5, .end_us = INT64_MAX},
        .clock = {.frame_us = 40000, .origin_us = TIME_NONE, .wraps = true},
        .traits = codec_traits(STREAM_VP9),
        .columns = columns_open(0, 0, NULL),
        .frame_times = frame_times_open(NULL),
        .have = is_there,
        .have_user = &t,
        .emit = catch_run,
        .user = &c};
    g = chunker_open(&config, NULL);
    assert_true(g && config.columns && config.frame_times);
    frame_times_begin(config.frame_times, 40000);
    push_gops(g, 10, 10, true);
    assert_true(chunker_end(g, &e));
    assert_int_equal(columns_count(config.columns), 20);
    struct frame_times_walked walked;
    struct selection all = {.every = 1, .end_us = INT64_MAX};
    size_t timed = 0;
    /* it was not told of an end */
    assert_false(frame_times_walk(config.frame_times, &all, count_pick, &timed, &walked));
    assert_int_equal(timed, 100);
    assert_int_equal(t.taken, 2 * 4); /* the GOPs of frames 20 to 59 */
    size_t selected = 0;
    for (size_t r = 0; r < c.chunks; r++)
        for (size_t i = 0; i < c.chunk[r]->count; i++) {
            assert_false(c.chunk[r]->picture[i].frame >= 20 && c.chunk[r]->picture[i].frame < 60);
            selected += c.chunk[r]->picture[i].selected;
        }
    assert_int_equal(selected, 20 - 8);
    chunker_free(&g);
    columns_free(&config.columns);
    frame_times_free(&config.frame_times);
}
