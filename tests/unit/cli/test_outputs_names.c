/* Names that the program chooses: --name, and what marks them in a folder that films come from. */

#include "test.h"
#include "outputs_asked.h"
#include "set_option.h"

/* Film `i` has these outputs, a blank between two, and each may be written. */
static void expect_names(const struct plan *o, struct inputs *in, size_t i, const char *names)
{
    struct output_plan run;
    char got[400] = "";
    expect_allowed(o, in);
    const struct outputs *list = name_outputs(o, in, i, &run);
    for (size_t k = 0; k < list->count; k++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", k > 0 ? " " : "",
                 list->output[k].path);
    assert_string_equal(got, names);
    outputs_free(&run);
}

static void make_films(void)
{
    assert_int_equal(mkdir("films", 0777) | mkdir("films/s1", 0777) | mkdir("films/s2", 0777), 0);
    touch("films/a.mkv");
    touch("films/s1/e.mkv");
    touch("films/s2/e.mkv");
}

/* Media centres take films/a.png for the poster of films/a.mkv. */
TEST_WITH(a_folder_of_films, enter, leave)
{
    struct inputs in;
    make_films();
    struct plan o = expand(LIST("films/"), &in);
    o.outputs.path = "films";
    expect_names(&o, &in, 0, "films/a-barcode.png");
    assert_true(set_in_plan(&o, "mode", "palette", NULL));
    o.poster.wanted = true;
    extra(&o, "json", "films/s1/../");
    expect_names(&o, &in, 0, "films/a-barcode-palette-poster.png films/s1/../a-barcode.json");
    o.outputs.path = "films/s1"; /* without -r no film comes from there */
    expect_names(&o, &in, 0, "films/s1/a-palette-poster.png films/s1/../a-barcode.json");
    o.outputs.name = "{stem}";
    expect_names(&o, &in, 0, "films/s1/a.png films/s1/../a.json");
    inputs_free(&in);
    o = options_for(LIST("films"), 1);
    o.inputs.recursive = true;
    o.outputs.path = "films/s1/";
    struct err e = ERR_INIT;
    assert_true(inputs_expand(&o.inputs, &o.outputs, &in, &e));
    expect_names(&o, &in, 0, "films/s1/a-barcode.png");
    expect_names(&o, &in, 2, "films/s1/s2/e-barcode.png");
    o.outputs.path = "other/";
    expect_names(&o, &in, 2, "other/s2/e.png");
    inputs_free(&in);
    mkdir("films/made", 0777); /* by an earlier run: no film comes from there */
    o.outputs.path = "films/made";
    assert_true(inputs_expand(&o.inputs, &o.outputs, &in, &e));
    expect_names(&o, &in, 0, "films/made/a.png");
    o.outputs.path = NULL;
    extra(&o, "html", "films/index.html"); /* a gallery, and its pages beside it */
    expect_names(&o, &in, 2, "films/s2/e-barcode.html");
    extra(&o, "html", "index.html");
    expect_names(&o, &in, 2, "s2/e.html");
    inputs_free(&in);
}

/* The working directory counts where an option or an argument names it: film.mkv gives film.png. */
TEST_WITH(the_working_directory, enter, leave)
{
    struct inputs in;
    touch("a.mkv");
    struct plan o = expand(LIST("a.mkv"), &in);
    expect_names(&o, &in, 0, "a.png");
    o.outputs.path = ".";
    expect_names(&o, &in, 0, "./a-barcode.png");
    o.outputs.path = "x.png";
    expect_names(&o, &in, 0, "x.png");
    inputs_free(&in);
    o = expand(LIST("."), &in);
    expect_names(&o, &in, 0, "a-barcode.png");
    inputs_free(&in);
    o = expand(LIST("a.mkv", "gone.mkv"), &in); /* a film that is not there has no folder */
    expect_names(&o, &in, 1, "gone.png");
    inputs_free(&in);
}

TEST_WITH(patterns, enter, leave)
{
    struct inputs in;
    struct err e = ERR_INIT;
    make_films();
    struct plan o = options_for(LIST("films"), 1);
    o.inputs.recursive = true;
    o.outputs.path = "o/";
    extra(&o, "csv", "c/");
    assert_true(set_in_plan(&o, "name", "x {stem}-{mode}-{stem}", &e) &&
                inputs_expand(&o.inputs, &o.outputs, &in, &e));
    expect_names(&o, &in, 1, "o/s1/x e-kmeans-e.png c/s1/x e-kmeans-e.csv");
    assert_true(set_in_plan(&o, "mode", "kmeans,average", &e));
    expect_names(&o, &in, 0, "o/x a-kmeans-a.png o/x a-average-a.png c/x a-kmeans-average-a.csv");
    assert_true(set_in_plan(&o, "mode", "all", &e));
    expect_names(&o, &in, 0, "o/x a-all-a.png c/x a-all-a.csv");
    assert_true(set_in_plan(&o, "name", "{stem}", &e));
    expect_names(&o, &in, 0, "o/a.png c/a.csv");
    assert_true(set_in_plan(&o, "mode", "kmeans,average", &e));
    expect_refusal(
        &o, &in, ERR_USAGE,
        "--name '{stem}': 2 pictures of a film would have the same name; put {mode} into it");
    o.outputs.path = "x";
    expect_refusal(&o, &in, ERR_USAGE, "-o x: one name for 3 films");
    inputs_free(&in);
}

TEST_WITH(patterns_that_are_none, enter, leave)
{
    static const char *const bad[] = {"",         "a/b",      "{stem", "stem}", "{film}",
                                      "{stem}{}", "{{stem}}", "{",     "{ste}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct plan o = options_for(NULL, 0);
        struct err e = ERR_INIT;
        assert_false(set_in_plan(&o, "name", bad[i], &e));
        assert_int_equal(e.code, ERR_USAGE);
        assert_null(o.outputs.name);
    }
    struct inputs in;
    struct plan o = expand(LIST("a.mkv"), &in);
    o.outputs.name = "b";
    o.outputs.path = "x.png";
    expect_refusal(&o, &in, ERR_USAGE,
                   "--name applies to outputs in folders, but every output has a name of its own");
    extra(&o, "csv", "./");
    expect_names(&o, &in, 0, "x.png ./b.csv");
    inputs_free(&in);
}
