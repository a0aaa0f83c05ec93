#include <stdlib.h>
#include <string.h>

#include "test.h"
#include "media/source.h"

/* A source that only notes how it was called. */
struct noting {
    struct source base;
    const struct decode_job *job;
    int calls;
    unsigned selected;
    bool fails;
};

static bool note_stage(struct source *s, const struct decode_job *job, struct decode_counts *counts,
                       struct decode_times *times, struct err *e)
{
    ((struct noting *)s)->job = job;
    counts->packets = 3;
    times->demux = 4;
    return err_set(e, ERR_FAILED, "noted");
}

static void note_progress(struct source *s, struct decode_progress *p)
{
    ((struct noting *)s)->calls++;
    p->frames = 5;
}

static bool note_probe(struct source *s, const struct probe_request *request,
                       struct probe_facts *facts, struct err *e)
{
    struct noting *n = (struct noting *)s;
    n->selected = request->want;
    *facts = (struct probe_facts){
        .found = PROBE_LENGTH, .length = {.frames = 6, .duration_us = 7, .source = LENGTH_PACKETS}};
    return !n->fails || err_set(e, ERR_INPUT, "not probed");
}

static void note_close(struct source **s)
{
    free(*s);
    *s = NULL;
}

static const struct source_ops noting_ops = {
    .name = "noting",
    .probes = PROBE_LENGTH,
    .decode_frames = note_stage,
    .progress = note_progress,
    .probe = note_probe,
    .close = note_close,
};

TEST(calls_go_through_the_table)
{
    struct noting *n = calloc(1, sizeof *n);
    assert_non_null(n);
    n->base.ops = &noting_ops;
    struct source *s = &n->base;
    struct decode_job job = {.threads = 1};
    struct decode_counts counts = {0};
    struct decode_times times = {0};
    struct decode_progress p;
    struct err e = ERR_INIT;
    assert_false(source_decode(s, &job, &counts, &times, &e));
    assert_string_equal(e.text, "noted");
    assert_ptr_equal(n->job, &job);
    assert_int_equal(counts.packets, 3);
    assert_true(times.demux == 4);
    source_progress(s, &p);
    assert_int_equal(p.frames, 5);
    source_close(&s);
    assert_null(s);
    source_close(&s);
}

/* What the source can find out is asked of it and nothing else; what it finds the film has. */
TEST(a_probe)
{
    static const struct source_ops blind = {.name = "blind"};
    struct noting n = {
        .base = {.ops = &noting_ops, .film.length = {.frames = -1, .duration_us = -1}}};
    struct probe_request request = {.want = 0};
    struct probe_facts facts = {.found = 99, .length.frames = 99};
    struct err e = ERR_INIT;
    struct film *f = &n.base.film;
    assert_true(source_probe(&n.base, &request, &facts, &e)); /* nothing is asked */
    assert_true(facts.found == 0 && facts.length.frames == 0 && f->length.frames == -1 &&
                n.selected == 0);

    request.want = ~0u;
    n.fails = true;
    assert_false(source_probe(&n.base, &request, &facts, &e));
    assert_string_equal(e.text, "not probed");
    assert_true(facts.found == 0 && f->length.frames == -1 && f->length.duration_us == -1 &&
                f->length.source == LENGTH_UNKNOWN);

    err_clear(&e);
    n.fails = false;
    assert_true(source_probe(&n.base, &request, &facts, &e));
    assert_int_equal(n.selected, PROBE_LENGTH);
    assert_true(facts.found == PROBE_LENGTH && facts.length.frames == 6 &&
                facts.length.duration_us == 7);
    assert_true(f->length.frames == 6 && f->length.duration_us == 7 &&
                f->length.source == LENGTH_PACKETS);

    n.base.ops = &blind;
    assert_true(source_probe(&n.base, &request, &facts, &e));
    assert_true(facts.found == 0 && f->length.frames == 6);
}

/* All that is asked for, and nothing that this one source lacks. */
TEST(abilities)
{
    static const struct source_ops able = {
        .name = "able", .can = SOURCE_CACHEABLE | SOURCE_SPARING | SOURCE_EXACT_DAMAGE};
    struct source s = {.ops = &able};
    assert_true(source_can(&s, SOURCE_CACHEABLE) &&
                source_can(&s, SOURCE_CACHEABLE | SOURCE_EXACT_DAMAGE) && source_can(&s, 0));
    assert_false(source_can(&s, SOURCE_RESTARTABLE) ||
                 source_can(&s, SOURCE_CACHEABLE | SOURCE_HAS_FRAME_TIMES));
    s.lacks = SOURCE_CACHEABLE | SOURCE_RESTARTABLE;
    assert_true(source_can(&s, SOURCE_SPARING | SOURCE_EXACT_DAMAGE));
    assert_false(source_can(&s, SOURCE_CACHEABLE) ||
                 source_can(&s, SOURCE_CACHEABLE | SOURCE_SPARING));
}
