#include "test.h"
#include "job/phases.h"
#include "batch/film_workers.h"

/* ------------------------------------------------------------------ columns */

/* Whatever the frame rate, about 1,920 columns, at most 2,040, and fewer of a short film. */
TEST(default_every)
{
    static const struct {
        int64_t frames;
        uint64_t every;
    } table[] = {{1, 1},        {240, 1},      {1920, 1},     {2040, 1},
                 {2041, 2},     {3060, 2},     {6120, 3},     {6121, 4},
                 {14315, 8},    {172627, 90},  {172800, 90},  {180000, 94},
                 {216000, 113}, {432000, 225}, {864000, 450}, {-1, 24}};
    struct selection s = {.kind = SELECT_EVERY, .end_us = INT64_MAX};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct film_length l = {.duration_us = 7200000000, .frames = table[i].frames};
        assert_int_equal(job_default_every(&s, &l), table[i].every);
    }
    static const double rates[] = {12, 23.976, 24, 25, 29.97, 30, 48, 50, 59.94, 60, 120};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (int minutes = 23; minutes <= 300; minutes++) {
            struct film_length l = {.duration_us = minutes * INT64_C(60000000),
                                    .frames = (int64_t)(minutes * 60 * rates[i])};
            uint64_t every = job_default_every(&s, &l),
                     columns = ((uint64_t)l.frames + every - 1) / every;
            if (columns < 1800 || columns > 2040)
                fail_msg("%d min at %g fps: %d columns", minutes, rates[i], (int)columns);
        }
    /* ten minutes of two hours */
    s = (struct selection){.kind = SELECT_EVERY, .start_us = 600000000, .end_us = 1200000000};
    struct film_length l = {.duration_us = 7200000000, .frames = 172800};
    assert_int_equal(job_default_every(&s, &l), 8);
}

/* ------------------------------------------------------------------ the look before */

static unsigned asked;

static bool note_probe(struct source *s, const struct probe_request *request,
                       struct probe_facts *facts, struct err *e)
{
    (void)s, (void)e;
    asked |= request->want;
    *facts =
        (struct probe_facts){.found = request->want, .length = {0, 20000000, 500, LENGTH_PACKETS}};
    return true;
}

static uint64_t bytes;

static void note_progress(struct source *s, struct decode_progress *p)
{
    (void)s;
    *p = (struct decode_progress){.total_bytes = bytes};
}

/* A film is read for its length only where columns depend on it and the container does not state
 * it. */
static const struct needed_length {
    struct selection rule;
    enum length_source source;
    int64_t stated;
    unsigned want;
    int64_t frames;
    uint64_t bytes;
} films[] = {
    /* The default asks for every 24th frame of a long film, and for all of a short one. */
    {{.kind = SELECT_EVERY}, LENGTH_ESTIMATE, 9000000, PROBE_LENGTH, -1, UINT64_C(1) << 30},
    {{.kind = SELECT_EVERY}, LENGTH_ESTIMATE, 9000000, 0, -1, (UINT64_C(1) << 30) + 1},
    {{.kind = SELECT_EVERY}, LENGTH_ESTIMATE, 9000000, 0, 225, 4096},
    {{.kind = SELECT_EVERY, .every = 5}, LENGTH_ESTIMATE, 9000000, 0, -1, 4096},
    {{.kind = SELECT_COLUMNS, .columns = 9}, LENGTH_TRACK, 9000000, 0, 225, 4096},
    {{.kind = SELECT_COLUMNS, .columns = 9}, LENGTH_ESTIMATE, 9000000, PROBE_LENGTH, 225, 4096},
    {{.kind = SELECT_COLUMNS, .columns = 9}, LENGTH_UNKNOWN, -1, PROBE_LENGTH, 225, 4096},
    {{.kind = SELECT_INTERVAL, .interval_us = 10000}, LENGTH_ESTIMATE, 9000000, 0, 225, 1},
    {{.kind = SELECT_INTERVAL, .interval_us = 9999}, LENGTH_ESTIMATE, 9000000, PROBE_LENGTH, 9, 1},
    {{.kind = SELECT_INTERVAL, .interval_us = 9999}, LENGTH_TRACK, 9000000, 0, 225, 4096},
    /* a start behind the declared end: the declaration may be wrong */
    {{.every = 5, .start_us = 9000000}, LENGTH_TRACK, 9000000, PROBE_LENGTH, 225, 4096},
    {{.every = 5, .start_us = 9000000}, LENGTH_INDEX, 9000000, 0, 225, 4096},
};

