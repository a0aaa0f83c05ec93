#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "test.h"
#include "base/interrupt.h"
#include "cache/frame_cache.h"
#include "barcode/engine/engine.h"
#include "clip.h"
#include "staged.h"

enum { W = CLIP_W / 2, H = CLIP_H / 2 };

struct run {
    struct cache_options options;
    struct columns *columns;
    struct digest *digest;
    struct decode_counts counts;
    struct frame_cache *cache;
    char state[16];
    int stop_after; /* frames, then Ctrl-C; 0: never */
    bool ok;
    bool disk_fails; /* as with --keep-going */
};

static bool on_analysed(void *user, const struct frame_tag *tag, const uint8_t *rgb, struct err *e)
{
    struct run *r = user;
    frame_cache_put(r->cache, tag, rgb);
    static atomic_bool raised; /* by whichever engine thread; a second one would kill */
    if (r->stop_after > 0 && tag->column >= (uint64_t)r->stop_after &&
        !atomic_exchange(&raised, true))
        raise(SIGINT);
    return digest_put(r->digest, tag->column, rgb, (size_t)W * H * 3, e);
}

/* What a job does with a film, from opening to the last column. */
static void run(struct run *r, const char *film, const struct selection *rule)
{
    struct err e = ERR_INIT;
    r->columns = columns_open(0, 0, NULL);
    r->digest = digest_open(NULL);
    r->cache = frame_cache_open(&r->options, film, NULL);
    struct source *s = source_open(film, &e);
    struct engine_config config = {.threads = 2};
    struct engine *g = engine_open("cpu", &config, NULL);
    assert_true(r->columns && r->digest && s && g);
    struct frame_cache_ask ask = {.film = s,
                                  .selection = rule,
                                  .width = W,
                                  .height = H,
                                  .threads = 2,
                                  .decode = "any",
                                  .decoder = CACHE_BY_SOFTWARE};
    frame_cache_look(r->cache, &ask);
    snprintf(r->state, sizeof r->state, "%s", frame_cache_state(r->cache));
    struct engine_job job = {.width = W,
                             .height = H,
                             .ports = 3,
                             .columns = r->columns,
                             .tap = on_analysed,
                             .tap_user = r};
    struct decode_job what = {.selection = *rule,
                              .threads = 2,
                              .engine = g,
                              .columns = r->columns,
                              .frame_times = frame_cache_frame_times(r->cache)};
    struct engine_times engine_times;
    struct decode_times times = {0};
    assert_true(engine_begin(g, &job, NULL));
    r->ok = source_decode(frame_cache_source(r->cache, s), &what, &r->counts, &times, &e);
    r->ok &= engine_finish(g, &engine_times, &e);
    r->counts.bytes_unread = r->disk_fails ? 4096 : 0;
    frame_cache_end(r->cache, r->columns, &r->counts, r->ok);
    frame_cache_close(&r->cache);
    engine_close(&g);
    source_close(&s);
}

static void forget(struct run *r)
{
    columns_free(&r->columns);
    digest_free(&r->digest);
}

static struct cache_options in(const char *folder)
{
    struct cache_options o = cache_options_default;
    o.folder = folder;
    return o;
}

/* A run without a cache. */
static struct run without(const char *film, const struct selection *rule)
{
    struct run plain = {.options = {.off = true}};
    run(&plain, film, rule);
    assert_string_equal(plain.state, "off");
    assert_true(plain.ok);
    return plain;
}

/* The run's columns and pixels against those of a run without. */
static void same(const struct run *r, const struct run *plain, const char *state)
{
    assert_string_equal(r->state, state);
    assert_true(r->ok);
    assert_int_equal(first_difference(r->columns, plain->columns, 0), -1);
    struct digest_result d = digest_compare(r->digest, plain->digest);
    assert_true(d.both > 0 && d.different == 0 && d.alone == 0);
    assert_true(r->counts.displayed == plain->counts.displayed &&
                r->counts.last_us == plain->counts.last_us);
    assert_true(r->counts.lost == plain->counts.lost &&
                r->counts.damaged == plain->counts.damaged &&
                r->counts.decode_errors == plain->counts.decode_errors &&
                r->counts.read_failed == plain->counts.read_failed);
}

