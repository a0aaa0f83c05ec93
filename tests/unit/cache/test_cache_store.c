#include <dirent.h>
#include <time.h>

#include "test.h"
#include "base/log.h"
#include "cached.h"

static int begin(void **state)
{
    log_set_level(LOG_ERROR);
    return enter(state);
}

static const struct cached_film usual = {.frames = 200, .every = 6, .width = 16, .height = 9};

static void write_entry(const struct cached_film *f)
{
    struct err e = ERR_INIT;
    assert_ok(cached_write(f, &e), &e);
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

TEST_WITH(damaged_films_serve_themselves_only, begin, leave)
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

TEST_WITH(a_touched_film_is_not_trusted, begin, leave)
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

TEST_WITH(other_entries_stay, begin, leave)
{
    struct cache_key key = cached_key(&usual);
    struct stat st;
    /* The name of one film, the contents of another. */
    struct cached_film other = usual;
    other.frames++;
    write_entry(&other);
    struct cache_key theirs = cached_key(&other);
    assert_int_equal(rename(theirs.name, key.name), 0);
    assert_int_equal(find(&usual), CACHE_MISS);
    /* Of a later version: not ours to judge. */
    write_entry(&usual);
    FILE *f = fopen(key.name, "r+b");
    fseek(f, 8, SEEK_SET);
    fputc(ENTRY_VERSION + 1, f);
    fclose(f);
    assert_int_equal(find(&usual), CACHE_MISS);
    assert_int_equal(lstat(key.name, &st), 0);
}

TEST_WITH(removing, begin, leave)
{
    struct cache_store s = cached_store();
    struct cache_key key = cached_key(&usual);
    enum entry_state got;
    struct stat st;
    write_entry(&usual);
    struct cache_entry *c = cache_entry_open(key.name, &got, NULL);
    write_entry(&usual); /* another process was here meanwhile */
    cache_store_reject(&s, c, true, "for a test");
    assert_int_equal(lstat(key.name, &st), 0);
    cache_entry_close(&c);
    c = cache_entry_open(key.name, &got, NULL);
    cache_store_reject(&s, c, false, "for a test"); /* unreadable: it stays */
    assert_int_equal(lstat(key.name, &st), 0);
    cache_store_reject(&s, c, true, "for a test");
    assert_int_not_equal(lstat(key.name, &st), 0);
    cache_entry_close(&c);
}

static void set_used(const char *name, time_t when)
{
    struct timespec t[2] = {{when, 0}, {when, 0}};
    assert_int_equal(utimensat(AT_FDCWD, name, t, 0), 0);
}

TEST_WITH(sweeps_what_dead_writers_left, begin, leave)
{
    struct cache_store s = cached_store();
    struct stat st;
    char alive[256];
    static const char *const name[] = {".new-dead01", ".new-young1"};
    for (int i = 0; i < 2; i++)
        fclose(fopen(name[i], "wb"));
    set_used(name[0], time(NULL) - 100);
    struct cache_writer *w = cache_writer_open(".", "a=1\n", 4, 4, 1, 1000, NULL);
    bool seen = false;
    for (DIR *d = opendir("."); d; d = NULL) {
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
    assert_int_not_equal(lstat(name[0], &st), 0);
    assert_int_equal(lstat(name[1], &st), 0);
    assert_int_equal(lstat(alive, &st), 0);
    cache_writer_discard(&w);
}
