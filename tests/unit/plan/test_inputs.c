
#include "test.h"
#include "base/log.h"
#include "named.h"

TEST_WITH(a_folder_is_scanned, enter, leave)
{
    mkdir("films", 0777);
    mkdir("films/dir.mkv", 0777);
    static const char *const name[] = {
        "films/b.MKV", "films/a.mp4", "films/C.webm",           "films/.hidden.mkv",
        "films/x.txt", "films/mkv",   "films/dir.mkv/deep.mkv", "films/z.tar.hevc",
        "outside.bin"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        touch(name[i]);
    static const char *const path[] = {"outside.bin", "films/C.webm", "films/a.mp4", "films/b.MKV",
                                       "films/z.tar.hevc"};
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

TEST_WITH(a_folder_gives_regular_files_alone, enter, leave)
{
    mkdir("films", 0777);
    mkdir("films/dir.mp4", 0777);
    touch("outside.mkv");
    assert_int_equal(mkfifo("films/fifo.mkv", 0600), 0);
    assert_int_equal(symlink("fifo.mkv", "films/link-to-fifo.mkv"), 0);
    assert_int_equal(symlink("/dev/zero", "films/device.mkv"), 0);
    assert_int_equal(symlink("../outside.mkv", "films/link.mkv"), 0);
    assert_int_equal(symlink("nowhere", "films/dangling.mkv"), 0); /* opening it says so */
    struct inputs in;
    expand(LIST("films"), &in);
    assert_int_equal(in.count, 2);
    assert_string_equal(in.path[0], "films/dangling.mkv");
    assert_string_equal(in.path[1], "films/link.mkv");
    inputs_free(&in);
    expand(LIST("films/fifo.mkv"), &in); /* named outright it is meant */
    assert_int_equal(in.count, 1);
    assert_int_equal(in.problem[0].code, ERR_NONE);
    inputs_free(&in);
}

TEST_WITH(what_cannot_be_expanded, enter, leave)
{
    static const struct {
        const char *word;
        enum err_code code;
        const char *part;
    } t[] = {{"", ERR_USAGE, "empty"}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        char first[] = "first.mkv", word[16];
        snprintf(word, sizeof word, "%s", t[i].word);
        struct plan o = options_for(LIST(first, word), 2);
        struct inputs in;
        struct err e = ERR_INIT;
        assert_false(inputs_expand(&o.inputs, &o.outputs, &in, &e));
        assert_int_equal(e.code, t[i].code);
        assert_non_null(strstr(e.text, t[i].part));
        assert_int_equal(in.count, 0);
        assert_null(in.path);
    }
}

/* A folder without films is an entry of its own; the films around it are as they would be without
 * it. */
TEST_WITH(a_folder_without_films, enter, leave)
{
    mkdir("empty", 0777);
    mkdir("locked", 0000);
    struct inputs in;
    expand(LIST("a.mkv", "empty", "locked", "b.mkv"), &in);
    assert_int_equal(in.count, 4);
    expect_sentence(&in.problem[1], ERR_INPUT, "no films in the folder 'empty'");
    expect_sentence(&in.problem[2], ERR_INPUT,
                    geteuid() == 0 ? "no films" : "cannot read the folder 'locked'");
    assert_int_equal(in.problem[0].code, ERR_NONE);
    assert_int_equal(in.problem[3].code, ERR_NONE);
    assert_string_equal(in.stem[3], "b");
    inputs_free(&in);
}

TEST_WITH(stems, enter, leave)
{
    struct inputs in;
    expand(LIST("a/x.mkv", "b/x.avi", "x-2.mp4", "x.ts", "no-ending", ".mkv", "v1.2.mkv", "gone/",
                "a:b", "dot."),
           &in);
    static const char *const stem[] = {"x",    "x-2",  "x-2-2", "x-3", "no-ending",
                                       ".mkv", "v1.2", "gone",  "a:b", "dot"};
    assert_int_equal(in.count, sizeof stem / sizeof *stem);
    for (size_t i = 0; i < in.count; i++)
        assert_string_equal(in.stem[i], stem[i]);
    assert_string_equal(in.path[8], "a:b");
    inputs_free(&in);
}

static void expect_films(const struct inputs *in, const char *const *path, const char *const *stem)
{
    size_t count = 0;
    for (; path[count]; count++) {
        assert_true(count < in->count);
        assert_string_equal(in->path[count], path[count]);
        assert_string_equal(in->stem[count], stem[count]);
        assert_int_equal(in->problem[count].code, ERR_NONE);
    }
    assert_int_equal(in->count, count);
}

/* Expands one folder, with the folders below or with all endings. */
static void expand_folder(char *path, bool recursive, bool any, struct inputs *in)
{
    struct plan o = options_for(&path, 1);
    struct err e = ERR_INIT;
    o.inputs.recursive = recursive;
    o.inputs.any = any;
    if (!inputs_expand(&o.inputs, &o.outputs, in, &e))
        fail_msg("%s", e.text);
}

TEST_WITH(folders_below, enter, leave)
{
    static const char *const dir[] = {"t",         "t/s2",    "t/s10",     "t/s10/deep",
                                      "t/.hidden", "t/empty", "t/film.mkv"};
    for (size_t i = 0; i < sizeof dir / sizeof *dir; i++)
        mkdir(dir[i], 0777);
    static const char *const name[] = {"t/z.mkv",         "t/s2/e10.mkv",      "t/s2/e2.mkv",
                                       "t/s2/e2.avi",     "t/s10/e2.mkv",      "t/s10/deep/e2.mkv",
                                       "t/.hidden/x.mkv", "t/film.mkv/in.mkv", "t/s2/x.gif"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        touch(name[i]);
    static const char *const path[] = {
        "t/z.mkv",      "t/film.mkv/in.mkv", "t/s2/e2.avi",       "t/s2/e2.mkv",
        "t/s2/e10.mkv", "t/s10/e2.mkv",      "t/s10/deep/e2.mkv", NULL};
    static const char *const stem[] = {"z",      "film.mkv/in", "s2/e2",      "s2/e2-2",
                                       "s2/e10", "s10/e2",      "s10/deep/e2"};
    static char t[] = "t", hidden[] = "t/empty";
    struct inputs in;
    expand_folder(t, true, false, &in);
    expect_films(&in, path, stem);
    assert_true(in.file[0].regular && in.file[0].bytes == 1 &&
                in.file[0].inode != in.file[1].inode);
    inputs_free(&in);
    expand_folder(hidden, true, false, &in);
    assert_int_equal(in.count, 1);
    expect_sentence(&in.problem[0], ERR_INPUT, "no films in the folder 't/empty' or below it");
    inputs_free(&in);
}

/* A way back up is left out; a way to the side, or a second way to the same folder, is not. */
TEST_WITH(loops, enter, leave)
{
    mkdir("t", 0777);
    mkdir("t/a", 0777);
    mkdir("t/a/b", 0777);
    touch("t/a/b/x.mkv");
    assert_int_equal(symlink(".", "t/self"), 0);
    assert_int_equal(symlink("../..", "t/a/b/up"), 0);
    assert_int_equal(symlink("../a", "t/a/b/gone"), 0); /* leads nowhere */
    assert_int_equal(symlink("a/b", "t/side"), 0);
    assert_int_equal(symlink("x.mkv", "t/a/b/y.mkv"), 0);
    static const char *const path[] = {"t/a/b/x.mkv", "t/a/b/y.mkv", "t/side/x.mkv", "t/side/y.mkv",
                                       NULL};
    static const char *const stem[] = {"a/b/x", "a/b/y", "side/x", "side/y"};
    static char t[] = "t";
    struct inputs in;
    log_set_level(LOG_ERROR);
    expand_folder(t, true, false, &in);
    log_set_level(LOG_INFO);
    expect_films(&in, path, stem);
    inputs_free(&in);
}

/* Hidden files are no films, nor what barcode made. */
TEST_WITH(any_ending, enter, leave)
{
    static const uint8_t picture[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0,
                                      0,    0,   16,  't', 'E',  'X',  't',  'S',  'o',
                                      'f',  't', 'w', 'a', 'r',  'e',  0,    'b',  'a',
                                      'r',  'c', 'o', 'd', 'e',  0,    0,    0,    0};
    mkdir("t", 0777);
    static const char *const name[] = {"t/a.gif", "t/b", "t/c.mkv", "t/.d.gif", "t/other.png"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        touch(name[i]);
    put("t/made.png", picture, sizeof picture);
    static const char json[] = "{\n\"version\": \"1\",\n\"film\": {\"id\":null";
    put("t/made.json", json, strlen(json));
    mkfifo("t/pipe", 0600);
    static const char *const path[] = {"t/a.gif", "t/b", "t/c.mkv", "t/other.png", NULL};
    static const char *const stem[] = {"a", "b", "c", "other"};
    static char t[] = "t";
    struct inputs in;
    expand_folder(t, false, true, &in);
    expect_films(&in, path, stem);
    inputs_free(&in);
}

/* Every name is given out once, however many there are. */
TEST_WITH(many_of_one_name, enter, leave)
{
    enum { FILMS = 3000 };
    static char name[] = "x.mkv", other[] = "x-7.mkv", *list[FILMS + 1];
    for (size_t i = 0; i < FILMS; i++)
        list[i] = i == 5 ? other : name;
    struct inputs in;
    expand(list, &in);
    assert_int_equal(in.count, FILMS);
    assert_string_equal(in.stem[4], "x-5");
    assert_string_equal(in.stem[5], "x-7");
    assert_string_equal(in.stem[6], "x-6");
    assert_string_equal(in.stem[7], "x-8");
    assert_string_equal(in.stem[FILMS - 1], "x-3000");
    inputs_free(&in);
}

/* ffmpeg's habit: the last word names the output. */
TEST_WITH(an_output_among_the_films, enter, leave)
{
    static const uint8_t animated[] = "\x89PNG\r\n\x1a\n\0\0\0\x08"
                                      "acTL";
    struct inputs in;
    touch("film.mp4");
    touch("old.png");
    put("animated.png", animated, sizeof animated);
    mkdir("folder", 0777);
    mkdir("d.png", 0777);
    static const struct {
        const char *name, *sentence;
    } refused[] = {
        {"out.png", "'out.png' is not a film; use -o out.png"},
        {"old.png", "'old.png' is not a film; use -o old.png"},
        {"d/out.PDF", "'d/out.PDF' is not a film; use -o d/out.PDF"},
        {"out.svg", "use -o out.svg"},
        {"out.html", "use -o out.html"},
        {"out.csv", "use -o out.csv"},
        {"out.json", "'out.json' is not a film; use --json out.json"},
        {"out.jpg", "'out.jpg' is not a film; use -o out.jpg"},
        {"pics/", "'pics/' is not a film; use -o pics/"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct plan o = options_for(LIST("film.mp4", (char *)refused[i].name), 2);
        struct err e = ERR_INIT;
        assert_false(inputs_expand(&o.inputs, &o.outputs, &in, &e));
        expect_sentence(&e, ERR_USAGE, refused[i].sentence);
    }
    static const char *const ok[] = {"animated.png", "folder", "d.png", "missing.mkv", "-"};
    for (size_t i = 0; i < sizeof ok / sizeof *ok; i++) {
        expand(LIST("film.mp4", (char *)ok[i]), &in);
        inputs_free(&in);
    }
    struct plan o = options_for(LIST("film.mp4", "old.png", "other.mkv"), 3);
    struct err e = ERR_INIT;
    assert_false(inputs_expand(&o.inputs, &o.outputs, &in, &e));
    expect_sentence(&e, ERR_USAGE,
                    "'old.png' is not a film; for the outputs of several films use -o FOLDER/");
    expand(LIST("old.png"), &in); /* alone it is what the user means, and opening it says what it is
                                   */
    inputs_free(&in);
}