static void expect_like(const struct run *plain, const char *film, const struct cache_options *o,
                        const struct selection *rule, const char *state)
{
    struct run r = {.options = *o};
    run(&r, film, rule);
    same(&r, plain, state);
    forget(&r);
}

static void expect(const char *film, const struct cache_options *o, const struct selection *rule,
                   const char *state)
{
    struct run plain = without(film, rule);
    expect_like(&plain, film, o, rule, state);
    forget(&plain);
}

static bool make_film(const char *name)
{
    char line[256];
    snprintf(line, sizeof line,
             "-c:v libx264 -preset ultrafast -bf 2 -x264-params keyint=20:scenecut=0 %s", name);
    return clip_encode(line);
}

static const struct selection rules[] = {
    {.kind = SELECT_EVERY, .every = 10, .end_us = INT64_MAX},
    {.kind = SELECT_EVERY, .every = 20, .end_us = INT64_MAX},
    {.kind = SELECT_EVERY, .every = 5, .start_us = 2000000, .end_us = 5000000},
    {.kind = SELECT_EVERY, .every = 10, .end_us = 3000000},
    {.kind = SELECT_INTERVAL, .interval_us = 400000, .end_us = INT64_MAX},
    {.kind = SELECT_INTERVAL, .interval_us = 10000, .start_us = 1000000, .end_us = 1500000},
    {.kind = SELECT_COLUMNS, .columns = 7, .end_us = 8000000},
    {.kind = SELECT_COLUMNS, .columns = 900, .end_us = 8000000},
};
enum { RULES = sizeof rules / sizeof *rules };

/* Cold, then warm, by every rule; then all of them from the entry that holds every frame. */
TEST(every_rule)
{
    static const char *const films[] = {"h264.mkv", "odd.avi"};
    if (!make_film(films[0]) || !clip_encode("-c:v mpeg4 -g 12 -bf 2 odd.avi"))
        skip();
    for (int f = 0; f < 2; f++) {
        struct cache_options from_all = in(f ? "all-1" : "all-0");
        struct selection all = every(1);
        expect(films[f], &from_all, &all, "miss");
        for (int i = 0; i < RULES; i++) {
            char folder[32];
            snprintf(folder, sizeof folder, "cache-%d-%d", f, i);
            struct cache_options o = in(folder);
            struct run plain = without(films[f], &rules[i]);
            expect_like(&plain, films[f], &o, &rules[i], "miss");
            expect_like(&plain, films[f], &o, &rules[i], "hit");
            o.refresh = true;
            expect_like(&plain, films[f], &o, &rules[i], "miss");
            expect_like(&plain, films[f], &from_all, &rules[i], "hit");
            forget(&plain);
        }
    }
}

/* Any entry beside any rule: whatever it serves, the columns are those of a run without. */
TEST(every_pair)
{
    if (!make_film("pairs.mkv"))
        skip();
    struct run plain[RULES];
    for (int i = 0; i < RULES; i++)
        plain[i] = without("pairs.mkv", &rules[i]);
    for (int i = 0; i < RULES; i++) {
        struct cache_options one = in("one"), o = in("pair");
        assert_int_equal(system("rm -rf one"), 0);
        expect_like(&plain[i], "pairs.mkv", &one, &rules[i], "miss");
        for (int j = 0; j < RULES; j++) {
            assert_int_equal(system("rm -rf pair && cp -rp one pair"), 0);
            struct run r = {.options = o};
            run(&r, "pairs.mkv", &rules[j]);
            same(&r, &plain[j], i == j ? "hit" : r.state);
            forget(&r);
        }
    }
    for (int i = 0; i < RULES; i++)
        forget(&plain[i]);
}

