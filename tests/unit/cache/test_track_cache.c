#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "cache/frame_cache.h"
#include "test.h"
#include "folder.h"

static int set_up(void **state)
{
    log_set_level(LOG_ERROR);
    return enter(state);
}

static struct cache_options options(void)
{
    struct cache_options o = cache_options_default;
    o.folder = "cache";
    return o;
}

static void write_film(const char *name, int bytes, int odd)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    for (int i = 0; i < bytes; i++)
        putc((i * 7 + i / 1000 + (i == odd)) & 255, f);
    fclose(f);
    struct timespec t[2] = {{1600000000, 5}, {1600000000, 5}};
    assert_int_equal(utimensat(AT_FDCWD, name, t, 0), 0);
}

static struct sound_row row[2] = {{-100, -10, 1000, {1, 2, 3}}, {-200, -20, 2000, {4, 5, 6}}};
static struct peak point[1] = {{1, 100, 1}};

static struct film_sound made(int stream)
{
    return (struct film_sound){.stream = stream,
                               .codec = "aac",
                               .samples = 1000,
                               .hops = 1,
                               .rows = 2,
                               .row = row,
                               .peaks = 1,
                               .point = point};
}

static bool has_streams(const struct cache_options *o, const char *film, int video, int stream)
{
    struct film_sound s;
    bool found = sound_cache_load(o, film, NULL, video, stream, &s);
    if (found && s.stream >= 0) {
        assert_string_equal(s.codec, "aac");
        assert_int_equal(s.samples, 1000);
        assert_memory_equal(s.row, row, sizeof row);
        assert_memory_equal(s.point, point, sizeof point);
    } else {
        assert_true(s.stream == -1 && s.rows == 0);
    }
    film_sound_free(&s);
    return found;
}

static bool has(const struct cache_options *o, const char *film, int stream)
{
    return has_streams(o, film, -1, stream);
}

TEST_WITH(keeps_the_sound_of_a_film, set_up, leave)
{
    struct cache_options o = options();
    struct film_sound s = made(3), none = {.stream = -1, .hops = 1};
    write_film("a.mkv", 100000, -1);
    write_film("b.mkv", 100001, -1);
    assert_false(has(&o, "a.mkv", -1));
    sound_cache_save(&o, "a.mkv", NULL, -1, -1, &s);
    assert_true(has(&o, "a.mkv", -1));
    assert_false(has(&o, "a.mkv", 3));             /* asked for by its number */
    assert_false(has_streams(&o, "a.mkv", 1, -1)); /* beside other pictures */
    assert_false(has(&o, "b.mkv", -1));
    sound_cache_save(&o, "b.mkv", NULL, -1, -1, &none);
    assert_true(has(&o, "b.mkv", -1));
    assert_int_equal(rename("a.mkv", "c.mkv"), 0);
    assert_true(has(&o, "c.mkv", -1));
    o.refresh = true;
    assert_false(has(&o, "c.mkv", -1));
    o = options();
    o.off = true;
    assert_false(has(&o, "c.mkv", -1));
    assert_false(has(&o, "absent.mkv", -1));
}

/* A byte that the fingerprint does not see, of a film with the same size and time. */
TEST_WITH(other_films_do_not_get_it, set_up, leave)
{
    struct cache_options o = options();
    struct film_sound s = made(0);
    write_film("a.mkv", 4000000, -1);
    sound_cache_save(&o, "a.mkv", NULL, -1, -1, &s);
    write_film("copy.mkv", 4000000, -1);
    assert_true(has(&o, "copy.mkv", -1));
    write_film("a.mkv", 4000000, 100); /* within the first block */
    assert_false(has(&o, "a.mkv", -1));
    write_film("a.mkv", 4000000, -1); /* written to since: the ctime tells */
    assert_false(has(&o, "a.mkv", -1));
    assert_true(has(&o, "copy.mkv", -1));
}

/* The sound of a damaged film is that of its file alone, and copies have one each. */
TEST_WITH(a_damaged_sound_is_of_its_file, set_up, leave)
{
    struct cache_options o = options();
    struct film_sound s = made(0);
    s.gaps = 1;
    write_film("a.mkv", 100000, -1);
    write_film("copy.mkv", 100000, -1);
    sound_cache_save(&o, "a.mkv", NULL, -1, -1, &s);
    assert_true(has(&o, "a.mkv", -1));
    assert_false(has(&o, "copy.mkv", -1));
    sound_cache_save(&o, "copy.mkv", NULL, -1, -1, &s);
    assert_true(has(&o, "a.mkv", -1));
    assert_true(has(&o, "copy.mkv", -1));
}

