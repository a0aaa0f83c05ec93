/*
 * chunker_trial.h - one random film through a chunker, against a model that knows the whole film at
 * once: walk the displayed frames in order and ask the selection. Returns the first broken promise,
 * or NULL.
 */
#ifndef BARCODE_TESTS_CHUNKER_TRIAL_H
#define BARCODE_TESTS_CHUNKER_TRIAL_H

#include "media/gop/chunker.h"
#include "barcode/engine/column.h"
#include "random_film.h"

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

static inline bool demand(struct trial *t, bool ok, const char *promise)
{
    if (!ok && !t->broken)
        t->broken = promise;
    return ok;
}

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
    if (!demand(t, !p->hidden && truth->number >= 0, "a picture is wanted that is never displayed"))
        return;
    demand(t, (int64_t)p->frame == truth->number,
           "a wanted picture has another number than its place in display order");
    t->got[truth->number] = p->tag;
    t->times[truth->number]++;
    for (int i = 0; i < 2; i++)
        demand(t, truth->refs[i] < 0 || truth->refs[i] >= (long)r->picture[0].serial,
               "a wanted picture refers to one before its run");
}

static inline void check_run(struct trial *t, const struct chunk *r)
{
    if (!demand(t, r->count > 0 && r->own >= 1 && r->own <= r->count, "a run is empty"))
        return;
    size_t selected = 0, bytes = 0;
    demand(t, r->picture[0].rap != RAP_NONE, "a run does not begin with a cut");
    for (size_t i = 0; i < r->count; i++) {
        const struct picture *p = &r->picture[i];
        demand(t, p->serial == r->picture[0].serial + i, "serials in a run are not consecutive");
        if (!demand(t, p->serial < t->film.count && p->packet, "a picture of a run has no packet"))
            return;
        demand(t, packet_size(p->packet) == p->serial % 97 + 1,
               "a picture has another picture's packet");
        bytes += packet_size(p->packet);
        selected += p->selected;
        if (p->selected)
            check_wanted(t, r, p);
    }
    demand(t, selected == r->selected, "a run's count of wanted pictures is wrong");
    demand(t, bytes == r->bytes, "a run's bytes are wrong");
    demand(t, selected > 0, "a run without a wanted picture was emitted");
    for (size_t i = r->own; i < r->count; i++)
        demand(t,
               t->film.truth[r->picture[i].serial].gop ==
                   t->film.truth[r->picture[r->own].serial].gop,
               "extras come from more than one GOP");
}

/* ------------------------------------------------------------------ the trial */

static inline bool push(struct trial *t, struct chunker *g, size_t i, struct err *e)
{
    struct picture p = t->film.picture[i];
    p.packet = packet_make(i % 97 + 1);
    return demand(t, chunker_push(g, &p, e), "chunker_push failed");
}

/* What a sequential decoder does with the pictures that the chunker could not make a chunk of. */
static inline void go_on_sequentially(struct trial *t, struct chunker *g, size_t next,
                                      struct err *e)
{
    struct random_film *f = &t->film;
    struct chunker_state s;
    if (!demand(t, chunker_release(g, &s, e), "chunker_release failed"))
        return;
    demand(t, s.held != NULL, "chunker_release gave no pictures");
    bool *here = calloc(f->frames + 1, sizeof *here);
    if (!here)
        abort();
    for (size_t i = 0; i < s.held->count; i++) {
        const struct picture *p = &s.held->picture[i];
        demand(t, p->serial == next - s.held->count + i,
               "the released pictures are not the last ones");
        if (!p->leading && !p->hidden && f->truth[p->serial].number >= 0)
            here[f->truth[p->serial].number] = true;
    }
    for (size_t i = next; i < f->count; i++)
        if (f->truth[i].number >= 0)
            here[f->truth[i].number] = true;
    for (size_t n = 0; n < f->frames; n++) {
        demand(t, here[n] == (n >= s.next_frame), "numbering does not go on where it stopped");
        if (n < s.next_frame)
            continue;
        struct frame_tag tag = t->expected[n];
        int64_t until = n + 1 < f->frames ? t->expected[n + 1].time_us
                                          : selection_last_until(&t->config.selection, tag.time_us,
                                                                 f->shape.step_us);
        demand(t, timeline_at(&s.timeline, f->picture[f->shown[n]].pts_us) == tag.time_us,
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
        demand(t, chunker_end(g, &e), "chunker_end failed");
    struct chunker_counts c = chunker_counts_now(g);
    demand(t, c.chunks == t->chunks, "the count of runs is wrong");
    demand(t, t->stuck || done || c.displayed == t->film.frames,
           "not every displayed frame was numbered");
    demand(t, t->stuck || c.lead_in == (uint64_t)t->film.shape.lead_in,
           "the count of lead-in packets is wrong");
    chunker_free(&g);
    demand(t, g == NULL, "chunker_free left a pointer");
}

/* Every selected frame is announced where it belongs, and nothing else is. */
static inline void check_columns(struct trial *t)
{
    uint64_t columns = 0;
    for (size_t n = 0; n < t->film.frames; n++) {
        const struct frame_tag *want = &t->expected[n];
        demand(t, t->times[n] == (want->repeat > 0), "a selected frame is not wanted exactly once");
        if (want->repeat == 0)
            continue;
        demand(t, same_tag(want, &t->got[n]), "a wanted frame has the wrong tag");
        if (!t->stuck) {
            const struct column *c = columns_get(t->columns, want->column);
            demand(t,
                   c->frame == n && c->time_us == want->time_us && c->repeat == want->repeat &&
                       c->status == COLUMN_MISSING,
                   "a wanted frame is not announced in the columns");
        }
        columns = want->column + want->repeat;
    }
    demand(t, t->stuck || columns_count(t->columns) == columns, "the number of columns is wrong");
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
    demand(&t, live_packets == packets, "a packet was lost or freed twice");
    *stuck = t.stuck;
    columns_free(&t.columns);
    random_film_free(&t.film);
    free(t.chunk);
    free(t.expected);
    free(t.got);
    free(t.times);
    return t.broken;
}

#endif
