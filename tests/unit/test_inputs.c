#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "named.h"

static void a_folder_is_scanned(void **state)
{
    (void)state;
    mkdir("films", 0777);
    mkdir("films/dir.mkv", 0777);
    static const char *const name[] = {"films/b.MKV", "films/a.mp4", "films/C.webm", "films/.hidden.mkv", "films/x.txt",
                                       "films/mkv", "films/dir.mkv/deep.mkv", "films/z.tar.hevc", "outside.bin"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        touch(name[i]);
    static const char *const path[] = {"outside.bin", "films/C.webm", "films/a.mp4", "films/b.MKV", "films/z.tar.hevc"};
    static const char *const stem[] = {"outside", "C", "a", "b", "z.tar"};
    struct inputs in;
    expand(LIST("outside.bin", "films/"), &in);
    assert_int_equal(in.count, 5);
    for (size_t i = 0; i < in.count; i++) {
        assert_string_equal(in.path[i], path[i]);
        assert_string_equal(in.stem[i], stem[i]);
    }
    inputs_free(&in);
    assert_int_equal(in.count, 0);
    assert_null(in.path);
    inputs_free(&in);
}

static void a_folder_gives_regular_files_alone(void **state)
{
    (void)state;
    mkdir("films", 0777);
    mkdir("films/dir.mp4", 0777);
    touch("outside.mkv");
    assert_int_equal(mkfifo("films/fifo.mkv", 0600), 0);
    assert_int_equal(symlink("fifo.mkv", "films/link-to-fifo.mkv"), 0);
    assert_int_equal(symlink("/dev/zero", "films/device.mkv"), 0);
    assert_int_equal(symlink("../outside.mkv", "films/link.mkv"), 0);
    assert_int_equal(symlink("nowhere", "films/dangling.mkv"), 0);      /* opening it says so */
    struct inputs in;
    expand(LIST("films"), &in);
    assert_int_equal(in.count, 2);
    assert_string_equal(in.path[0], "films/dangling.mkv");
    assert_string_equal(in.path[1], "films/link.mkv");
    inputs_free(&in);
    expand(LIST("films/fifo.mkv"), &in);                                /* named outright it is meant */
    assert_int_equal(in.count, 1);
    assert_int_equal(in.problem[0].code, ERR_NONE);
    inputs_free(&in);
}

static void what_cannot_be_expanded(void **state)
{
    (void)state;
    static const struct { const char *word; enum err_code code; const char *part; } t[] = {
        {"", ERR_USAGE, "empty"}
    };
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char first[] = "first.mkv", word[16];
        snprintf(word, sizeof word, "%s", t[i].word);
        struct options o = options_for(LIST(first, word), 2);
        struct inputs in;
        struct err e = ERR_INIT;
        assert_false(inputs_expand(&o, &in, &e));
        assert_int_equal(e.code, t[i].code);
        assert_non_null(strstr(e.text, t[i].part));
        assert_int_equal(in.count, 0);
        assert_null(in.path);
    }
}

/* A folder without films is an entry of its own; the films around it are as they would be without it. */
static void a_folder_without_films(void **state)
{
    (void)state;
    mkdir("empty", 0777);
    mkdir("locked", 0000);
    struct inputs in;
    expand(LIST("a.mkv", "empty", "locked", "b.mkv"), &in);
    assert_int_equal(in.count, 4);
    expect_sentence(&in.problem[1], ERR_INPUT, "no films in the folder 'empty'");
    expect_sentence(&in.problem[2], ERR_INPUT, geteuid() == 0 ? "no films" : "cannot read the folder 'locked'");
    assert_int_equal(in.problem[0].code, ERR_NONE);
    assert_int_equal(in.problem[3].code, ERR_NONE);
    assert_string_equal(in.stem[3], "b");
    inputs_free(&in);
}

static void stems(void **state)
{
    (void)state;
    struct inputs in;
    expand(LIST("a/x.mkv", "b/x.avi", "x-2.mp4", "x.ts", "no-ending", ".mkv", "v1.2.mkv", "gone/", "synth:4x4,red",
                "synth:blue", "dot."), &in);
    static const char *const stem[] = {"x", "x-2", "x-2-2", "x-3", "no-ending", ".mkv", "v1.2", "gone", "synth",
                                       "synth-2", "dot"};
    assert_int_equal(in.count, sizeof stem / sizeof *stem);
    for (size_t i = 0; i < in.count; i++)
        assert_string_equal(in.stem[i], stem[i]);
    assert_string_equal(in.path[8], "synth:4x4,red");
    inputs_free(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_folder_is_scanned),
        TEST(a_folder_gives_regular_files_alone),
        TEST(what_cannot_be_expanded),
        TEST(a_folder_without_films),
        TEST(stems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