TEST(films_change)
{
    if (!make_film("film.mkv"))
        skip();
    struct cache_options o = in("changes");
    struct selection rule = every(10);
    expect("film.mkv", &o, &rule, "miss");
    assert_int_equal(rename("film.mkv", "renamed.mkv"), 0);
    expect("renamed.mkv", &o, &rule, "hit");
    assert_int_equal(system("cp -p renamed.mkv copy.mkv"), 0);
    expect("copy.mkv", &o, &rule, "hit");
    /* A byte of a picture, in place, the time set back. */
    assert_int_equal(system("cp -p copy.mkv stamp; printf x | dd of=copy.mkv bs=1 seek=30000 "
                            "conv=notrunc 2>dd.log; touch -r stamp copy.mkv"),
                     0);
    expect("copy.mkv", &o, &rule, "miss");
    struct cache_options nowhere = in("/dev/null/x");
    expect("renamed.mkv", &nowhere, &rule, "miss");
    nowhere = in("-");
    expect("renamed.mkv", &nowhere, &rule, "off");
}

/* The entry's pixels change on disk: told, removed, and the second try is the film's. */
TEST(damaged_entry)
{
    if (!make_film("damage.mkv"))
        skip();
    struct cache_options o = in("damage");
    struct selection rule = every(10);
    expect("damage.mkv", &o, &rule, "miss");
    assert_int_equal(system("for f in damage/*.frames; do printf xyz | dd of=$f bs=1 seek=3000 "
                            "conv=notrunc 2>dd.log; done"),
                     0);
    struct run r = {.options = o};
    run(&r, "damage.mkv", &rule);
    assert_string_equal(r.state, "hit");
    assert_true(r.counts.cache_failed);
    forget(&r);
    /* A job calls frame_cache_again now; here the run is over, and the next one decodes or is
     * told again. */
    assert_int_equal(system("rm damage/*.frames"), 0);
    expect("damage.mkv", &o, &rule, "miss");
    expect("damage.mkv", &o, &rule, "hit");
}

/* Ctrl-C in a child; what it staged is not decoded again. Twice, so that the second one adds to the
 * first one's. */
TEST(continues_after_an_interruption)
{
    if (!make_film("long.mkv"))
        skip();
    struct cache_options o = in("interrupted");
    struct selection rule = every(1);
    for (int stop = 70; stop <= 140; stop += 70) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct run r = {.options = o, .stop_after = stop};
            interrupt_install();
            run(&r, "long.mkv", &rule);
            _exit(r.ok ? 1 : strcmp(r.state, stop == 70 ? "miss" : "partial") == 0 ? 0 : 2);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    struct run r = {.options = o};
    run(&r, "long.mkv", &rule);
    struct run plain = without("long.mkv", &rule);
    same(&r, &plain, "partial");
    forget(&plain);
    assert_true(r.counts.decoded < CLIP_FRAMES - 40);
    forget(&r);
    expect("long.mkv", &o, &rule, "hit");
}

/* A playlist stays as it is when the films that it names are replaced. */
TEST(playlists_are_not_kept)
{
    if (!make_film("part.mkv"))
        skip();
    FILE *f = fopen("list.ffconcat", "w");
    assert_non_null(f);
    fputs("ffconcat version 1.0\nfile part.mkv\n", f);
    fclose(f);
    struct err e = ERR_INIT;
    struct source *s = source_open("list.ffconcat", &e);
    if (!s) /* this libav reads no playlists: so much the better */
        skip();
    source_close(&s);
    struct cache_options o = in("playlists");
    struct selection rule = every(10);
    expect("list.ffconcat", &o, &rule, "off");
    expect("list.ffconcat", &o, &rule, "off");
}

/* What could not be read this time is not what the film is. */
TEST(a_read_error_is_not_kept)
{
    if (!make_film("flaky.mkv"))
        skip();
    struct cache_options o = in("flaky");
    struct selection rule = every(10);
    struct run r = {.options = o, .disk_fails = true};
    run(&r, "flaky.mkv", &rule);
    forget(&r);
    expect("flaky.mkv", &o, &rule, "miss");
    expect("flaky.mkv", &o, &rule, "hit");
}

/* A pipe's writer must not take the cache's look for its reader. */
TEST(pipes_are_left_alone)
{
    assert_int_equal(mkfifo("pipe.mkv", 0600), 0);
    struct cache_options o = in("pipes");
    assert_null(frame_cache_open(&o, "pipe.mkv", NULL));
    assert_int_equal(unlink("pipe.mkv"), 0);
}

TEST_FIXTURE(clip_begin, clip_end)
