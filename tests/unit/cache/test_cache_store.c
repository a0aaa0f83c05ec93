#include <dirent.h>
#include <time.h>

#include "test.h"
#include "base/log.h"
#include "cached.h"

static int begin(void **state)
{
    log_set_level(LOG_ERROR);
    return cached_begin(state);
}

/* Every test begins with an empty folder. */
static int empty(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'/* '%s'/.new-*", cached_folder, cached_folder);
    return system(command);
}

static const struct cached_film usual = {.frames = 200, .every = 6, .width = 16, .height = 9};

static void write_entry(const struct cached_film *f)
{
    struct err e = ERR_INIT;
    if (!cached_write(f, &e))
        fail_msg("%s", e.text);
}

/* What serves `f`; the entry is closed, its pixels were looked at. */
static enum cache_answer find_for(const struct cached_film *f, enum cache_decoder decoder)
{
    struct cache_store s = cached_store();
    struct cache_key key = cached_key(f);
    struct selection rule = cached_rule(f);
    struct cache_found found = cache_store_find(&s, &key, &f->place, &rule, decoder);
    assert_int_equal(found.entry == NULL, found.answer == CACHE_MISS);
    assert_true(found.why[0]);
    if (found.entry)
        assert_true(cached_frames_right(found.entry));
    cache_entry_close(&found.entry);
    return found.answer;
}

static enum cache_answer find(const struct cached_film *f)
{
    return find_for(f, CACHE_BY_SOFTWARE);
}

TEST_WITH(finer_serves_coarser, empty, NULL)
{
    struct cached_film f = usual;
    write_entry(&f);
    static const struct {
        uint64_t every;
        int64_t start_us, end_us;
        enum cache_answer answer;
    } want[] = {
        {12, 0, 0, CACHE_HIT_OTHER},
        {18, 0, 0, CACHE_HIT_OTHER},
        {6, 0, 4000000, CACHE_HIT_OTHER},
        {6, 240000, 0, CACHE_HIT_OTHER},
        {12, 480000, 3000000, CACHE_HIT_OTHER},
        {3, 0, 0, CACHE_PARTIAL},
        {8, 0, 0, CACHE_PARTIAL},
        {6, 40000, 0, CACHE_PARTIAL},
        {1, 0, 0, CACHE_PARTIAL},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        f = usual;
        f.every = want[i].every;
        f.start_us = want[i].start_us;
        f.end_us = want[i].end_us;
        assert_int_equal(find(&f), want[i].answer);
    }
    /* The way round: a span that ends early does not serve the whole film. */
    empty(NULL);
    f = usual;
    f.end_us = 4000000;
    write_entry(&f);
    assert_int_equal(find(&usual), CACHE_PARTIAL);
    f.end_us = 3000000;
    assert_int_equal(find(&f), CACHE_HIT_OTHER);
}

TEST_WITH(damaged_films_serve_themselves_only, empty, NULL)
{
    struct cached_film f = usual;
    f.counts.damaged = 1;
    write_entry(&f);
    assert_int_equal(find(&usual), CACHE_HIT);
    struct cached_film coarse = usual, gpu = usual;
    coarse.every = 12;
    assert_int_equal(find(&coarse), CACHE_MISS);
    /* what a GPU makes of damage is not what software makes of it */
    gpu.counts.damaged = gpu.counts.hardware = 1;
    write_entry(&gpu);
    assert_int_equal(find(&usual), CACHE_MISS);
    assert_int_equal(find_for(&usual, CACHE_BY_GPU), CACHE_HIT);
    /* Of damage that a GPU does not tell of nobody knows: who demands software gets what software
     * decoded. */
    gpu.counts.damaged = 0;
    write_entry(&gpu);
    assert_int_equal(find(&usual), CACHE_HIT);
    assert_int_equal(find_for(&usual, CACHE_BY_SOFTWARE_ALONE), CACHE_MISS);
    assert_int_equal(find_for(&coarse, CACHE_BY_SOFTWARE_ALONE), CACHE_MISS);
    write_entry(&usual);
    assert_int_equal(find_for(&usual, CACHE_BY_SOFTWARE_ALONE), CACHE_HIT);
    assert_int_equal(find_for(&usual, CACHE_BY_GPU), CACHE_HIT);
}

TEST_WITH(interrupted_runs, empty, NULL)
{
    struct cached_film f = usual, other = usual;
    f.partial = true;
    f.last = 100;
    write_entry(&f);
    assert_int_equal(find(&usual), CACHE_PARTIAL);
    other.every = 12;
    assert_int_equal(find(&other), CACHE_PARTIAL);
    write_entry(&usual); /* a whole one takes its place */
    assert_int_equal(find(&usual), CACHE_HIT);
}

TEST_WITH(a_touched_film_is_not_trusted, empty, NULL)
{
    struct cached_film f = usual;
    f.place = (struct cache_place){1, 2, 3, 4};
    write_entry(&f);
    assert_int_equal(find(&f), CACHE_HIT);
    f.place.changed_ns = 5;
    assert_int_equal(find(&f), CACHE_MISS);
    f.place.path = 7; /* renamed */
    assert_int_equal(find(&f), CACHE_HIT);
}

