#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barcode/cli.h"
#include "barcode/inputs.h"
#include "nobody.h"
#include "strips.h"

/* Every test works in an empty folder of its own. */
static char folder[64];
static int home;

static int enter(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_inputs.XXXXXX");
    home = open(".", O_RDONLY | O_DIRECTORY);
    return home >= 0 && mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    char command[192];
    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", folder, folder);
    int rc = fchdir(home);
    close(home);
    return rc == 0 && system(command) == 0 ? 0 : -1;
}

static void put(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void touch(const char *path)
{
    put(path, "x", 1);
}

/* A PNG up to its text chunk; `pad` bytes of another chunk in front. */
static void put_png(const char *path, const char *type, const void *text, size_t size, size_t pad)
{
    uint8_t png[8192] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13, 'I', 'H', 'D', 'R'};
    size_t at = 8 + 12 + 13;
    png[at + 2] = (uint8_t)(pad >> 8);
    png[at + 3] = (uint8_t)pad;
    memcpy(png + at + 4, "xxXx", 4);
    at += 12 + pad;
    png[at + 3] = (uint8_t)size;
    memcpy(png + at + 4, type, 4);
    memcpy(png + at + 8, text, size);
    put(path, png, at + 12 + size);
}

static struct options options_for(char **input, size_t inputs)
{
    return (struct options){.input = input, .inputs = inputs, .strip = {strip_table[0]}, .strips = 1};
}

/* Expands a list of words that ends in NULL; the caller frees `in`. */
static struct options expand(char **input, struct inputs *in)
{
    size_t count = 0;
    while (input[count])
        count++;
    struct options o = options_for(input, count);
    struct err e = ERR_INIT;
    if (!inputs_expand(&o, in, &e))
        fail_msg("%s", e.text);
    return o;
}

/* Asks for these strips, as -m does. */
static void want(struct options *o, const char *modes)
{
    struct err e = ERR_INIT;
    assert_true(cli_parse_modes(modes, o, &e));
}

#define LIST(...) ((char *[]){__VA_ARGS__, NULL})

static void expect_output(const struct options *o, const struct inputs *in, size_t i, const char *strip, const char *path)
{
    struct err e = ERR_INIT;
    char *got = inputs_output(o, in, i, alone(strip).kind[0], &e);
    if (!got)
        fail_msg("%s", e.text);
    assert_string_equal(got, path);
    free(got);
}

static void expect_sentence(const struct err *e, enum err_code code, const char *part)
{
    if (!strstr(e->text, part))
        fail_msg("'%s' lacks '%s'", e->text, part);
    assert_int_equal(e->code, code);
}

/* The whole run is refused. */
static void expect_refusal(const struct options *o, struct inputs *in, enum err_code code, const char *part)
{
    struct err e = ERR_INIT;
    assert_false(inputs_check(o, in, &e));
    expect_sentence(&e, code, part);
}

/* Only film `i` is. */
static void expect_problem(const struct options *o, struct inputs *in, size_t i, enum err_code code, const char *part)
{
    struct err e = ERR_INIT;
    if (!inputs_check(o, in, &e))
        fail_msg("%s", e.text);
    expect_sentence(&in->problem[i], code, part);
    err_clear(&in->problem[i]);
    for (size_t k = 0; k < in->count; k++)
        assert_int_equal(in->problem[k].code, ERR_NONE);
}

static void expect_allowed(const struct options *o, struct inputs *in)
{
    struct err e = ERR_INIT;
    if (!inputs_check(o, in, &e))
        fail_msg("%s", e.text);
    for (size_t i = 0; i < in->count; i++)
        assert_string_equal(in->problem[i].text, "");
}

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