TEST(lengths_that_are_needed)
{
    static const struct source_ops ops = {.name = "noting",
                                          .can = SOURCE_RESTARTABLE,
                                          .probes = PROBE_LENGTH,
                                          .probe = note_probe,
                                          .progress = note_progress};
    for (size_t i = 0; i < sizeof films / sizeof *films; i++) {
        static char path[] = "film";
        struct plan o = {.film.selection = films[i].rule};
        const struct film_length length = {0, films[i].stated, films[i].frames, films[i].source};
        struct source s = {.ops = &ops, .film = {.path = path, .length = length}};
        bytes = films[i].bytes;
        struct job_film film = {.source = &s};
        const struct job_order order = {.plan = &o};
        struct err e = ERR_INIT;
        asked = 0;
        assert_true(job_probe(&order, &film, &e));
        assert_int_equal(asked, films[i].want);
        assert_int_equal(s.film.length.duration_us, films[i].want ? 20000000 : films[i].stated);
        s.film.length = length;
        s.lacks = SOURCE_RESTARTABLE; /* reading it now would leave nothing to stage */
        asked = 0;
        /* the default can do without */
        bool needed =
            films[i].want && (films[i].rule.kind != SELECT_EVERY || films[i].rule.start_us > 0);
        assert_int_equal(job_probe(&order, &film, &e), !needed);
        assert_int_equal(e.code, needed ? ERR_INPUT : ERR_NONE);
        assert_int_equal(asked, 0);
    }
}

/* The end is looked for where the header has one length for several streams, but not in a pipe. */
TEST(a_pipe_is_not_probed)
{
    static const struct source_ops ops = {.name = "noting",
                                          .can = SOURCE_RESTARTABLE,
                                          .probes = PROBE_END,
                                          .probe = note_probe,
                                          .progress = note_progress};
    static char path[] = "film";
    struct plan o = {.film.selection = {.kind = SELECT_COLUMNS, .columns = 9}};
    struct source s = {.ops = &ops,
                       .film = {.path = path,
                                .lists_key_frames = true,
                                .length = {0, 9000000, 225, LENGTH_CONTAINER}}};
    struct job_film film = {.source = &s};
    const struct job_order order = {.plan = &o};
    struct err e = ERR_INIT;
    for (unsigned lacks = 0; lacks <= SOURCE_RESTARTABLE; lacks += SOURCE_RESTARTABLE) {
        s.lacks = lacks;
        asked = 0;
        assert_true(job_probe(&order, &film, &e));
        assert_int_equal(asked, lacks ? 0 : PROBE_END);
    }
}

/* ------------------------------------------------------------------ progress */

static void percent(const struct film *f, uint64_t columns, const struct pass_state *now, int want)
{
    double share = job_progress(f, columns, now).share;
    assert_int_equal(share < 0 ? -1 : (int)(share * 100 + 0.5), want);
}

/* The sample film: its second chunk is decoded before its first one. */
TEST(share_follows_the_columns)
{
    const struct film f = {.length.frames = 720};
    percent(&f, 720, &(struct pass_state){.columns = 281}, 39);
    percent(&f, 720, &(struct pass_state){.columns = 281, .film.frames = 374}, 39);
    percent(&f, 720, &(struct pass_state){.columns = 0, .film.frames = 720}, 0);
    percent(&f, 700, &(struct pass_state){.columns = 720}, 100);
    percent(&f, 720, &(struct pass_state){.columns = 600, .done = true}, 100);
}

