/*
 * chunker_trial.h - random films through a chunker. chunker_trial compares with a model that knows
 * the whole film at once: walk the displayed frames in order and ask the selection. chunker_chaos
 * takes pictures of no film at all. Both return the first broken promise, or NULL.
 */
#ifndef BARCODE_TESTS_CHUNKER_TRIAL_H
#define BARCODE_TESTS_CHUNKER_TRIAL_H

#include "media/gop/chunker.h"
#include "barcode/engine/column.h"
#include "random_film.h"

/* Notes in *broken the first promise that is not kept. */
static inline bool demand(const char **broken, bool ok, const char *promise)
{
    if (!ok && !*broken)
        *broken = promise;
    return ok;
}

struct trial {
    struct random_film film;
    struct chunker_config config;
    struct columns *columns;
    struct chunk **chunk; /* what was emitted */
    size_t chunks, runs_room;
    struct frame_tag *expected; /* [frames]; repeat 0: not selected */
    struct frame_tag *got;      /* [frames], from wanted pictures */
    int *times;                 /* [frames] how often it was wanted */
    size_t odd_at;              /* pictures after which the caller gives up runs by itself */
    bool stuck;
    const char *broken;
};

/* ------------------------------------------------------------------ the model */

/* Film times by the words of timeline.h, for films whose times never jump. */
static inline int64_t *model_times(const struct random_film *f)
{
    int64_t *time = malloc((f->frames + 1) * sizeof *time), base = TIME_NONE, last = -1;
    if (!time)
        abort();
    for (size_t n = 0; n < f->frames; n++) {
        int64_t pts = f->picture[f->shown[n]].pts_us,
                expected = last < 0 ? 0 : last + f->shape.step_us;
        if (pts != TIME_NONE && base == TIME_NONE)
            base = pts - expected;
        time[n] = pts == TIME_NONE ? expected : pts - base < 0 ? 0 : pts - base;
        last = time[n];
    }
    return time;
}

static inline void model_selection(struct trial *t)
{
    struct random_film *f = &t->film;
    struct selection_cursor cursor = selection_begin(&t->config.selection);
    int64_t *time = model_times(f);
    t->expected = calloc(f->frames + 1, sizeof *t->expected);
    t->got = calloc(f->frames + 1, sizeof *t->got);
    t->times = calloc(f->frames + 1, sizeof *t->times);
    if (!t->expected || !t->got || !t->times)
        abort();
    for (size_t n = 0; n < f->frames; n++) {
        bool last = n + 1 == f->frames;
        int64_t next = last ? selection_last_until(&t->config.selection, time[n], f->shape.step_us)
                            : time[n + 1];
        struct frame_tag *tag = &t->expected[n];
        *tag = (struct frame_tag){.frame = n, .time_us = time[n]};
        tag->repeat = selection_take(&cursor, time[n], next, &tag->column);
    }
    free(time);
}

/* ------------------------------------------------------------------ what the chunker emits */

static inline bool keep_run(void *user, struct chunk *chunk, struct err *e)
{
    (void)e;
    struct trial *t = user;
    if (t->chunks == t->runs_room) {
        t->runs_room = t->runs_room ? t->runs_room * 2 : 16;
        t->chunk = realloc(t->chunk, t->runs_room * sizeof *t->chunk);
        if (!t->chunk)
            abort();
    }
    t->chunk[t->chunks++] = chunk;
    return true;
}

static inline bool same_tag(const struct frame_tag *a, const struct frame_tag *b)
{
    return a->column == b->column && a->repeat == b->repeat && a->frame == b->frame &&
           a->time_us == b->time_us;
}

