#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "test.h"
#include "folder.h"
#include "cache/cache_entry.h"
#include "barcode/engine/shrink.h"

/* ------------------------------------------------------------------ films */

static void write_film(const char *name, size_t bytes, size_t change_at)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < bytes; i++)
        putc((int)((i * 7 + i / 1000 + (i == change_at)) & 255), f);
    fclose(f);
}

/* The time of change set back, as cp -p and a careless editor do. */
static void set_time(const char *name, time_t when)
{
    struct timespec t[2] = {{when, 5}, {when, 5}};
    assert_int_equal(utimensat(AT_FDCWD, name, t, 0), 0);
}

static struct cache_film look(const char *name)
{
    struct cache_film id;
    struct err e = ERR_INIT;
    assert_ok(cache_film_read(name, NULL, &id, &e), &e);
    return id;
}

static bool same_film(const struct cache_film *a, const struct cache_film *b)
{
    return a->size == b->size && a->modified_ns == b->modified_ns &&
           hash_same(a->fingerprint, b->fingerprint);
}

TEST(what_a_film_is)
{
    static const size_t sizes[] = {0, 1, 70000, 1 << 20, (1 << 20) + 1, 3000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        write_film("a", sizes[i], SIZE_MAX);
        set_time("a", 1000000);
        struct cache_film a = look("a"), again = look("a");
        assert_true(same_film(&a, &again) && cache_film_holds("a", NULL, &a));
        assert_false(cache_place_suspect(&a.place, &again.place));
        /* Another name, and another file with the same bytes and time: the same film. */
        assert_int_equal(rename("a", "b"), 0);
        struct cache_film b = look("b");
        assert_true(same_film(&a, &b));
        assert_false(cache_place_suspect(&a.place, &b.place));
        assert_false(cache_film_holds("a", NULL, &a));
        write_film("c", sizes[i], SIZE_MAX);
        set_time("c", 1000000);
        struct cache_film c = look("c");
        assert_true(same_film(&a, &c));
        assert_false(cache_place_suspect(&a.place, &c.place));
    }
}

TEST(what_a_changed_film_is)
{
    write_film("f", 3000000, SIZE_MAX);
    set_time("f", 1000000);
    struct cache_film was = look("f"), now;
    write_film("f", 3000001, SIZE_MAX);
    set_time("f", 1000000);
    now = look("f");
    assert_false(same_film(&was, &now) || cache_film_holds("f", NULL, &was));
    write_film("f", 3000000, SIZE_MAX);
    now = look("f"); /* the same bytes at another time */
    assert_false(same_film(&was, &now));
    static const size_t sampled[] = {0, 65535, 2999999, 3000000 - 65536};
    for (size_t i = 0; i < sizeof sampled / sizeof *sampled; i++) {
        write_film("f", 3000000, sampled[i]);
        set_time("f", 1000000);
        now = look("f");
        assert_false(hash_same(was.fingerprint, now.fingerprint));
    }
    /* A byte that no sample holds, the time set back: only the file's own clock tells. */
    write_film("f", 3000000, SIZE_MAX);
    set_time("f", 1000000);
    was = look("f");
    write_film("f", 3000000, 100000);
    set_time("f", 1000000);
    now = look("f");
    assert_true(same_film(&was, &now) && cache_place_suspect(&was.place, &now.place) &&
                !cache_film_holds("f", NULL, &was));
}

TEST(what_no_film_is)
{
    struct cache_film id;
    struct err e = ERR_INIT;
    assert_false(cache_film_read("nowhere", NULL, &id, &e));
    assert_non_null(strstr(e.text, "No such file"));
    err_clear(&e);
    assert_false(cache_film_read("/dev/null", NULL, &id, &e));
    assert_false(cache_film_read(".", NULL, &id, &e));
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_false(cache_film_read("pipe", NULL, &id, &e));
    /* Where a clock ticks in whole seconds, a file that was just changed may change again
     * unnoticed. */
    write_film("young", 10, SIZE_MAX);
    struct timespec t[2] = {{time(NULL), 0}, {time(NULL), 0}};
    assert_int_equal(utimensat(AT_FDCWD, "young", t, 0), 0);
    err_clear(&e);
    assert_false(cache_film_read("young", NULL, &id, &e));
    assert_non_null(strstr(e.text, "a moment ago"));
}

/* ------------------------------------------------------------------ text */

