
#include "test.h"
#include "cli/cli.h"
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
    struct output_plan run;
    const struct outputs *list = name_outputs(o, in, i, &run);
    assert_int_equal(run.pictures, o->picture.stacked ? 1 : o->picture.strips);
    size_t k = 0;
    char name[STRIPS_NAME];
    for (; k < run.pictures; k++) {
        strips_name(run.kind[k].strips, name);
        if (strcmp(name, strip) == 0)
            break;
    }
    assert_true(k < run.pictures);
    assert_ok(outputs_allowed(in, i, &list->output[k], &e), &e);
    assert_string_equal(list->output[k].path, path);
    assert_ptr_equal(run.kind[k].writer, writer_find("png"));
    outputs_free(&run);
}

/* What -m, -o and the shape make of 'a/film.mkv'; `strip` is the one whose picture is meant. */
static const struct naming {
    const char *modes, *path, *strip, *name;
    enum strip_shape shape;
    bool poster;
} namings[] = {
    {"kmeans", NULL, "kmeans", "film.png", SHAPE_STRIP, false},
    {"kmeans", "out", "kmeans", "out/film.png", SHAPE_STRIP, false},
    {"kmeans", "later/", "kmeans", "later/film.png", SHAPE_STRIP, false},
    {"kmeans,average", NULL, "kmeans", "film-kmeans.png", SHAPE_STRIP, false},
    {"kmeans,average", "dir.d/x", "average", "dir.d/x-average", SHAPE_STRIP, false},
    {"kmeans,average", "dir.d/x.y.png", "average", "dir.d/x.y-average.png", SHAPE_STRIP, false},
    {"kmeans,average", ".hidden", "average", ".hidden-average", SHAPE_STRIP, false},
    {"all", "x.png", STRIP_ALL, "x.png", SHAPE_STRIP, false},
    {"all", "x.json", STRIP_ALL, "x.json", SHAPE_STRIP, false}, /* -o names pictures alone */
    {"palette", NULL, "palette", "film-palette-poster.png", SHAPE_STRIP, true},
    {"palette", "out", "palette", "out/film-palette-ring.png", SHAPE_RING, false},
    {"kmeans", "out", "kmeans", "out/film-ring.png", SHAPE_RING, false},
    {"kmeans", "y.png", "kmeans", "y.png", SHAPE_RING, false},
};

TEST_WITH(names_of_outputs, enter, leave)
{
    mkdir("out", 0777);
    mkdir("dir.d", 0777);
    struct inputs in;
    struct plan o = expand(LIST("a/film.mkv"), &in);
    for (size_t i = 0; i < sizeof namings / sizeof *namings; i++) {
        want(&o, namings[i].modes);
        o.outputs.path = namings[i].path;
        o.picture.shape = namings[i].shape;
        o.poster.wanted = namings[i].poster;
        expect_output(&o, &in, 0, namings[i].strip, namings[i].name);
    }
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
    static const struct {
        const char *type, *text;
        size_t size, pad;
        bool ours;
    } heads[] = {
        {"tEXt", "Software\0barcode 0.1.0", 22, 9, true},
        {"iTXt", "Software\0\0\0en\0Programm\0barcode 0.1.0", 36, 9, true},
        {"tEXt", "Software\0GIMP", 13, 9, false},
        {"tEXt", "Title\0barcode", 13, 9, false},
        {"iTXt", "Software\0\0\0enbarcode", 20, 9, false},
        {"tEXt", "Software", 8, 9, false},
        {"iTXt", "Software\0", 9, 9, false},
        {"zTXt", "Software\0barcode 0.1.0", 22, 9, false},
        {"tEXt", "Software\0barcode 0.1.0", 22, 5000, false},
    };
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        put_png("film.png", heads[i].type, heads[i].text, heads[i].size, heads[i].pad);
        if (heads[i].ours) /* there is no such film, which is told when it is opened */
            expect_allowed(&o, &in);
        else
            expect_problem(&o, &in, 0, ERR_FAILED, "not made by barcode");
    }
    put_png("film.png", "tEXt", heads[0].text, heads[0].size, 9);
    touch("film.mkv");
    expect_problem(&o, &in, 0, ERR_FAILED,
                   "'film.png': the file exists and may show another film; choose "
                   "another name with -o, or --overwrite");
    remove("film.mkv");
    mkdir("out", 0777);
    touch("out/film.png");
    o.outputs.path = "out";
    expect_problem(&o, &in, 0, ERR_FAILED, "'out/film.png': the file exists");
    inputs_free(&in);
}

/* What -o names comes first, and each file has its strips; what has an option of its own has all of
 * them. */
TEST_WITH(the_list_of_outputs, enter, leave)
{
    struct inputs in;
    struct output_plan run;
    struct plan o = expand(LIST("film.mkv"), &in);
    want(&o, "squeeze,kmeans,palette");
    o.outputs.path = "./";
    extra(&o, "json", "x.json");
    o.outputs.extra[o.outputs.extras++] = (struct options_extra){writer_find("bench"), "-"};
    const struct outputs *list = name_outputs(&o, &in, 0, &run);
    static const struct {
        const char *path, *writer;
        size_t strips;
    } known[] = {{"./film-kmeans.png", "png", 1},
                 {"./film-palette.png", "png", 1},
                 {"./film-squeeze.png", "png", 1},
                 {"x.json", "json", 3},
                 {"-", "bench", 3}};
    assert_int_equal(list->count, 5);
    assert_int_equal(run.pictures, 3);
    for (size_t k = 0; k < 5; k++) {
        assert_string_equal(list->output[k].path, known[k].path);
        assert_string_equal(run.kind[k].writer->name, known[k].writer);
        assert_int_equal(run.kind[k].strips.count, known[k].strips);
        assert_int_equal(run.kind[k].chosen, k < 3);
    }
    assert_string_equal(run.kind[2].strips.kind[0]->name, "squeeze");
    assert_string_equal(run.kind[3].strips.kind[2]->name, "squeeze");
    outputs_free(&run);
    inputs_free(&in);
}
