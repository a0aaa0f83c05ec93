
#include "test.h"
#include "cli/cli.h"
#include "nobody.h"
#include "outputs_asked.h"
#include "set_option.h"

/* A PNG up to its text chunk; `pad` bytes of another chunk in front. */
static void put_png(const char *path, const char *type, const void *text, size_t size, size_t pad)
{
    uint8_t png[8192] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
                         0,    0,   0,   13,  'I',  'H',  'D',  'R'};
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

/* Asks for these strips, as -m does. */
static void want(struct plan *o, const char *modes)
{
    struct err e = ERR_INIT;
    assert_true(set_in_plan(o, "mode", modes, &e));
}

/* The picture of this strip, or of STRIP_ALL, has this path and may be written. */
static void expect_output(const struct plan *o, const struct inputs *in, size_t i,
                          const char *strip, const char *path)
{
    struct err e = ERR_INIT;
    struct outputs list;
    if (!outputs_of(o, in, i, &list, &e))
        fail_msg("%s", e.text);
    assert_int_equal(list.pictures, o->picture.stacked ? 1 : o->picture.strips);
    size_t k = 0;
    char name[STRIPS_NAME];
    for (; k < list.pictures; k++) {
        strips_name(list.output[k].strips, name);
        if (strcmp(name, strip) == 0)
            break;
    }
    assert_true(k < list.pictures);
    if (!outputs_allowed(in, i, &list.output[k], &e))
        fail_msg("%s", e.text);
    assert_string_equal(list.output[k].path, path);
    assert_ptr_equal(list.output[k].writer, writer_find("png"));
    outputs_free(&list);
    assert_int_equal(list.count, 0);
}

/* A folder without films is no second film. */
TEST_WITH(a_folder_without_films, enter, leave)
{
    mkdir("empty", 0777);
    struct inputs in;
    struct plan o = expand(LIST("a.mkv", "empty"), &in);
    struct err e = ERR_INIT;
    o.outputs.path = "x.png";
    extra(&o, "json", "x.json");
    assert_true(outputs_check(&o, &in, &e));
    assert_int_equal(in.problem[0].code, ERR_NONE);
    assert_int_equal(in.problem[1].code, ERR_INPUT);
    inputs_free(&in);
}

TEST_WITH(names_of_outputs, enter, leave)
{
    mkdir("out", 0777);
    mkdir("dir.d", 0777);
    struct inputs in;
    struct plan o = expand(LIST("a/film.mkv"), &in);
    expect_output(&o, &in, 0, "kmeans", "film.png");
    o.outputs.path = "out";
    expect_output(&o, &in, 0, "kmeans", "out/film.png");
    o.outputs.path = "later/";
    expect_output(&o, &in, 0, "kmeans", "later/film.png");
    o.outputs.path = "x.png";
    expect_output(&o, &in, 0, "kmeans", "x.png");
    o.outputs.path = "-";
    expect_output(&o, &in, 0, "kmeans", "-");
    want(&o, "kmeans,average");
    o.outputs.path = NULL;
    expect_output(&o, &in, 0, "kmeans", "film-kmeans.png");
    expect_output(&o, &in, 0, "average", "film-average.png");
    o.outputs.path = "dir.d/x";
    expect_output(&o, &in, 0, "average", "dir.d/x-average");
    o.outputs.path = "dir.d/x.y.png";
    expect_output(&o, &in, 0, "average", "dir.d/x.y-average.png");
    o.outputs.path = ".hidden";
    expect_output(&o, &in, 0, "average", ".hidden-average");
    want(&o, "all");
    o.outputs.path = "x.png";
    expect_output(&o, &in, 0, STRIP_ALL, "x.png");
    o.outputs.path = NULL;
    expect_output(&o, &in, 0, STRIP_ALL, "film-all.png");
    want(&o, "palette");
    expect_output(&o, &in, 0, "palette", "film-palette.png");
    o.poster.wanted = true;
    expect_output(&o, &in, 0, "palette", "film-palette-poster.png");
    o.poster.wanted = false;
    o.picture.shape = SHAPE_CIRCLE;
    o.outputs.path = "out";
    expect_output(&o, &in, 0, "palette", "out/film-palette-circle.png");
    want(&o, "kmeans");
    expect_output(&o, &in, 0, "kmeans", "out/film-circle.png");
    o.outputs.path = "y.png";
    expect_output(&o, &in, 0, "kmeans", "y.png");
    o.picture.shape = SHAPE_STRIP;
    want(&o, "all");
    o.outputs.path = "x.json"; /* --json asks for JSON, -o for a picture of any name */
    expect_output(&o, &in, 0, STRIP_ALL, "x.json");
    inputs_free(&in);
}

