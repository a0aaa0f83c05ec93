#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "base/log.h"
#include "batch/batch.h"
#include "cli/cli.h"
#include "job/phases.h"
#include "batch/film_workers.h"
#include "synth.h"
#include "folder.h"

static struct engines engines;

static int set_up(void **state)
{
    setenv("BARCODE_CACHE", "-", 1);
    engines_init(&engines, ENGINE_CPU, &(struct engine_devices){.count = 0}, 2);
    return enter(state);
}

static int tear_down(void **state)
{
    engines_close(&engines);
    return leave(state);
}

/* A command line (words divided by single spaces), and what it asks for. */
struct command {
    char copy[512], *word[32];
    struct options options;
    struct inputs inputs;
};

static void parse(struct command *c, const char *line)
{
    static char name[] = "barcode";
    struct err e = ERR_INIT;
    char *save = NULL;
    int count = 1;
    *c = (struct command){.word = {name}};
    snprintf(c->copy, sizeof c->copy, "%s", line);
    for (char *w = strtok_r(c->copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
        c->word[count++] = w;
    if (cli_parse(count, c->word, NULL, &c->options, &e) != CLI_RUN ||
        !inputs_expand(&c->options.plan.inputs, &c->options.plan.outputs, &c->inputs, &e))
        fail_msg("%s", e.text);
    log_set_level(LOG_ERROR);
}

/* Every film of it. */
static bool render(const char *line, struct err *e)
{
    struct command c;
    parse(&c, line);
    const struct job_context context = {
        .plan = &c.options.plan, .inputs = &c.inputs, .engines = &engines, .threads = 2};
    struct job_result result;
    bool ok = true;
    for (size_t i = 0; i < c.inputs.count; i++) {
        struct outputs outputs;
        bool rendered = outputs_of(&c.options.plan, &c.inputs, i, &outputs, e);
        if (rendered) {
            rendered = job_run(&context, i, &outputs, &result, e);
            outputs_free(&outputs);
        }
        assert_true(!rendered || (result.seconds > 0 && result.columns > 0));
        ok &= rendered;
    }
    inputs_free(&c.inputs);
    return ok;
}

static void must_render(const char *line)
{
    struct err e = ERR_INIT;
    if (!render(line, &e))
        fail_msg("%s: %s", line, e.text);
}

/* "" when there is no such file. The caller frees. */
static char *contents(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    *size = f ? fread(text, 1, (1 << 20) - 1, f) : 0;
    if (f)
        fclose(f);
    return text;
}

static long size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

static int files_here(void)
{
    FILE *p = popen("ls -A | wc -l", "r");
    int n = -1;
    assert_non_null(p);
    assert_int_equal(fscanf(p, "%d", &n), 1);
    pclose(p);
    return n;
}

static void clear_folder(void) { assert_int_equal(system("rm -rf ./* ./.[!.]*"), 0); }

/* ------------------------------------------------------------------ outputs */

static void check_dump(const char *path, uint64_t every, size_t frames)
{
    enum { W = 16, H = 9 };
    size_t size, bytes = W * H * 3;
    char *got = contents(path, &size);
    assert_int_equal(size, frames * bytes);
    for (size_t i = 0; i < frames; i++) {
        uint8_t major[3], minor[3];
        synth_major(i * every, major);
        synth_minor(i * every, minor);
        for (int p = 0; p < W * H; p++)
            assert_memory_equal(got + i * bytes + (size_t)p * 3,
                                p % W < synth_split(W) ? major : minor, 3);
    }
    free(got);
}

TEST(staged_frames_are_dumped)
{
    clear_folder();
    must_render("-n 3 --size full --dump frames.rgb -o out.png 16x9,30");
    check_dump("frames.rgb", 3, 10);
    assert_true(size_of("out.png") > 0);
    must_render("-n 3 --size full --verify --dump verified.rgb -o out.png 16x9,30");
    check_dump("verified.rgb", 3, 10);
    assert_int_equal(files_here(), 3);
}

TEST(one_file_a_mode)
{
    clear_folder();
    must_render("-n 2 -m kmeans,palette,average,squeeze -o a.png 16x9,30");
    assert_true(size_of("a-kmeans.png") > 0 && size_of("a-palette.png") > 0);
    assert_true(size_of("a-average.png") > 0 && size_of("a-squeeze.png") > 0);
    assert_int_equal(files_here(), 4);
    must_render("-n 2 -m all -o b.png 16x9,30");
    assert_true(size_of("b.png") > 0);
    assert_int_equal(files_here(), 5);
}

static uint64_t columns_in(const char *json)
{
    size_t size;
    uint64_t n = 0;
    char *text = contents(json, &size);
    for (const char *at = text; (at = strstr(at, "\"average\"")) != NULL; at++)
        n++;
    free(text);
    return n;
}

TEST(facts_in_json)
{
    clear_folder();
    size_t size;
    must_render("-k 2 -n 10 --json a.json -o a.png 16x9,30");
    char *text = contents("a.json", &size);
    uint8_t rgb[3];
    char colour[64];
    synth_major(20, rgb);
    snprintf(colour, sizeof colour, "[%d,%d,%d]", rgb[0], rgb[1], rgb[2]);
    char *flat = text, *to = text;
    for (; *flat; flat++)
        if (*flat != ' ')
            *to++ = *flat;
    *to = 0;
    assert_non_null(strstr(text, colour));
    assert_non_null(strstr(text, "\"missing\":0"));
    free(text);
    assert_int_equal(columns_in("a.json"), 3);
}

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

TEST(columns_of_short_films)
{
    clear_folder();
    static const struct {
        const char *film;
        uint64_t columns;
    } films[] = {{"2x2,1", 1}, {"2x2,2040", 2040}, {"2x2,3000", 1500}, {"2x2,24000", 1847}};
    for (size_t i = 0; i < sizeof films / sizeof *films; i++) {
        char line[128];
        snprintf(line, sizeof line, "-m average --json s.json -o s.png %s", films[i].film);
        must_render(line);
        assert_int_equal(columns_in("s.json"), films[i].columns);
    }
    /* By key frames every N frames is so many frames' time; where nobody counts them, as many
     * columns as a wide picture needs. */
    must_render("-m average --keyframes -n 24 --json s.json -o s.png 2x2,500");
    assert_int_equal(columns_in("s.json"), 21);
    must_render("-m average --keyframes --json s.json -o s.png 2x2,5000");
    assert_int_equal(columns_in("s.json"), 1920);
    must_render("-m average --columns 25 --json s.json -o s.png 2x2,500");
    assert_int_equal(columns_in("s.json"), 25);
    must_render("-m average --interval 0.5 --start 1 --end 3 --json s.json -o s.png 2x2,500");
    assert_int_equal(columns_in("s.json"), 4);
}

TEST(film_after_film)
{
    clear_folder();
    assert_int_equal(mkdir("to", 0700), 0);
    must_render("-n 2 -o to/ 16x9,30 8x8,10 16x9,30");
    size_t a_size, b_size;
    assert_int_equal(system("test $(ls to | wc -l) = 3"), 0);
    char *a = contents("to/16x9,30.png", &a_size), *b = contents("to/16x9,30-2.png", &b_size);
    assert_true(a_size > 0);
    assert_int_equal(a_size, b_size); /* the same film twice: the same picture */
    free(a);
    free(b);
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

/* ------------------------------------------------------------------ refusals */

static void must_fail(const char *line, enum err_code code, const char *words)
{
    struct err e = ERR_INIT;
    clear_folder();
    if (render(line, &e))
        fail_msg("'%s' was rendered", line);
    assert_int_equal(e.code, code);
    if (!strstr(e.text, words))
        fail_msg("'%s' is not in '%s'", words, e.text);
    assert_int_equal(files_here(), 0);
}

TEST(nothing_is_written_on_failure)
{
    must_fail("-o a.png what", ERR_INPUT, "cannot open 'what'");
    must_fail("-o a.png --dump a.rgb --json a.json nowhere.mkv", ERR_INPUT,
              "cannot open 'nowhere.mkv'");
    must_fail("-o a.png --dump a.rgb --start 2 4x4,24", ERR_FAILED, "has no frame after --start");
    must_fail("-o a.png --dump a.rgb --start 0.001 --end 0.002 4x4,24", ERR_FAILED, "is selected");
    must_fail("-o a.png --interval 0.000001 4x4,2400", ERR_USAGE,
              "--interval is too short: it gives 100000000 columns");
    must_fail("-o a.png --interval 0.00001 4x4,2400", ERR_USAGE,
              "it gives 10000000 columns, but at most 2684354 are possible");
    must_fail("-o no/where/a.png 4x4,24", ERR_FAILED, "no/where");
    must_fail("-o a.png --dump no/where/a.rgb 4x4,24", ERR_FAILED, "no/where");
}

TEST(an_old_picture_survives)
{
    clear_folder();
    must_render("-o a.png 4x4,24");
    long before = size_of("a.png");
    struct err e = ERR_INIT;
    assert_false(render("-o a.png --start 2 4x4,24", &e));
    assert_int_equal(size_of("a.png"), before);
    assert_int_equal(files_here(), 1);
}

/* ------------------------------------------------------------------ several workers: CPUs stand in
 * for GPUs */

enum { FILMS = 24 };

/* A folder's films, of so many bytes each, of which the inputs alone know. */
static void parse_folder(struct command *c, const char *folder_out, uint64_t film_bytes, int jobs)
{
    char line[sizeof c->copy];
    int length = snprintf(line, sizeof line, "-n 10 --size 64x36 -o %s/", folder_out);
    for (int i = 0; i < FILMS; i++)
        length += snprintf(line + length, sizeof line - (size_t)length, " 64x36,%d", 100 + i);
    mkdir(folder_out, 0700);
    parse(c, line);
    c->options.batch.jobs = jobs;
    for (size_t i = 0; i < c->inputs.count; i++)
        c->inputs.file[i].bytes = film_bytes;
}

static struct engines devices_of(const char *kind, int devices)
{
    return (struct engines){
        .slot = {{.kind = kind, .devices = {.count = devices}}}, .count = 1, .threads = 8};
}

/* Renders 24 films in worker processes, one for each of `devices` CPUs. Returns the exit status. */
static int render_by_workers(const char *folder_out, int devices, int jobs)
{
    struct command c;
    parse_folder(&c, folder_out, 0, jobs);
    struct engines list = devices_of("cpu", devices);
    const struct job_context context = {
        .plan = &c.options.plan, .inputs = &c.inputs, .engines = &list, .threads = 8};
    pid_t own = getpid();
    int status = batch_render_films(&context, &c.options.batch, SANDBOX_AUTO, NULL);
    engines_close(&list);
    inputs_free(&c.inputs);
    if (getpid() != own)
        _exit(status);
    return status;
}

static void same_pictures(const char *a, const char *b)
{
    char command[200];
    snprintf(command, sizeof command, "diff -rq %s %s && test $(ls %s | wc -l) = 24", a, b, a);
    assert_int_equal(system(command), 0);
}

/* The files do not depend on how many workers there are. */
TEST(a_worker_each)
{
    clear_folder();
    assert_int_equal(render_by_workers("one", 1, 0), 0);
    assert_int_equal(render_by_workers("two", 2, 0), 0);
    assert_int_equal(render_by_workers("three", 3, 5), 0);
    same_pictures("one", "two");
    same_pictures("one", "three");
    assert_int_equal(system("rm -rf one two three"), 0);
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

TEST_FIXTURE(set_up, tear_down)