struct wish {
    struct cache_film id;
    struct film film;
    struct selection rule;
    int width, height;
    const char *decode, *crop, *light;
};

static struct wish wish(void)
{
    return (struct wish){.id = {.size = 5, .modified_ns = 6, .fingerprint = {7, 8}},
                         .film = {.container = "matroska,webm",
                                  .codec = "h264",
                                  .pixel_format = "yuv420p",
                                  .width = 320,
                                  .height = 180,
                                  .coded_width = 320,
                                  .coded_height = 192,
                                  .rate_num = 24,
                                  .rate_den = 1,
                                  .library = "libx 1"},
                         .rule = {.kind = SELECT_EVERY, .every = 24, .end_us = INT64_MAX},
                         .width = 160,
                         .height = 90,
                         .decode = "any"};
}

static struct cache_key key_of(const struct wish *w)
{
    struct cache_key key;
    assert_true(cache_key_make(&key, &w->id, &w->film, &w->rule, w->width, w->height,
                               w->crop ? w->crop : "", w->light ? w->light : "", w->decode));
    assert_true(cache_key_is_name(key.name));
    return key;
}

/* Everything that can change a staged byte gives another key; base says whether entries are
 * compared at all. */
TEST(everything_counts)
{
    struct wish usual = wish();
    struct cache_key first = key_of(&usual);
    enum { FILM = 24, ALL = 29 };
    for (int i = 0; i < ALL; i++) {
        struct wish w = wish();
        switch (i) {
        case 0: w.id.size++; break;
        case 1: w.id.modified_ns++; break;
        case 2: w.id.fingerprint.low++; break;
        case 3: w.id.fingerprint.high++; break;
        case 4: strcpy(w.film.container, "avi"); break;
        case 5: strcpy(w.film.codec, "hevc"); break;
        case 6: strcpy(w.film.pixel_format, "yuv422p"); break;
        case 7: w.film.stream++; break;
        case 8: w.film.coded_width++; break;
        case 9: w.film.height++; break;
        case 10: w.film.orientation.quarter_turns = 1; break;
        case 11: w.film.orientation.mirror = true; break;
        case 12: w.film.matrix = MATRIX_BT601; break;
        case 13: w.film.range = RANGE_FULL; break;
        case 14: w.film.rate_num = 25; break;
        case 15: w.film.rate_den = 2; break;
        case 16: strcpy(w.film.library, "libx 2"); break;
        case 17: w.width++; break;
        case 18: w.height++; break;
        case 19: w.decode = "nvdec"; break;
        case 20: w.crop = "auto"; break;
        case 21: w.rule.keyframes = true; break;
        case 22: w.light = "bt2390 1000"; break;
        case 23: w.film.alpha = true; break;
        case 24: w.rule.every = 12; break;
        case 25:
            w.rule =
                (struct selection){.kind = SELECT_INTERVAL, .interval_us = 24, .end_us = INT64_MAX};
            break;
        case 26:
            w.rule = (struct selection){.kind = SELECT_COLUMNS, .columns = 24, .end_us = INT64_MAX};
            break;
        case 27: w.rule.start_us = 1; break;
        default: w.rule.end_us = 1; break;
        }
        struct cache_key key = key_of(&w);
        assert_string_not_equal(key.text, first.text);
        assert_string_not_equal(key.name, first.name);
        assert_int_equal(strncmp(key.name, first.name, CACHE_NAME_BASE) == 0, i >= FILM);
        const char *line = NULL;
        size_t length = cache_key_difference(key.text, first.text, &line);
        assert_true(length > 0 && memchr(line, '=', length));
    }
}

TEST(what_does_not_count)
{
    struct wish w = wish();
    struct cache_key first = key_of(&w);
    static char path[] = "elsewhere";
    const char *line;
    w.film.path = path;
    w.id.place = (struct cache_place){1, 2, 3, 4};
    w.film.length.duration_us = 5;
    struct cache_key key = key_of(&w);
    assert_string_equal(key.text, first.text);
    assert_string_equal(key.name, first.name);
    assert_int_equal(cache_key_difference(key.text, first.text, &line), 0);
    assert_true(key.base < strlen(key.text) && strncmp(key.text + key.base, "selection.", 10) == 0);
}