TEST_WITH(one_name_for_many, enter, leave)
{
    mkdir("out", 0777);
    struct inputs in;
    struct plan o = expand(LIST("a.mkv", "b.mkv"), &in);
    o.outputs.path = "x.png";
    expect_refusal(&o, &in, ERR_USAGE, "one name for 2 films");
    o.outputs.path = "x.jpg";
    expect_refusal(&o, &in, ERR_USAGE, "give a folder, as in -o DIR/ --name '{stem}.jpg'");
    o.outputs.path = "x.html";
    expect_refusal(&o, &in, ERR_USAGE, "--html DIR/index.html makes a page for each");
    o.outputs.path = "-";
    expect_refusal(&o, &in, ERR_USAGE, "one name for 2 films");
    o.outputs.path = "out";
    expect_allowed(&o, &in);
    extra(&o, "json", "x.json");
    expect_refusal(&o, &in, ERR_USAGE, "--json x.json: one file for 2 films");
    o.outputs.extras = 0;
    o.outputs.dump = "-";
    expect_refusal(&o, &in, ERR_USAGE, "--dump -: one file for 2 films");
    inputs_free(&in);
    o = expand(LIST("a.mkv"), &in);
    o.outputs.path = "-";
    want(&o, "kmeans,palette");
    expect_refusal(&o, &in, ERR_USAGE, "stdout can carry one picture, not 2");
    want(&o, "all");
    expect_allowed(&o, &in);
    inputs_free(&in);
}

TEST_WITH(the_film_is_never_replaced, enter, leave)
{
    touch("film.mkv");
    touch("second.mkv");
    assert_int_equal(symlink("film.mkv", "alias.png"), 0);
    assert_int_equal(link("film.mkv", "hard.png"), 0);
    mkdir("d", 0777);
    struct inputs in;
    struct plan o = expand(LIST("film.mkv"), &in);
    static const char *const name[] = {"film.mkv", "./film.mkv", "d/../film.mkv", "alias.png",
                                       "hard.png"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        o.outputs.path = name[i];
        expect_refusal(&o, &in, ERR_USAGE, "is the film itself; choose another name");
        o.outputs.path = "x.png";
        extra(&o, "json", name[i]);
        expect_refusal(&o, &in, ERR_USAGE, "is the film itself");
        o.outputs.extras = 0;
        o.outputs.dump = name[i];
        expect_refusal(&o, &in, ERR_USAGE, "is the film itself");
        o.outputs.dump = NULL;
    }
    inputs_free(&in);
    /* Not the film at hand, but one whose turn comes later. A name that the program chose stands in
     * that film's way alone. */
    assert_int_equal(symlink("second.mkv", "film.png"), 0);
    o = expand(LIST("film.mkv", "second.mkv"), &in);
    expect_problem(&o, &in, 0, ERR_FAILED,
                   "the output 'film.png' is the film itself; choose another name with -o");
    inputs_free(&in);
}