/* A wanted picture: the right one, with all that its decoding needs in the same run. */
static inline void check_wanted(struct trial *t, const struct chunk *r, const struct picture *p)
{
    const struct truth *truth = &t->film.truth[p->serial];
    if (!demand(&t->broken, !p->hidden && truth->number >= 0,
                "a picture is wanted that is never displayed"))
        return;
    demand(&t->broken, (int64_t)p->frame == truth->number,
           "a wanted picture has another number than its place in display order");
    t->got[truth->number] = p->tag;
    t->times[truth->number]++;
    for (int i = 0; i < 2; i++)
        demand(&t->broken, truth->refs[i] < 0 || truth->refs[i] >= (long)r->picture[0].serial,
               "a wanted picture refers to one before its run");
}

static inline void check_run(struct trial *t, const struct chunk *r)
{
    if (!demand(&t->broken, r->count > 0 && r->own >= 1 && r->own <= r->count, "a run is empty"))
        return;
    size_t selected = 0, bytes = 0;
    demand(&t->broken, r->picture[0].rap != RAP_NONE, "a run does not begin with a cut");
    for (size_t i = 0; i < r->count; i++) {
        const struct picture *p = &r->picture[i];
        demand(&t->broken, p->serial == r->picture[0].serial + i,
               "serials in a run are not consecutive");
        if (!demand(&t->broken, p->serial < t->film.count && p->packet,
                    "a picture of a run has no packet"))
            return;
        demand(&t->broken, packet_size(p->packet) == p->serial % 97 + 1,
               "a picture has another picture's packet");
        bytes += packet_size(p->packet);
        selected += p->selected;
        if (p->selected)
            check_wanted(t, r, p);
    }
    demand(&t->broken, selected == r->selected, "a run's count of wanted pictures is wrong");
    demand(&t->broken, bytes == r->bytes, "a run's bytes are wrong");
    demand(&t->broken, selected > 0, "a run without a wanted picture was emitted");
    for (size_t i = r->own; i < r->count; i++)
        demand(&t->broken,
               t->film.truth[r->picture[i].serial].gop ==
                   t->film.truth[r->picture[r->own].serial].gop,
               "extras come from more than one GOP");
}

/* ------------------------------------------------------------------ the trial */

static inline bool push(struct trial *t, struct chunker *g, size_t i, struct err *e)
{
    struct picture p = t->film.picture[i];
    p.packet = packet_make(i % 97 + 1);
    return demand(&t->broken, chunker_push(g, &p, e), "chunker_push failed");
}

/* What a sequential decoder does with the pictures that the chunker could not make a chunk of. */
static inline void go_on_sequentially(struct trial *t, struct chunker *g, size_t next,
                                      struct err *e)
{
    struct random_film *f = &t->film;
    struct chunker_state s;
    if (!demand(&t->broken, chunker_release(g, &s, e), "chunker_release failed"))
        return;
    demand(&t->broken, s.held != NULL, "chunker_release gave no pictures");
    bool *here = calloc(f->frames + 1, sizeof *here);
    if (!here)
        abort();
    for (size_t i = 0; i < s.held->count; i++) {
        const struct picture *p = &s.held->picture[i];
        demand(&t->broken, p->serial == next - s.held->count + i,
               "the released pictures are not the last ones");
        if (!p->leading && !p->hidden && f->truth[p->serial].number >= 0)
            here[f->truth[p->serial].number] = true;
    }
    for (size_t i = next; i < f->count; i++)
        if (f->truth[i].number >= 0)
            here[f->truth[i].number] = true;
    for (size_t n = 0; n < f->frames; n++) {
        demand(&t->broken, here[n] == (n >= s.next_frame),
               "numbering does not go on where it stopped");
        if (n < s.next_frame)
            continue;
        struct frame_tag tag = t->expected[n];
        int64_t until = n + 1 < f->frames ? t->expected[n + 1].time_us
                                          : selection_last_until(&t->config.selection, tag.time_us,
                                                                 f->shape.step_us);
        demand(&t->broken, timeline_at(&s.timeline, f->picture[f->shown[n]].pts_us) == tag.time_us,
               "the released timeline is not right");
        timeline_step(&s.timeline, tag.time_us);
        tag.repeat = selection_take(&s.cursor, tag.time_us, until, &tag.column);
        t->got[n] = tag;
        t->times[n] += tag.repeat > 0;
    }
    free(here);
    chunk_free(&s.held);
}