TEST_WITH(damaged_entries_are_removed, set_up, leave)
{
    struct cache_options o = options();
    struct film_sound s = made(0);
    glob_t found;
    struct stat st;
    write_film("a.mkv", 100000, -1);
    sound_cache_save(&o, "a.mkv", NULL, -1, -1, &s);
    assert_int_equal(glob("cache/*.frames", 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    assert_int_equal(stat(found.gl_pathv[0], &st), 0);
    int fd = open(found.gl_pathv[0], O_RDWR | O_CLOEXEC);
    uint8_t byte;
    assert_int_equal(pread(fd, &byte, 1, st.st_size - 150), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, st.st_size - 150), 1);
    close(fd);
    assert_false(has(&o, "a.mkv", -1));
    assert_true(access(found.gl_pathv[0], F_OK) != 0);
    sound_cache_save(&o, "a.mkv", NULL, -1, -1, &s);
    assert_true(has(&o, "a.mkv", -1));
    globfree(&found);
}

TEST_WITH(a_small_limit_evicts, set_up, leave)
{
    struct cache_options o = options();
    struct film_sound s = made(0);
    glob_t found;
    struct stat st;
    write_film("a.mkv", 100000, -1);
    write_film("b.mkv", 100001, -1);
    sound_cache_save(&o, "a.mkv", NULL, -1, -1, &s);
    assert_int_equal(glob("cache/*.frames", 0, NULL, &found), 0);
    assert_int_equal(stat(found.gl_pathv[0], &st), 0);
    globfree(&found);
    o.limit = (uint64_t)st.st_size * 3 / 2;
    sound_cache_save(&o, "b.mkv", NULL, -1, -1, &s);
    assert_false(has(&o, "a.mkv", -1));
    assert_true(has(&o, "b.mkv", -1));
}

static const struct selection whole = {.kind = SELECT_EVERY, .every = 24, .end_us = INT64_MAX};

static bool has_scan(const struct cache_options *o, const char *film, const char *crop,
                     int64_t start_us)
{
    struct source source = {.film = {.stream = 0}};
    const struct frame_cache_ask ask = {
        .film = &source, .selection = &whole, .crop = crop, .light = "", .decode = "any"};
    struct film_scan s;
    bool found = scan_cache_load(o, film, NULL, &ask, start_us, INT64_MAX, &s);
    assert_int_equal(s.count, found ? 2 : 0);
    if (found)
        assert_true(s.frame[1].frame == 1 && s.frame[1].time_us == 40000 && s.end_us == 80000);
    film_scan_free(&s);
    return found;
}

static void save_scan(const struct cache_options *o, const char *film)
{
    struct source source = {.film = {.stream = 0}};
    const struct frame_cache_ask ask = {
        .film = &source, .selection = &whole, .crop = "auto", .light = "", .decode = "any"};
    struct scan_frame frame[2] = {{.frame = 0}, {.frame = 1, .time_us = 40000}};
    const struct film_scan s = {frame, 2, 80000};
    scan_cache_save(o, film, NULL, &ask, 0, INT64_MAX, &s);
}

/* It depends on the film, on what changes its pixels, and on --start and --end. */
TEST_WITH(keeps_the_scan_of_a_film, set_up, leave)
{
    struct cache_options o = options();
    struct film_sound s = made(0);
    write_film("a.mkv", 100000, -1);
    write_film("b.mkv", 100001, -1);
    assert_false(has_scan(&o, "a.mkv", "auto", 0));
    save_scan(&o, "a.mkv");
    assert_true(has_scan(&o, "a.mkv", "auto", 0));
    assert_false(has_scan(&o, "a.mkv", "", 0));
    assert_false(has_scan(&o, "a.mkv", "auto", 1));
    assert_false(has_scan(&o, "b.mkv", "auto", 0));
    assert_false(has(&o, "a.mkv", -1));
    sound_cache_save(&o, "a.mkv", NULL, -1, -1, &s);
    assert_true(has(&o, "a.mkv", -1));
    assert_true(has_scan(&o, "a.mkv", "auto", 0));
    write_film("a.mkv", 100000, 100);
    assert_false(has_scan(&o, "a.mkv", "auto", 0));
}
