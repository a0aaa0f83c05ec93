
#include "test.h"
#include "chunker_hand.h"

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