TEST(names)
{
    static const char *const no[] = {"",
                                     "lock",
                                     ".new-abcdef",
                                     "CACHEDIR.TAG",
                                     "0123456789abcdef-0123456789abcdef0123456789abcdef.frame",
                                     "0123456789abcdef_0123456789abcdef0123456789abcdef.frames",
                                     "../3456789abcdef-0123456789abcdef0123456789abcdef.frames",
                                     "0123456789abcdef-0123456789abcdef0123456789abcdef.frames~",
                                     "0123456789ABCDEF-0123456789abcdef0123456789abcdef.frames"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        assert_false(cache_key_is_name(no[i]));
    assert_true(cache_key_is_name("0123456789abcdef-0123456789abcdef0123456789abcdef.frames"));
}

/*
 * A frame through the whole of the arithmetic. When this number changes on purpose,
 * ANALYSIS_VERSION must go up, or caches would go on serving what the old arithmetic gave.
 */
TEST(golden_frame)
{
    enum { W = 97, H = 55, OUT_W = 31, OUT_H = 17 };
    static uint16_t sample[3][W * H];
    static uint8_t rgb[OUT_W * OUT_H * 3];
    struct frame_view v = {.model = MODEL_YCBCR,
                           .matrix = MATRIX_BT709,
                           .range = RANGE_LIMITED,
                           .bits = 10,
                           .width = W,
                           .height = H,
                           .orientation = {1, true}};
    for (int p = 0; p < 3; p++) {
        int w = p ? (W + 1) / 2 : W, h = p ? (H + 1) / 2 : H;
        for (int i = 0; i < w * h; i++)
            sample[p][i] = (uint16_t)((i * 37 + p * 211 + i / w * 5) % 1024);
        v.plane[p] = (struct plane){(const uint8_t *)sample[p], (ptrdiff_t)w * 2, 2, w, h};
    }
    struct shrink *s = shrink_open(OUT_W, OUT_H, NULL);
    assert_non_null(s);
    assert_true(shrink_frame(s, &v, rgb, NULL));
    shrink_free(&s);
    assert_int_equal(ANALYSIS_VERSION, 9);
    char text[33];
    hash_hex((struct hash128){hash_64(rgb, sizeof rgb), 0}, text);
    assert_string_equal(text + 16, "382b2b8966f26d45");
}

/* A change of any part, also one that only its time shows, makes another film. */
TEST(parts)
{
    struct film_part part[] = {{.path = "p1"}, {.path = "p2"}, {.path = "p3"}};
    struct film_parts parts = {.part = part, .count = 3};
    struct cache_film was, now;
    struct err e = ERR_INIT;
    for (int i = 0; i < 3; i++) {
        write_film(part[i].path, 1000, 1000);
        set_time(part[i].path, 1000000 + i);
    }
    assert_true(cache_film_read("p1", &parts, &was, &e));
    assert_int_equal(was.size, 3000);
    for (int i = 0; i < 3; i++) {
        set_time(part[i].path, 900000);
        assert_false(cache_film_holds("p1", &parts, &was));
        assert_true(cache_film_read("p1", &parts, &now, &e));
        assert_false(same_film(&was, &now));
        set_time(part[i].path, 1000000 + i);
        assert_true(cache_film_read("p1", &parts, &now, &e));
        assert_true(same_film(&was, &now));
    }
    assert_true(cache_film_read("p1", NULL, &now, &e));
    assert_false(same_film(&was, &now));
    unlink("p2");
    assert_false(cache_film_holds("p1", &parts, &was));
    assert_false(cache_film_read("p1", &parts, &now, &e));
}

/* Images that begin with the same black bar are not one film. */
TEST(many_parts)
{
    enum { PARTS = FILM_ID_BLOCKS + 1, BYTES = 3 * FILM_ID_BLOCK_BYTES };
    struct film_part part[PARTS];
    char name[PARTS][16];
    struct film_parts parts = {.part = part, .count = PARTS};
    struct cache_film was, now;
    struct err e = ERR_INIT;
    for (int i = 0; i < PARTS; i++) {
        snprintf(name[i], sizeof name[i], "i%d", i);
        part[i] = (struct film_part){.path = name[i]};
        write_film(name[i], BYTES, BYTES);
        set_time(name[i], 1000000);
    }
    assert_true(cache_film_read("i0", &parts, &was, &e));
    write_film(name[3], BYTES, BYTES / 2);
    set_time(name[3], 1000000);
    assert_true(cache_film_read("i0", &parts, &now, &e));
    assert_false(same_film(&was, &now));
}

TEST_FIXTURE(enter, leave)