static inline void run_chunker(struct trial *t)
{
    struct err e = ERR_INIT;
    struct chunker *g = chunker_open(&t->config, &e);
    size_t i = 0;
    bool ok = g != NULL, done = false;
    for (; i < t->film.count && ok && !done && !t->stuck; i++) {
        ok = push(t, g, i, &e);
        done = chunker_done(g);
        t->stuck = chunker_stuck(g, false) || i + 1 == t->odd_at;
    }
    t->stuck |= !done && chunker_stuck(g, i == t->film.count);
    if (ok && t->stuck)
        go_on_sequentially(t, g, i, &e);
    else if (ok)
        demand(&t->broken, chunker_end(g, &e), "chunker_end failed");
    struct chunker_counts c = chunker_counts_now(g);
    demand(&t->broken, c.chunks == t->chunks, "the count of runs is wrong");
    demand(&t->broken, t->stuck || done || c.displayed == t->film.frames,
           "not every displayed frame was numbered");
    demand(&t->broken, t->stuck || c.lead_in == (uint64_t)t->film.shape.lead_in,
           "the count of lead-in packets is wrong");
    chunker_free(&g);
    demand(&t->broken, g == NULL, "chunker_free left a pointer");
}

/* Every selected frame is announced where it belongs, and nothing else is. */
static inline void check_columns(struct trial *t)
{
    uint64_t columns = 0;
    for (size_t n = 0; n < t->film.frames; n++) {
        const struct frame_tag *want = &t->expected[n];
        demand(&t->broken, t->times[n] == (want->repeat > 0),
               "a selected frame is not wanted exactly once");
        if (want->repeat == 0)
            continue;
        demand(&t->broken, same_tag(want, &t->got[n]), "a wanted frame has the wrong tag");
        if (!t->stuck) {
            const struct column *c = columns_get(t->columns, want->column);
            demand(&t->broken,
                   c->frame == n && c->time_us == want->time_us && c->repeat == want->repeat &&
                       c->status == COLUMN_MISSING,
                   "a wanted frame is not announced in the columns");
        }
        columns = want->column + want->repeat;
    }
    demand(&t->broken, t->stuck || columns_count(t->columns) == columns,
           "the number of columns is wrong");
}

static inline struct selection random_selection(struct dice *d, int64_t duration_us)
{
    struct selection s = {.kind = (enum selection_kind)roll(d, 3), .end_us = INT64_MAX};
    s.every = 1 + roll(d, 40);
    s.interval_us = 1 + (int64_t)roll(d, 3000000);
    s.columns = 1 + roll(d, 200);
    if (chance(d, 30))
        s.start_us = (int64_t)roll(d, (uint64_t)duration_us + 1);
    if (chance(d, 30) || s.kind == SELECT_COLUMNS)
        s.end_us = s.start_us + 1 + (int64_t)roll(d, (uint64_t)duration_us + 1);
    /* 65,536 columns a frame are enough. */
    if (s.kind == SELECT_INTERVAL && s.interval_us < 100)
        s.interval_us = 100;
    return s;
}

