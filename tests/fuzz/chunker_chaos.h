/*
 * chunker_chaos.h - pictures of no film at all through a chunker: random cuts, times, orders and
 * flags. There is no right display order then, but these hold: every wanted picture is in exactly
 * one chunk, as wanted once; the columns of the wanted ones lie side by side without a gap; runs
 * are consecutive and begin with a cut; no packet is lost. Returns the first broken promise, or
 * NULL.
 */
#ifndef BARCODE_TESTS_CHUNKER_CHAOS_H
#define BARCODE_TESTS_CHUNKER_CHAOS_H

#include "media/gop/chunker.h"
#include "barcode/engine/column.h"
#include "random_film.h"

enum { CHAOS_PICTURES = 400 };

struct chaos {
    struct dice *dice;
    struct frame_tag tag[CHAOS_PICTURES]; /* of wanted pictures, as they come */
    size_t tags;
    bool frame_seen[CHAOS_PICTURES];
    uint64_t last_serial;
    int refuse; /* percent of chunks that are refused */
    const char *broken;
};

static inline bool expect(struct chaos *c, bool ok, const char *promise)
{
    if (!ok && !c->broken)
        c->broken = promise;
    return ok;
}

static inline void take_tag(struct chaos *c, const struct picture *p)
{
    expect(c, !p->hidden, "a hidden picture is wanted");
    expect(c, p->tag.repeat > 0 && p->tag.time_us >= 0 && p->tag.frame == p->frame,
           "a wanted picture's tag is not filled");
    if (!expect(c, p->frame < CHAOS_PICTURES && c->tags < CHAOS_PICTURES,
                "more frames than pictures"))
        return;
    expect(c, !c->frame_seen[p->frame], "a frame is wanted twice");
    c->frame_seen[p->frame] = true;
    c->tag[c->tags++] = p->tag;
}

static inline bool take_run(void *user, struct chunk *r, struct err *e)
{
    struct chaos *c = user;
    size_t selected = 0, bytes = 0;
    expect(c, r->count > 0 && r->own > 0 && r->own <= r->count, "a run is empty");
    expect(c, r->count == 0 || r->picture[0].rap != RAP_NONE, "a run does not begin with a cut");
    for (size_t i = 0; i < r->count; i++) {
        const struct picture *p = &r->picture[i];
        expect(c, p->serial == r->picture[0].serial + i, "serials in a run are not consecutive");
        expect(c, p->packet && packet_size(p->packet) == p->serial + 1,
               "a picture has another one's packet");
        selected += p->selected;
        bytes += packet_size(p->packet);
        if (p->selected)
            take_tag(c, p);
    }
    expect(c, selected == r->selected && selected > 0 && bytes == r->bytes,
           "a run's sums are wrong");
    struct codec_traits t = codec_traits(STREAM_H264);
    chunk_plan(r, &t, chance(c->dice, 50));
    expect(c, chunk_reorder_depth(r) >= 0, "a negative delay");
    chunk_free(&r);
    return !chance(c->dice, c->refuse) || err_set(e, ERR_FAILED, "refused");
}

static inline struct picture chaos_picture(struct dice *d, uint64_t serial, bool wild)
{
    static const int64_t odd[] = {TIME_NONE, INT64_MAX,        INT64_MIN + 1,       0,
                                  -1,        (int64_t)1 << 60, -((int64_t)1 << 60), 1};
    struct picture p = {.packet = packet_make(serial + 1), .serial = serial, .order = TIME_NONE};
    p.rap = chance(d, 85) ? RAP_NONE : (enum rap)(1 + roll(d, 2));
    p.pts_us = wild && chance(d, 30) ? odd[roll(d, 8)] : (int64_t)roll(d, 40000) * 1000;
    if (chance(d, 60))
        p.order = wild && chance(d, 10) ? odd[roll(d, 8)] : (int64_t)roll(d, 60) - 30;
    p.hidden = chance(d, 10);
    p.closed = chance(d, 50);
    p.needs_before = chance(d, 20);
    p.marked_leading = chance(d, 30);
    p.droppable = chance(d, 50);
    p.temporal_id = (int)roll(d, 7);
    return p;
}

static inline int by_column(const void *a, const void *b)
{
    const struct frame_tag *p = a, *q = b;
    return (p->column > q->column) - (p->column < q->column);
}

/* What was wanted covers exactly the columns [0, end). */
static inline void check_cover(struct chaos *c, uint64_t end)
{
    uint64_t at = 0;
    qsort(c->tag, c->tags, sizeof *c->tag, by_column);
    for (size_t i = 0; i < c->tags; i++) {
        expect(c, c->tag[i].column == at,
               "the columns of the wanted pictures do not lie side by side");
        at = c->tag[i].column + c->tag[i].repeat;
    }
    expect(c, at == end, "a selected picture is in no run");
}

static inline struct chunker_config chaos_config(struct chaos *c, struct columns *columns)
{
    struct dice *d = c->dice;
    struct chunker_config config = {
        .selection = {.kind = (enum selection_kind)roll(d, 3),
                      .every = 1 + roll(d, 9),
                      .interval_us = 1000 + (int64_t)roll(d, 2000000),
                      .columns = 1 + roll(d, 300),
                      .start_us = chance(d, 30) ? (int64_t)roll(d, 9000000) : 0,
                      .end_us = INT64_MAX},
        .traits = codec_traits((enum bitstream)(1 + roll(d, 6))),
        .clock = {.frame_us = 1 + (int64_t)roll(d, 60000), .origin_us = TIME_NONE, .wraps = true},
        .columns = columns,
        .emit = take_run,
        .user = c,
    };
    if (config.selection.kind == SELECT_COLUMNS || chance(d, 30))
        config.selection.end_us = config.selection.start_us + 1 + (int64_t)roll(d, 30000) * 1000;
    return config;
}

static inline const char *chunker_chaos(struct dice *d)
{
    struct chaos c = {.dice = d, .refuse = chance(d, 10) ? 10 : 0};
    struct err e = ERR_INIT;
    long packets = live_packets;
    struct columns *columns = columns_open(0, 0, NULL);
    struct chunker_config config = chaos_config(&c, columns);
    struct chunker *g = chunker_open(&config, &e);
    size_t n = (size_t)roll(d, CHAOS_PICTURES),
           odd_at = chance(d, 30) ? (size_t)roll(d, n + 1) : n + 1, i = 0;
    bool wild = chance(d, 30), ok = true, stuck = false;
    for (; i < n && i != odd_at && ok && !chunker_done(g); i++) {
        struct picture p = chaos_picture(d, i, wild);
        ok = chunker_push(g, &p, &e);
    }
    stuck = i == odd_at || chunker_stuck(g, true);
    struct chunker_state s = {.held = NULL};
    if (ok && stuck)
        ok = chunker_release(g, &s, &e);
    else if (ok)
        ok = chunker_end(g, &e);
    expect(&c, ok == (e.code == ERR_NONE), "a failure without a sentence, or the other way round");
    expect(&c, chunker_counts_now(g).displayed <= i, "more frames than pictures");
    if (ok)
        check_cover(&c, stuck ? s.cursor.column : columns_count(columns));
    chunk_free(&s.held);
    chunker_free(&g);
    columns_free(&columns);
    expect(&c, live_packets == packets, "a packet was lost or freed twice");
    return c.broken;
}

#endif