TEST(share_of_an_unknown_length)
{
    const struct film f = {.length.frames = -1};
    percent(&f, 0, &(struct pass_state){.columns = 9}, -1);
    percent(&f, 0, &(struct pass_state){.columns = 9, .done = true}, -1);
    percent(&f, 0, &(struct pass_state){.film.bytes = 30, .film.total_bytes = 40}, 75);
    percent(&f, 10, &(struct pass_state){.columns = 9, .film = {.bytes = 4, .total_bytes = 4}}, 90);
}

/* The rate is of the frames that the columns stand for; at the end, of those that were covered. */
TEST(frames_follow_the_columns)
{
    const struct film f = {.length.frames = 7200}, unknown = {.length.frames = -1};
    struct pass_state now = {.columns = 75, .film.frames = 6000};
    assert_int_equal(job_progress(&f, 300, &now).frames, 1800);
    assert_int_equal(job_progress(&unknown, 0, &now).frames, 6000);
    now.done = true;
    assert_int_equal(job_progress(&f, 300, &now).frames, 6000);
}

/*
 * 100 key frames. In 10 s, 2 cores made 50 columns: 12 s of decoding, 8 s of the rest. What the
 * look for bars took before is no part of it.
 */
TEST(what_key_frames_take)
{
    struct job_usage first = {100, 7, 1, 3}, now = {110, 27, 13, 53};
    assert_float_equal(job_key_seconds(100, 0.04, &first, &now), 100 * (0.04 + 0.16) / 2, 1e-9);
    now.decode_seconds = 23; /* clocks that disagree a little */
    assert_float_equal(job_key_seconds(100, 0.04, &first, &now), 100 * 0.04 / 2, 1e-9);
    assert_true(job_key_seconds(0, 0.04, &first, &now) == 0);
    now.columns = first.columns;
    assert_true(job_key_seconds(100, 0.04, &first, &now) == 0);
    assert_true(job_key_seconds(100, 0.04, &first, &first) == 0);
}

/* ------------------------------------------------------------------ several workers */

enum { FILMS = 24 };

static struct engines devices_of(const char *kind, int devices)
{
    return (struct engines){
        .slot = {{.kind = kind, .devices = {.count = devices}}}, .count = 1, .threads = 8};
}

/* No more than there are GPUs, films, pairs of cores and jobs for, nor than have enough to do to
 * start a GPU. */
TEST(how_many_workers)
{
    const uint64_t mib = 1 << 20;
    static const struct {
        const char *kind;
        int devices, threads, jobs;
        enum decode_choice decode;
        uint64_t film_bytes;
        int workers;
    } given[] = {
        {"cuda", 2, 16, 0, DECODE_AUTO, 8 << 20, 2},
        {"cuda", 2, 16, 0, DECODE_NVDEC, 8 << 20, 2},
        {"cuda", 8, 64, 0, DECODE_AUTO, 8 << 20, 3},
        {"cuda", 2, 16, 0, DECODE_AUTO, 0, 1},
        {"cuda", 2, 16, 0, DECODE_CPU, 8 << 20, 1},
        {"cuda", 8, 5, 0, DECODE_AUTO, 64 << 20, 2},
        {"cuda", 4, 16, 3, DECODE_AUTO, 64 << 20, 3},
        {"cuda", 32, 128, 0, DECODE_AUTO, 64 << 20, FILMS},
        {"cpu", 2, 4, 0, DECODE_AUTO, 0, 2},
        {"cpu", 2, 1, 0, DECODE_AUTO, 0, 1},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        const struct plan plan = {.film.decode = given[i].decode};
        const int jobs = given[i].jobs;
        struct engines list = devices_of(given[i].kind, given[i].devices);
        const struct job_context context = {
            .plan = &plan, .engines = &list, .threads = given[i].threads};
        struct film_tally tally = {.due = FILMS, .bytes = FILMS * given[i].film_bytes};
        assert_int_equal(worker_process_count(&context, &tally, jobs), given[i].workers);
        tally = (struct film_tally){.due = 1, .bytes = 1000 * mib};
        assert_int_equal(worker_process_count(&context, &tally, jobs), 1);
    }
}