TEST_WITH(strangers_files_stay, enter, leave)
{
    struct inputs in;
    struct plan o = expand(LIST("film.mkv"), &in);
    touch("film.png");
    expect_problem(&o, &in, 0, ERR_FAILED,
                   "'film.png': the file exists and was not made by barcode");
    o.outputs.path = "film.png"; /* the user said so */
    expect_allowed(&o, &in);
    o.outputs.path = NULL;
    put("film.png", "", 0);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    static const char recognizes[] = "Software\0barcode 0.1.0", other[] = "Software\0GIMP",
                      title[] = "Title\0barcode";
    static const char inter[] = "Software\0\0\0en\0Programm\0barcode 0.1.0",
                      truncated[] = "Software\0\0\0enbarcode";
    put_png("film.png", "tEXt", recognizes, sizeof recognizes - 1, 9);
    expect_allowed(&o, &in); /* there is no such film, which is told when it is opened */
    put_png("film.png", "iTXt", inter, sizeof inter - 1, 9);
    expect_allowed(&o, &in);
    touch("film.mkv");
    expect_problem(&o, &in, 0, ERR_FAILED,
                   "'film.png': the file exists and may show another film; choose "
                   "another name with -o, or --overwrite");
    remove("film.mkv");
    put_png("film.png", "tEXt", other, sizeof other - 1, 9);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    put_png("film.png", "tEXt", title, sizeof title - 1, 9);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    put_png("film.png", "iTXt", truncated, sizeof truncated - 1, 9);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    put_png("film.png", "tEXt", "Software", 8, 9);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    put_png("film.png", "iTXt", "Software\0", 9, 9);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    put_png("film.png", "zTXt", recognizes, sizeof recognizes - 1, 9);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    put_png("film.png", "tEXt", recognizes, sizeof recognizes - 1, 5000);
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    mkdir("out", 0777);
    touch("out/film.png");
    o.outputs.path = "out";
    expect_problem(&o, &in, 0, ERR_FAILED, "'out/film.png': the file exists");
    inputs_free(&in);
    /* Of several films, only the one that is in the way stays undone. */
    o = expand(LIST("other.mkv", "film.mkv", "third.mkv"), &in);
    o.outputs.path = "out";
    expect_problem(&o, &in, 1, ERR_FAILED, "'out/film.png': the file exists");
    remove("out/film.png");
    mkdir("out/third-kmeans.png", 0777);
    want(&o, "kmeans,palette");
    expect_problem(&o, &in, 2, ERR_FAILED, "not made by barcode");
    want(&o, "kmeans");
    assert_int_equal(mkfifo("out/other.png", 0600), 0);
    /* and nobody waits for a writer */
    expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    inputs_free(&in);
}

/* What an ordinary user is told: the whole run is refused, or its one film is. */
struct denied {
    const struct plan *options;
    struct inputs *inputs;
    bool whole;
    const char *sentence;
};

static bool is_denied(const void *what)
{
    const struct denied *d = what;
    struct err e = ERR_INIT;
    bool whole = !outputs_check(d->options, d->inputs, &e);
    const struct err *said = whole ? &e : &d->inputs->problem[0];
    bool denied = whole == d->whole && said->code == ERR_FAILED && strstr(said->text, d->sentence);
    if (!denied)
        fprintf(stderr, "'%s' lacks '%s'\n", said->text, d->sentence);
    return denied;
}

TEST_WITH(places_that_cannot_be_written, enter, leave)
{
    struct inputs in;
    struct plan o = expand(LIST("film.mkv"), &in);
    chmod(".", 0777);
    touch("plain");
    mkdir("d", 0777);
    o.outputs.path = "gone/x.png";
    expect_refusal(&o, &in, ERR_FAILED, "the folder 'gone/' does not exist");
    o.outputs.path = "gone/"; /* is made, and nothing above it */
    expect_allowed(&o, &in);
    o.outputs.path = "gone/deeper/";
    expect_refusal(&o, &in, ERR_FAILED,
                   "cannot create the folder 'gone/deeper/': the folder 'gone/' does not exist");
    o.outputs.path = "plain/";
    expect_refusal(&o, &in, ERR_FAILED, "'plain/' is not a folder");
    o.outputs.path = "plain/x.png";
    expect_refusal(&o, &in, ERR_FAILED, "plain");
    o.outputs.path = "x.png";
    mkdir("d/film.json", 0777);
    extra(&o, "json", "d/film.json"); /* a folder, in which it is named after the film */
    expect_allowed(&o, &in);
    rmdir("d/film.json");
    extra(&o, "json", "gone/x.json");
    expect_refusal(&o, &in, ERR_FAILED, "does not exist");
    extra(&o, "json", "/dev/null");
    o.outputs.path = "/dev/null";
    expect_allowed(&o, &in);
    o.outputs.extras = 0;
    o.outputs.path = "d/x.png";
    chmod("d", 0555);
    struct denied folder_denied = {&o, &in, true,
                                   "cannot write into the folder 'd/': Permission denied"};
    assert_true(nobody_holds(is_denied, &folder_denied));
    o.outputs.path = "d/";
    assert_true(nobody_holds(is_denied, &folder_denied));
    o.outputs.path = "d/deeper/";
    assert_true(nobody_holds(is_denied, &folder_denied));
    o.outputs.path = "plain";
    chmod("plain", 0444);
    struct denied file_denied = {&o, &in, false, "cannot write 'plain': Permission denied"};
    assert_true(nobody_holds(is_denied, &file_denied));
    inputs_free(&in);
}

