#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "media/select/frame_times.h"

enum { FRAME_US = 41667, FRAMES = 400 };

/* A film whose steps wander: mostly a frame, sometimes none, sometimes long; checked every `gop`
 * frames. */
static struct frame_times *make(int gop, bool whole)
{
    struct frame_times *t = frame_times_open(NULL);
    assert_non_null(t);
    frame_times_begin(t, FRAME_US);
    int64_t time = 0;
    for (int i = 0; i < FRAMES; i++) {
        int64_t next = time + (i % 17 == 3 ? 900000 : i % 29 == 5 ? 0 : FRAME_US);
        frame_times_add(t, time, i + 1 == FRAMES ? FRAME_TIMES_OPEN : next);
        if (i % gop == gop - 1)
            frame_times_check(t);
        time = next;
    }
    if (whole)
        frame_times_end(t);
    return t;
}

struct picked {
    struct frame_tag tag[4 * FRAMES];
    size_t count, most;
};

static bool pick(void *user, const struct frame_tag *tag)
{
    struct picked *p = user;
    if (p->count == p->most)
        return false;
    p->tag[p->count++] = *tag;
    return true;
}

static bool walk(const struct frame_times *t, const struct selection *rule, struct picked *p,
                 struct frame_times_walked *w)
{
    *p = (struct picked){.most = 4 * FRAMES};
    return frame_times_walk(t, rule, pick, p, w);
}

static const struct selection all = {.kind = SELECT_EVERY, .every = 1, .end_us = INT64_MAX};

TEST(picks_what_the_selection_picks)
{
    static const struct selection rule[] = {
        {.kind = SELECT_EVERY, .every = 7, .end_us = INT64_MAX},
        {.kind = SELECT_EVERY, .every = 3, .start_us = 2000000, .end_us = 9000000},
        {.kind = SELECT_INTERVAL, .interval_us = 333333, .end_us = INT64_MAX},
        {.kind = SELECT_INTERVAL, .interval_us = 100000, .start_us = 1234567, .end_us = 7654321},
        {.kind = SELECT_COLUMNS, .columns = 91, .end_us = 30000000},
    };
    struct frame_times *t = make(20, true);
    static struct picked everything, some;
    struct frame_times_walked w;
    assert_true(walk(t, &all, &everything, &w));
    assert_int_equal(everything.count, FRAMES);
    assert_int_equal(w.displayed, FRAMES);
    for (size_t r = 0; r < sizeof rule / sizeof *rule; r++) {
        assert_true(walk(t, &rule[r], &some, &w));
        assert_true(some.count > 0 && some.count < FRAMES);
        struct selection_cursor c = selection_begin(&rule[r]);
        size_t n = 0;
        for (uint64_t i = 0; i < w.displayed; i++) {
            int64_t time = everything.tag[i].time_us;
            int64_t next = i + 1 < FRAMES ? everything.tag[i + 1].time_us
                                          : selection_last_until(&rule[r], time, FRAME_US);
            uint64_t column;
            uint32_t repeat = selection_take(&c, time, next, &column);
            if (repeat == 0)
                continue;
            const struct frame_tag *tag = &some.tag[n++];
            assert_true(tag->frame == i && tag->time_us == time && tag->column == column &&
                        tag->repeat == repeat);
        }
        assert_int_equal(n, some.count);
    }
    frame_times_free(&t);
}

/* A walk ends at the first check at which nothing more is wanted, as reading would. */
TEST(stops_at_checks)
{
    struct frame_times *t = make(20, false);
    static struct picked p;
    struct frame_times_walked w;
    struct selection rule = all;
    assert_false(walk(t, &rule, &p, &w)); /* not whole, and all is wanted */
    rule.end_us = 3000000;
    assert_true(walk(t, &rule, &p, &w));
    assert_int_equal(w.displayed % 20, 0);
    assert_true(w.last_us >= rule.end_us && w.displayed < FRAMES);
    frame_times_end(t);
    rule.end_us = INT64_MAX;
    assert_true(walk(t, &rule, &p, &w));
    assert_int_equal(w.displayed, FRAMES);
    frame_times_free(&t);
}