static void what_cannot_be_expanded(void **state)
{
    (void)state;
    static const struct { const char *word; enum err_code code; const char *part; } t[] = {
        {"-", ERR_USAGE, "stdin"},
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
    struct options o = expand(LIST("a.mkv", "empty", "locked", "b.mkv"), &in);
    assert_int_equal(in.count, 4);
    expect_sentence(&in.problem[1], ERR_INPUT, "no films in the folder 'empty'");
    expect_sentence(&in.problem[2], ERR_INPUT, geteuid() == 0 ? "no films" : "cannot read the folder 'locked'");
    assert_int_equal(in.problem[0].code, ERR_NONE);
    assert_int_equal(in.problem[3].code, ERR_NONE);
    assert_string_equal(in.stem[3], "b");
    err_clear(&in.problem[1]);
    inputs_free(&in);
    /* It is no second film, either. */
    o = expand(LIST("a.mkv", "empty"), &in);
    struct err e = ERR_INIT;
    o.output = "x.png";
    o.json = "x.json";
    assert_true(inputs_check(&o, &in, &e));
    assert_int_equal(in.problem[0].code, ERR_NONE);
    assert_int_equal(in.problem[1].code, ERR_INPUT);
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

static void names_of_outputs(void **state)
{
    (void)state;
    mkdir("out", 0777);
    mkdir("dir.d", 0777);
    struct inputs in;
    struct options o = expand(LIST("a/film.mkv"), &in);
    expect_output(&o, &in, 0, "kmeans", "film.png");
    o.output = "out";
    expect_output(&o, &in, 0, "kmeans", "out/film.png");
    o.output = "later/";
    expect_output(&o, &in, 0, "kmeans", "later/film.png");
    o.output = "x.png";
    expect_output(&o, &in, 0, "kmeans", "x.png");
    o.output = "-";
    expect_output(&o, &in, 0, "kmeans", "-");
    want(&o, "kmeans,average");
    o.output = NULL;
    expect_output(&o, &in, 0, "kmeans", "film-kmeans.png");
    expect_output(&o, &in, 0, "average", "film-average.png");
    o.output = "dir.d/x";
    expect_output(&o, &in, 0, "average", "dir.d/x-average");
    o.output = "dir.d/x.y.png";
    expect_output(&o, &in, 0, "average", "dir.d/x.y-average.png");
    o.output = ".hidden";
    expect_output(&o, &in, 0, "average", ".hidden-average");
    want(&o, "all");
    o.output = "x.png";
    expect_output(&o, &in, 0, "kmeans", "x.png");
    inputs_free(&in);
}

static void one_name_for_many(void **state)
{
    (void)state;
    mkdir("out", 0777);
    struct inputs in;
    struct options o = expand(LIST("a.mkv", "b.mkv"), &in);
    o.output = "x.png";
    expect_refusal(&o, &in, ERR_USAGE, "one name for 2 films");
    o.output = "-";
    expect_refusal(&o, &in, ERR_USAGE, "one name for 2 films");
    o.output = "out";
    expect_allowed(&o, &in);
    o.json = "x.json";
    expect_refusal(&o, &in, ERR_USAGE, "--json x.json: one file for 2 films");
    o.json = NULL;
    o.dump = "-";
    expect_refusal(&o, &in, ERR_USAGE, "--dump -: one file for 2 films");
    inputs_free(&in);
    o = expand(LIST("a.mkv"), &in);
    o.output = "-";
    want(&o, "kmeans,palette");
    expect_refusal(&o, &in, ERR_USAGE, "stdout can carry one picture, not 2");
    want(&o, "all");
    expect_allowed(&o, &in);
    inputs_free(&in);
}

static void the_film_is_never_replaced(void **state)
{
    (void)state;
    touch("film.mkv");
    touch("second.mkv");
    assert_int_equal(symlink("film.mkv", "alias.png"), 0);
    assert_int_equal(link("film.mkv", "hard.png"), 0);
    mkdir("d", 0777);
    struct inputs in;
    struct options o = expand(LIST("film.mkv"), &in);
    static const char *const name[] = {"film.mkv", "./film.mkv", "d/../film.mkv", "alias.png", "hard.png"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        o.output = name[i];
        expect_refusal(&o, &in, ERR_USAGE, "is the film itself; choose another name");
        o.output = "x.png";
        o.json = name[i];
        expect_refusal(&o, &in, ERR_USAGE, "is the film itself");
        o.json = NULL;
        o.dump = name[i];
        expect_refusal(&o, &in, ERR_USAGE, "is the film itself");
        o.dump = NULL;
    }
    inputs_free(&in);
    /* Not the film at hand, but one whose turn comes later; reached by a name that the program chose. */
    assert_int_equal(symlink("second.mkv", "film.png"), 0);
    o = expand(LIST("film.mkv", "second.mkv"), &in);
    expect_refusal(&o, &in, ERR_USAGE, "is the film itself");
    inputs_free(&in);
}

static void strangers_files_stay(void **state)
{
    (void)state;
    struct inputs in;
    struct options o = expand(LIST("film.mkv"), &in);
    touch("film.png");
    expect_problem(&o, &in, 0, ERR_FAILED, "'film.png' is there and was not made by barcode");
    o.output = "film.png";             /* the user said so */
    expect_allowed(&o, &in);
    o.output = NULL;
    put("film.png", "", 0);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    static const char ours[] = "Software\0barcode 0.1.0", other[] = "Software\0GIMP", title[] = "Title\0barcode";
    static const char inter[] = "Software\0\0\0en\0Programm\0barcode 0.1.0", torn[] = "Software\0\0\0enbarcode";
    put_png("film.png", "tEXt", ours, sizeof ours - 1, 9);
    expect_allowed(&o, &in);
    put_png("film.png", "iTXt", inter, sizeof inter - 1, 9);
    expect_allowed(&o, &in);
    put_png("film.png", "tEXt", other, sizeof other - 1, 9);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    put_png("film.png", "tEXt", title, sizeof title - 1, 9);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    put_png("film.png", "iTXt", torn, sizeof torn - 1, 9);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    put_png("film.png", "tEXt", "Software", 8, 9);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    put_png("film.png", "iTXt", "Software\0", 9, 9);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    put_png("film.png", "zTXt", ours, sizeof ours - 1, 9);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    put_png("film.png", "tEXt", ours, sizeof ours - 1, 5000);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    mkdir("out", 0777);
    touch("out/film.png");
    o.output = "out";
    expect_problem(&o, &in, 0, ERR_FAILED, "'out/film.png' is there");
    inputs_free(&in);
    /* Of several films, only the one that is in the way stays undone. */
    o = expand(LIST("other.mkv", "film.mkv", "third.mkv"), &in);
    o.output = "out";
    expect_problem(&o, &in, 1, ERR_FAILED, "'out/film.png' is there");
    remove("out/film.png");
    mkdir("out/third-kmeans.png", 0777);
    want(&o, "kmeans,palette");
    expect_problem(&o, &in, 2, ERR_FAILED, "not made by barcode");
    want(&o, "kmeans");
    assert_int_equal(mkfifo("out/other.png", 0600), 0);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");      /* and nobody waits for a writer */
    inputs_free(&in);
}

/* What an ordinary user is told: the whole run is refused, or its one film is. */
struct denied {
    const struct options *options;
    struct inputs *inputs;
    bool whole;
    const char *sentence;
};

static bool is_denied(const void *what)
{
    const struct denied *d = what;
    struct err e = ERR_INIT;
    bool whole = !inputs_check(d->options, d->inputs, &e);
    const struct err *said = whole ? &e : &d->inputs->problem[0];
    bool denied = whole == d->whole && said->code == ERR_FAILED && strstr(said->text, d->sentence);
    if (!denied)
        fprintf(stderr, "'%s' lacks '%s'\n", said->text, d->sentence);
    return denied;
}

static void places_that_cannot_be_written(void **state)
{
    (void)state;
    struct inputs in;
    struct options o = expand(LIST("film.mkv"), &in);
    touch("plain");
    mkdir("d", 0777);
    o.output = "gone/x.png";
    expect_refusal(&o, &in, ERR_FAILED, "the folder 'gone/' is not there");
    o.output = "gone/";
    expect_refusal(&o, &in, ERR_FAILED, "the folder 'gone/' is not there");
    o.output = "plain/x.png";
    expect_refusal(&o, &in, ERR_FAILED, "plain");
    o.output = "x.png";
    o.json = "d";
    expect_refusal(&o, &in, ERR_FAILED, "it is a folder");
    o.json = "gone/x.json";
    expect_refusal(&o, &in, ERR_FAILED, "is not there");
    o.json = "/dev/null";
    o.output = "/dev/null";
    expect_allowed(&o, &in);
    o.json = NULL;
    o.output = "d/x.png";
    chmod(".", 0777);
    chmod("d", 0555);
    struct denied folder_denied = {&o, &in, true, "cannot write into the folder 'd/': Permission denied"};
    assert_true(nobody_holds(is_denied, &folder_denied));
    o.output = "plain";
    chmod("plain", 0444);
    struct denied file_denied = {&o, &in, false, "cannot write 'plain': Permission denied"};
    assert_true(nobody_holds(is_denied, &file_denied));
    inputs_free(&in);
}

static void outputs_do_not_share_a_file(void **state)
{
    (void)state;
    struct inputs in;
    struct options o = expand(LIST("film.mkv"), &in);
    mkdir("d", 0777);
    o.json = "film.png";
    expect_refusal(&o, &in, ERR_USAGE, "asked for twice");
    o.json = "d/.././film.png";
    expect_refusal(&o, &in, ERR_USAGE, "asked for twice");
    o.json = "a";
    o.dump = "./a";
    expect_refusal(&o, &in, ERR_USAGE, "by --json and by --dump");
    o.dump = "d/a";
    expect_allowed(&o, &in);
    inputs_free(&in);
}

static void names_that_promise_something_else(void **state)
{
    (void)state;
    struct inputs in;
    struct options o = expand(LIST("film.mkv"), &in);
    mkdir("d.jpg", 0777);
    mkdir("e.mkv", 0777);
    static const char *const fine[] = {"x.png", "x", "x.PNG", "x.data", "d.jpg", "e.mkv", "d.jpg/x", "-", "jpg"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        o.output = fine[i];
        expect_allowed(&o, &in);
    }
    o.output = "x.JPG";
    expect_refusal(&o, &in, ERR_USAGE, "-o 'x.JPG': the picture is a PNG");
    o.output = "other.mkv";
    expect_refusal(&o, &in, ERR_USAGE, "-o 'other.mkv' is the name of a film");
    o.output = NULL;
    o.json = "other.mp4";
    expect_refusal(&o, &in, ERR_USAGE, "--json 'other.mp4' is the name of a film");
    o.json = "x.jpg";                  /* odd, but nobody is deceived */
    o.dump = "other.ts";
    expect_refusal(&o, &in, ERR_USAGE, "--dump 'other.ts' is the name of a film");
    inputs_free(&in);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_folder_is_scanned),
        TEST(what_cannot_be_expanded),
        TEST(a_folder_without_films),
        TEST(stems),
        TEST(names_of_outputs),
        TEST(one_name_for_many),
        TEST(the_film_is_never_replaced),
        TEST(strangers_files_stay),
        TEST(places_that_cannot_be_written),
        TEST(outputs_do_not_share_a_file),
        TEST(names_that_promise_something_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