TEST_WITH(outputs_do_not_share_a_file, enter, leave)
{
    struct inputs in;
    struct plan o = expand(LIST("film.mkv"), &in);
    mkdir("d", 0777);
    o.outputs.path = "film.png";
    extra(&o, "json", "film.png");
    expect_refusal(&o, &in, ERR_USAGE, "requested twice");
    extra(&o, "json", "d/.././film.png");
    expect_refusal(&o, &in, ERR_USAGE, "requested twice");
    extra(&o, "json", "a");
    o.outputs.dump = "./a";
    expect_refusal(&o, &in, ERR_USAGE, "by --json and by --dump");
    o.outputs.dump = "d/a";
    expect_allowed(&o, &in);
    o.outputs.dump = NULL;
    o.outputs.path = "./-"; /* a file, and stdout is none */
    extra(&o, "json", "-");
    expect_allowed(&o, &in);
    inputs_free(&in);
}

/* What -o names comes first, and each file has its strips; what has an option of its own has all of
 * them. */
TEST_WITH(the_list_of_outputs, enter, leave)
{
    struct inputs in;
    struct outputs list;
    struct err e = ERR_INIT;
    struct plan o = expand(LIST("film.mkv"), &in);
    want(&o, "squeeze,kmeans,palette");
    o.outputs.path = "./";
    extra(&o, "json", "x.json");
    o.outputs.extra[o.outputs.extras++] = (struct options_extra){writer_find("bench"), "-"};
    assert_true(outputs_of(&o, &in, 0, &list, &e));
    static const struct {
        const char *path, *writer;
        size_t strips;
    } known[] = {{"./film-kmeans.png", "png", 1},
                 {"./film-palette.png", "png", 1},
                 {"./film-squeeze.png", "png", 1},
                 {"x.json", "json", 3},
                 {"-", "bench", 3}};
    assert_int_equal(list.count, 5);
    assert_int_equal(list.pictures, 3);
    for (size_t k = 0; k < 5; k++) {
        assert_string_equal(list.output[k].path, known[k].path);
        assert_string_equal(list.output[k].writer->name, known[k].writer);
        assert_int_equal(list.output[k].strips.count, known[k].strips);
        assert_int_equal(list.output[k].chosen, k < 3);
    }
    assert_string_equal(list.output[2].strips.kind[0]->name, "squeeze");
    assert_string_equal(list.output[3].strips.kind[2]->name, "squeeze");
    outputs_free(&list);
    inputs_free(&in);
}

/* A line a film: any number of films may share stdout. */
TEST_WITH(bench_of_many, enter, leave)
{
    struct inputs in;
    struct plan o = expand(LIST("a.mkv", "b.mkv"), &in);
    extra(&o, "bench", "-");
    expect_allowed(&o, &in);
    extra(&o, "json", "-");
    expect_refusal(&o, &in, ERR_USAGE, "--json -: one file for 2 films");
    inputs_free(&in);
}

TEST_WITH(names_that_promise_something_else, enter, leave)
{
    struct inputs in;
    struct plan o = expand(LIST("film.mkv"), &in);
    mkdir("d.jpg", 0777);
    mkdir("e.mkv", 0777);
    static const char *const ok[] = {"x.png", "x",       "x.PNG", "x.JPG", "d.jpg", "x.webp",
                                     "e.mkv", "d.jpg/x", "-",     "jpg",   ".x",    "d.e/x"};
    mkdir("d.e", 0777);
    for (size_t i = 0; i < sizeof ok / sizeof *ok; i++) {
        o.outputs.path = ok[i];
        expect_allowed(&o, &in);
    }
    static const char *const other[] = {"x.ppm", "x.gif", "x.txt", "x.", "d.e/x.data", "x.tar.gz"};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        o.outputs.path = other[i];
        expect_refusal(&o, &in, ERR_USAGE, "ends in .png, .jpg, .webp, .svg, .pdf or .html");
    }
    o.outputs.path = "x.json";
    expect_refusal(&o, &in, ERR_USAGE, "or .html; --json writes data");
    o.outputs.path = "other.mkv";
    expect_refusal(&o, &in, ERR_USAGE, "-o 'other.mkv' is the name of a film");
    o.outputs.path = NULL;
    extra(&o, "json", "other.mp4");
    expect_refusal(&o, &in, ERR_USAGE, "--json 'other.mp4' is the name of a film");
    extra(&o, "json", "x.jpg"); /* odd, but nobody is deceived */
    o.outputs.dump = "other.ts";
    expect_refusal(&o, &in, ERR_USAGE, "--dump 'other.ts' is the name of a film");
    inputs_free(&in);
}