TEST(what_follows_a_stop_is_not_kept)
{
    struct frame_times *t = make(20, false);
    frame_times_stop(t);
    frame_times_add(t, INT64_C(100000000), INT64_C(100041667));
    frame_times_check(t);
    frame_times_end(t);
    static struct picked p;
    struct frame_times_walked w;
    assert_false(walk(t, &all, &p, &w));
    assert_int_equal(p.count, FRAMES);
    assert_int_equal(w.displayed, FRAMES);
    frame_times_begin(t, FRAME_US); /* a second staging starts over */
    assert_false(walk(t, &all, &p, &w));
    assert_int_equal(p.count, 0);
    assert_int_equal(w.displayed, 0);
    frame_times_add(t, 0, FRAME_TIMES_OPEN);
    frame_times_end(t);
    assert_true(walk(t, &all, &p, &w));
    assert_int_equal(p.count, 1);
    frame_times_free(&t);
}

TEST(a_refused_pick_ends_it)
{
    struct frame_times *t = make(20, true);
    static struct picked p;
    struct frame_times_walked w;
    p = (struct picked){.most = 5};
    assert_false(frame_times_walk(t, &all, pick, &p, &w));
    assert_int_equal(p.count, 5);
    frame_times_free(&t);
    assert_false(frame_times_walk(NULL, &all, pick, &p, &w));
    frame_times_add(NULL, 0, 0);
    frame_times_check(NULL);
    frame_times_stop(NULL);
    frame_times_end(NULL);
}

TEST(times_that_prove_nothing)
{
    static const int64_t bad[][2] = {
        {-1, 5}, {INT64_C(1) << 58, FRAME_TIMES_OPEN}, {7, -3}, {7, INT64_C(1) << 58}, {6, 8}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct frame_times *t = frame_times_open(NULL);
        frame_times_begin(t, FRAME_US);
        frame_times_add(t, 7, 7);
        frame_times_add(t, bad[i][0], bad[i][1]);
        frame_times_add(t, 100, FRAME_TIMES_OPEN);
        frame_times_end(t);
        static struct picked p;
        struct frame_times_walked w;
        assert_false(walk(t, &all, &p, &w));
        struct wire_out o = {0};
        frame_times_encode(t, &o);
        frame_times_free(&t);
        struct wire_in in = wire_read(o.data, o.count);
        t = frame_times_decode(&in);
        assert_non_null(t);
        assert_false(walk(t, &all, &p, &w));
        frame_times_free(&t);
        wire_free(&o);
    }
}

TEST(there_and_back)
{
    static struct picked a, b;
    for (int whole = 0; whole < 2; whole++) {
        struct frame_times *t = make(13, whole);
        struct wire_out o = {0};
        frame_times_encode(t, &o);
        assert_true(o.count < FRAMES * 5);
        wire_put_u32(&o, 77);
        struct wire_in in = wire_read(o.data, o.count);
        struct frame_times *u = frame_times_decode(&in);
        assert_non_null(u);
        assert_int_equal(wire_u32(&in), 77); /* it takes its own bytes and no more */
        for (int64_t end = 0; end < INT64_C(30000000); end += 1700000) {
            struct selection rule = all;
            struct frame_times_walked v, w;
            rule.end_us = end;
            assert_int_equal(walk(t, &rule, &a, &v), walk(u, &rule, &b, &w));
            assert_true(v.displayed == w.displayed && v.last_us == w.last_us && a.count == b.count);
            for (size_t i = 0; i < a.count; i++)
                assert_memory_equal(&a.tag[i], &b.tag[i], sizeof a.tag[i]);
        }
        frame_times_free(&t);
        frame_times_free(&u);
        wire_free(&o);
    }
}

/* Cut anywhere, or with any byte changed: no frame times, or one that can be walked. */
TEST(broken_bytes)
{
    struct frame_times *t = make(13, true);
    struct wire_out o = {0};
    frame_times_encode(t, &o);
    frame_times_free(&t);
    static struct picked p;
    struct frame_times_walked w;
    for (size_t cut = 0; cut < o.count; cut++) {
        struct wire_in in = wire_read(o.data, cut);
        assert_null(frame_times_decode(&in));
    }
    for (size_t at = 0; at < o.count; at++)
        for (int change = 1; change < 256; change += 27) {
            o.data[at] ^= (uint8_t)change;
            struct wire_in in = wire_read(o.data, o.count);
            t = frame_times_decode(&in);
            if (t)
                walk(t, &all, &p, &w);
            frame_times_free(&t);
            o.data[at] ^= (uint8_t)change;
        }
    wire_free(&o);
}
