#include <unistd.h>

#include <signal.h>

#include "test.h"
#include "base/interrupt.h"
#include "cache/cache_options.h"
#include "cached.h"

static char said[4096];

/* Runs it; what it says is in `said`. */
static bool ask(bool verify, bool clear, bool stats, struct err *e)
{
    struct cache_options o = cache_options_default;
    o.folder = ".";
    o.off = true; /* --no-cache is about films */
    o.limit = UINT64_C(10) << 30;
    o.verify = verify;
    o.clear = clear;
    o.stats = stats;
    FILE *f = fmemopen(said, sizeof said, "w");
    memset(said, 0, sizeof said);
    assert_non_null(f);
    bool ok = cache_admin(&o, f, e);
    fclose(f);
    return ok;
}

static void says(const char *text)
{
    if (!strstr(said, text))
        fail_msg("no '%s' in: %s", text, said);
}

TEST(all_three)
{
    struct err e = ERR_INIT;
    struct cached_film f = {.frames = 100, .every = 10, .width = 320, .height = 180}, g = f;
    assert_true(ask(false, false, true, &e));
    says("entries   0 (0 of interrupted runs, 0 that cannot be read)");
    assert_true(ask(true, false, false, &e));
    says("checked   0 entries, 0 damaged");
    g.every = 5;
    g.partial = true;
    g.last = 50;
    assert_true(cached_write(&f, NULL) && cached_write(&g, NULL));
    assert_true(ask(true, false, true, &e));
    says("checked   2 entries, 0 damaged, 0 of another version");
    says("entries   2 (1 of interrupted runs, 0 that cannot be read)");
    says("columns   20\n");
    says(", 320x180, every=10: 10 columns, ");
    says(", 320x180, every=5 (interrupted): 10 columns, ");
    says(" of raw RGB");
    says("of 10737418240 allowed");
    struct cache_key key = cached_key(&f);
    FILE *file = fopen(key.name, "r+b");
    fseek(file, 5000, SEEK_SET);
    fputs("damage", file);
    fclose(file);
    fclose(fopen("a stranger's file", "w"));
    assert_false(ask(true, false, true, &e));
    assert_string_equal(e.text, "1 of 2 entries of the cache were damaged");
    says("damaged: a block does not match its checksum; removed");
    says("entries   1 ");
    err_clear(&e);
    assert_true(ask(false, true, true, &e));
    says("removed   1 files");
    says("entries   0 ");
    struct stat st;
    assert_int_equal(lstat("a stranger's file", &st), 0);
}

/* Nothing of a stranger's entry can affect the terminal: neither its film's name nor its key. */
TEST(foreign_text)
{
    struct err e = ERR_INIT;
    struct cached_film f = {.frames = 10,
                            .every = 1,
                            .width = 8,
                            .height = 8,
                            .name = "a\xc2\x9b"
                                    "31m\xe2\x80\xae\xff.mkv",
                            .key = "selection.\x1b]0;PWNED\a\x1b[2J\xc2\x9b\n"};
    assert_true(cached_write(&f, NULL));
    assert_true(ask(false, false, true, &e));
    says("a?31m??.mkv, 8x8, ?]0;PWNED??[2J?: 10 columns, ");
    assert_null(strpbrk(said, "\x1b\a\xc2\xe2\xff"));
    assert_true(ask(false, true, false, &e));
}

TEST(no_folder)
{
    struct err e = ERR_INIT;
    struct cache_options o = cache_options_default;
    o.folder = "-";
    o.stats = true;
    assert_false(cache_admin(&o, stdout, &e));
    assert_non_null(strstr(e.text, "--cache"));
    err_clear(&e);
    o.folder = "/nowhere/at/all";
    FILE *f = fopen("/dev/full", "w");
    assert_false(cache_admin(&o, f, &e));
    assert_non_null(strstr(e.text, "cannot write 'standard output'"));
    fclose(f);
}

TEST(not_a_folder)
{
    struct err e = ERR_INIT;
    FILE *f = fopen("file", "w");
    assert_true(f && fclose(f) == 0);
    struct cache_options o = cache_options_default;
    o.folder = "file";
    o.stats = true;
    assert_false(cache_admin(&o, stderr, &e));
    assert_int_equal(e.code, ERR_FAILED);
    assert_string_equal(e.text, "the cache 'file' is not a folder");
    unlink("file");
}

/* The last test: it leaves the process interrupted. */
TEST(interrupted_half_way)
{
    struct err e = ERR_INIT;
    interrupt_install();
    raise(SIGINT);
    assert_false(ask(true, true, true, &e));
    assert_int_equal(e.code, ERR_INTERRUPTED);
}

TEST_FIXTURE(enter, leave)