static inline const char *chunker_trial(const struct film_shape *shape, struct dice *d, bool *stuck)
{
    struct trial t = {.film = random_film_make(shape, d)};
    long packets = live_packets;
    t.columns = columns_open(0, 0, NULL);
    t.config = (struct chunker_config){
        .selection = random_selection(d, t.film.next_rank * shape->step_us),
        .traits = codec_traits(shape->stream),
        .clock = {.frame_us = shape->step_us, .origin_us = TIME_NONE, .wraps = true},
        .columns = t.columns,
        .emit = keep_run,
        .user = &t,
    };
    /* Reading stops at the end of the selection. Times of decoding may go back before it. */
    if (shape->decoding_times) {
        t.config.selection.end_us = INT64_MAX;
        if (t.config.selection.kind == SELECT_COLUMNS)
            t.config.selection.kind = SELECT_EVERY;
    }
    t.odd_at = chance(d, 20) ? (size_t)roll(d, t.film.count + 1) : 0;
    model_selection(&t);
    run_chunker(&t);
    for (size_t i = 0; i < t.chunks; i++)
        check_run(&t, t.chunk[i]);
    check_columns(&t);
    for (size_t i = 0; i < t.chunks; i++)
        chunk_free(&t.chunk[i]);
    demand(&t.broken, live_packets == packets, "a packet was lost or freed twice");
    *stuck = t.stuck;
    columns_free(&t.columns);
    random_film_free(&t.film);
    free(t.chunk);
    free(t.expected);
    free(t.got);
    free(t.times);
    return t.broken;
}

/* ------------------------------------------------------------------ pictures of no film at all */

/*
 * Random cuts, times, orders and flags. There is no right display order then, but these hold: every
 * wanted picture is in exactly one chunk, as wanted once; the columns of the wanted ones lie side by
 * side without a gap; runs are consecutive and begin with a cut; no packet is lost.
 */
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

static inline void take_tag(struct chaos *c, const struct picture *p)
{
    demand(&c->broken, !p->hidden, "a hidden picture is wanted");
    demand(&c->broken, p->tag.repeat > 0 && p->tag.time_us >= 0 && p->tag.frame == p->frame,
           "a wanted picture's tag is not filled");
    if (!demand(&c->broken, p->frame < CHAOS_PICTURES && c->tags < CHAOS_PICTURES,
                "more frames than pictures"))
        return;
    demand(&c->broken, !c->frame_seen[p->frame], "a frame is wanted twice");
    c->frame_seen[p->frame] = true;
    c->tag[c->tags++] = p->tag;
}

static inline bool take_run(void *user, struct chunk *r, struct err *e)
{
    struct chaos *c = user;
    size_t selected = 0, bytes = 0;
    demand(&c->broken, r->count > 0 && r->own > 0 && r->own <= r->count, "a run is empty");
    demand(&c->broken, r->count == 0 || r->picture[0].rap != RAP_NONE,
           "a run does not begin with a cut");
    for (size_t i = 0; i < r->count; i++) {
        const struct picture *p = &r->picture[i];
        demand(&c->broken, p->serial == r->picture[0].serial + i,
               "serials in a run are not consecutive");
        demand(&c->broken, p->packet && packet_size(p->packet) == p->serial + 1,
               "a picture has another one's packet");
        selected += p->selected;
        bytes += packet_size(p->packet);
        if (p->selected)
            take_tag(c, p);
    }
    demand(&c->broken, selected == r->selected && selected > 0 && bytes == r->bytes,
           "a run's sums are wrong");
    struct codec_traits t = codec_traits(STREAM_H264);
    chunk_plan(r, &t, chance(c->dice, 50));
    demand(&c->broken, chunk_reorder_depth(r) >= 0, "a negative delay");
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
        demand(&c->broken, c->tag[i].column == at,
               "the columns of the wanted pictures do not lie side by side");
        at = c->tag[i].column + c->tag[i].repeat;
    }
    demand(&c->broken, at == end, "a selected picture is in no run");
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
    demand(&c.broken, ok == (e.code == ERR_NONE),
           "a failure without a sentence, or the other way round");
    demand(&c.broken, chunker_counts_now(g).displayed <= i, "more frames than pictures");
    if (ok)
        check_cover(&c, stuck ? s.cursor.column : columns_count(columns));
    chunk_free(&s.held);
    chunker_free(&g);
    columns_free(&columns);
    demand(&c.broken, live_packets == packets, "a packet was lost or freed twice");
    return c.broken;
}

#endif