/* A copy may as well be a repaired film: the fingerprint has a sixteenth of it, or less. */
TEST_WITH(damaged_films_serve_no_copy, empty, NULL)
{
    struct cached_film f = usual;
    f.place = (struct cache_place){1, 2, 3, 4};
    for (int way = 0; way < 6; way++) {
        struct cached_film damaged = f, now = f;
        damaged.counts.damaged = way == 0;
        damaged.counts.decode_errors = way == 1;
        damaged.counts.lost = way == 2;
        damaged.counts.read_failed = way == 3;
        damaged.counts.redone_chunks = way == 4;
        bool clean = way == 5;
        write_entry(&damaged);
        assert_int_equal(find(&now), CACHE_HIT);
        /* linked or renamed without a trace: the very file */
        now.place = (struct cache_place){1, 2, 7, 4};
        assert_int_equal(find(&now), CACHE_HIT);
        now.place = (struct cache_place){8, 2, 7, 4};
        assert_int_equal(find(&now), clean ? CACHE_HIT : CACHE_MISS);
        now.place = (struct cache_place){1, 8, 3, 4}; /* as rsync -t leaves it, at the old name */
        assert_int_equal(find(&now), clean ? CACHE_HIT : CACHE_MISS);
        now.place = (struct cache_place){1, 2, 7, 8};
        assert_int_equal(find(&now), clean ? CACHE_HIT : CACHE_MISS);
    }
}

TEST_WITH(broken_entries_go, empty, NULL)
{
    struct cache_key key = cached_key(&usual);
    struct stat st;
    for (int way = 0; way < 4; way++) {
        write_entry(&usual);
        FILE *f = fopen(cached_path(key.name), way < 2 ? "r+b" : "wb");
        assert_non_null(f);
        if (way == 0)
            fseek(f, 30, SEEK_SET);
        else if (way == 1)
            fseek(f, -30, SEEK_END);
        if (way < 3)
            fputs("some text", f);
        fclose(f);
        assert_int_equal(find(&usual), CACHE_MISS);
        assert_int_not_equal(lstat(cached_path(key.name), &st), 0);
    }
    /* The name of one film, the contents of another. */
    struct cached_film other = usual;
    other.frames++;
    write_entry(&other);
    struct cache_key theirs = cached_key(&other);
    char name[512];
    snprintf(name, sizeof name, "%s", cached_path(theirs.name));
    assert_int_equal(rename(name, cached_path(key.name)), 0);
    assert_int_equal(find(&usual), CACHE_MISS);
    /* Of a later version: not ours to judge. */
    write_entry(&usual);
    FILE *f = fopen(cached_path(key.name), "r+b");
    fseek(f, 8, SEEK_SET);
    fputc(ENTRY_VERSION + 1, f);
    fclose(f);
    assert_int_equal(find(&usual), CACHE_MISS);
    assert_int_equal(lstat(cached_path(key.name), &st), 0);
}

TEST_WITH(removing, empty, NULL)
{
    struct cache_store s = cached_store();
    struct cache_key key = cached_key(&usual);
    enum entry_state got;
    struct stat st;
    write_entry(&usual);
    struct cache_entry *c = cache_entry_open(cached_path(key.name), &got, NULL);
    write_entry(&usual); /* another process was here meanwhile */
    cache_store_reject(&s, c, true, "for a test");
    assert_int_equal(lstat(cached_path(key.name), &st), 0);
    cache_entry_close(&c);
    c = cache_entry_open(cached_path(key.name), &got, NULL);
    cache_store_reject(&s, c, false, "for a test"); /* unreadable: it stays */
    assert_int_equal(lstat(cached_path(key.name), &st), 0);
    cache_store_reject(&s, c, true, "for a test");
    assert_int_not_equal(lstat(cached_path(key.name), &st), 0);
    cache_entry_close(&c);
}

static void set_used(const char *name, time_t when)
{
    struct timespec t[2] = {{when, 0}, {when, 0}};
    assert_int_equal(utimensat(AT_FDCWD, cached_path(name), t, 0), 0);
}

TEST_WITH(sweeps_what_dead_writers_left, empty, NULL)
{
    struct cache_store s = cached_store();
    struct stat st;
    char alive[256];
    static const char *const name[] = {".new-dead01", ".new-young1"};
    for (int i = 0; i < 2; i++)
        fclose(fopen(cached_path(name[i]), "wb"));
    set_used(name[0], time(NULL) - 100);
    struct cache_writer *w = cache_writer_open(cached_folder, "a=1\n", 4, 4, 1, 1000, NULL);
    bool seen = false;
    for (DIR *d = opendir(cached_folder); d; d = NULL) {
        for (struct dirent *e; (e = readdir(d));)
            if (strncmp(e->d_name, ".new-", 5) == 0 && strcmp(e->d_name, name[0]) != 0 &&
                strcmp(e->d_name, name[1]) != 0) {
                snprintf(alive, sizeof alive, "%s", e->d_name);
                seen = true;
            }
        closedir(d);
    }
    assert_true(seen);
    set_used(alive, time(NULL) - 100);
    cache_store_evict(&s, "");
    assert_int_not_equal(lstat(cached_path(name[0]), &st), 0);
    assert_int_equal(lstat(cached_path(name[1]), &st), 0);
    assert_int_equal(lstat(cached_path(alive), &st), 0);
    cache_writer_discard(&w);
}

TEST_FIXTURE(begin, cached_end)
